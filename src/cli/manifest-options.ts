import { InvalidArgumentError, Option } from "commander";
import { isNamespaceName } from "../model/resource.ts";
import { isCronSchedule } from "./cron-schedule.ts";
import { MANIFEST_MODES, MANIFEST_PARTS, type ManifestPart } from "./manifest-parts.ts";

const IMAGE =
  /^(?:[\w.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::(?<tag>\w[\w.-]{0,127}))?(?<digest>@sha256:[0-9a-f]{64})?$/;

const PRIORITY_CLASS = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** No space, quotation mark or brace: the text goes into YAML, where Prometheus reads it as a template. */
const RUNBOOKS = /^https?:\/\/[^\s#"'{}<>\\]+$/;

/** Returns the options of `manifests`. Each refuses what the API server would, and an image that may change by itself. */
export function manifestOptions(): readonly Option[] {
  const names = MANIFEST_PARTS.join(", ");
  return [
    checked("-n, --namespace <NAME>", "namespace to install into", NO_NAMESPACE, isNamespaceName),
    checked("--image <IMAGE>", "image to run", "Write it like NAME:TAG or NAME@sha256:DIGEST; not latest.", isPinned),
    checked(
      "--schedule <CRON>",
      "schedule of the CronJob, in UTC",
      "Write five fields like '*/5 * * * *', or a macro like @hourly.",
      isCronSchedule,
    ),
    checked(
      "--priority-class <NAME>",
      "PriorityClass of the pods, such as system-cluster-critical",
      "It is no name of a PriorityClass.",
      (text) => text.length <= 253 && PRIORITY_CLASS.test(text),
    ),
    checked(
      "--runbooks <URL>",
      "page with the manual's sections on alerts, for those who are called",
      "Write it like https://wiki.example.com/flipop, without a #.",
      (text) => RUNBOOKS.test(text) && URL.canParse(text),
    ),
    new Option("--mode <MODE>", "run by a CronJob, or as a Deployment that watches")
      .choices(MANIFEST_MODES)
      .default("cronjob"),
    new Option("--only <PARTS>", `only these, separated by commas: ${names}`).argParser(partsOf),
  ];
}

/** The message for a flag whose value is no name of a namespace. */
export const NO_NAMESPACE = "It is no name of a namespace.";

/** Returns an option whose value must be valid; the hint says what is wrong with another one. */
export function checked(flags: string, description: string, hint: string, isValid: (text: string) => boolean): Option {
  return new Option(flags, description).argParser((text: string) => {
    if (!isValid(text)) throw new InvalidArgumentError(hint);
    return text;
  });
}

function isPinned(text: string): boolean {
  const { tag, digest } = IMAGE.exec(text)?.groups ?? {};
  return digest !== undefined || (tag !== undefined && tag !== "latest");
}

function partsOf(text: string, before: readonly ManifestPart[] | undefined): readonly ManifestPart[] {
  const names: readonly string[] = MANIFEST_PARTS;
  const isPart = (name: string): name is ManifestPart => names.includes(name);
  const parts = text.split(",");
  if (!parts.every(isPart)) throw new InvalidArgumentError(`Allowed are ${names.join(", ")}.`);
  return [...(before ?? []), ...parts];
}
