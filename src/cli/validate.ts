import { relative, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import {
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../adapters/kube/custom-resources.ts";
import { PROVIDERS } from "../adapters/registry.ts";
import { ConfigError } from "../model/errors.ts";
import { countOf, type Finding, type Findings } from "../model/finding.ts";
import { plainValue } from "../model/text.ts";
import { editedKindOf } from "../rehearse/edited-objects.ts";
import { EXIT } from "../report/exit-code.ts";
import { findingsDocument, sarifLog } from "../report/json/findings.ts";
import { renderAnnotations, renderFindings } from "../report/text/findings.ts";
import type { SpecObject } from "../validate/meaning.ts";
import { kindSchemas } from "../validate/schema.ts";
import { type Checked, checkInSteps, inFileOrder, type Knowledge, type ManifestFile } from "../validate/validate.ts";
import { readHomepage, readVersion } from "./environment.ts";
import type { ValidateFlags } from "./flags.ts";
import { heeding } from "./heed.ts";
import { type ReadManifest, readManifests } from "./manifest-files.ts";
import { manifestText } from "./manifests.ts";
import { writeDocument, writeLine, writeText } from "./output.ts";
import type { Session } from "./session.ts";

/**
 * Runs `validate`: reads files, checks what is flipop's in them, prints. Needs no cluster, no token and no network, unless it is to look at the cluster, too. Writes nothing.
 * Returns the exit code.
 */
export async function runValidate(session: Session, paths: readonly string[], flags: ValidateFlags): Promise<number> {
  if (paths.length === 0) throw new ConfigError("usage", "Say what to check: files, folders, or - for standard input.");
  const read = await readAll(paths, flags.recursive ?? false);
  const unread = read.flatMap((file) => (file.kind === "unread" ? [file.error] : []));
  const files = read.flatMap((file): ManifestFile[] => (file.kind === "text" ? [file] : []));
  const checked = await heeding(session.signal, checkInSteps(files, knowledge(flags.namespace ?? "default")));
  const { count, others } = checked;
  const all = flags.cluster === true ? await inCluster(session, flags, files, checked) : checked.findings;
  const findings = plainValue(all).filter(({ code }) => !flags.suppress.includes(code));
  const suppressed = all.length - findings.length;
  const result: Findings = { findings, objects: count, others, files: files.length, suppressed };
  const failing = countOf(findings, "error") + (flags.failOn === "warning" ? countOf(findings, "warning") : 0);
  // A summary of nothing, before the error, would be false comfort. A program gets its document all the same.
  if (flags.output !== "table" || unread.length === 0 || files.length > 0)
    await write(session, flags.output, result, failing === 0 && unread.length === 0);
  for (const { message } of unread) writeLine(session, "error", message);
  if (unread.length > 0) return EXIT.invalidConfiguration;
  return failing === 0 ? EXIT.done : EXIT.unhealthy;
}

/** The findings with those of a plan. An issuer that no file has may be in the cluster, which tells. */
async function inCluster(
  session: Session,
  flags: ValidateFlags,
  files: readonly ManifestFile[],
  { objects, findings }: Checked,
): Promise<readonly Finding[]> {
  const { findInCluster } = await import("./validate-cluster.ts");
  const found = findings.filter(({ code }) => code !== "FLP225");
  const { findings: more, untried } = await findInCluster(session, flags, objects, found);
  if (untried.length > 0) writeLine(session, "warn", untriedText(untried));
  return inFileOrder([...found, ...more], files);
}

function untriedText(untried: readonly string[]): string {
  const [first = ""] = untried;
  const count = untried.length === 1 ? "1 object" : `${untried.length} objects`;
  return `whether the API server would take ${count} is not known: ${first}`;
}

/** Every file once, however often it is given. */
async function readAll(paths: readonly string[], isDeep: boolean): Promise<readonly ReadManifest[]> {
  const found = await Promise.all(
    [...new Set(paths)].map(async (path) => {
      const manifests = await readManifests(path, { isDeep, stdinName: "stdin" });
      return manifests.length === 0 ? [nothingIn(path, isDeep)] : manifests.map(onlyIfFilled);
    }),
  );
  const byPlace = new Map<string, ReadManifest>();
  for (const file of found.flat()) {
    const place = file.name === "stdin" ? "-" : resolve(file.name);
    if (!byPlace.has(place)) byPlace.set(place, file);
  }
  return [...byPlace.values()];
}

/** What a program should have written to standard input, and did not, is no manifest. */
function onlyIfFilled(file: ReadManifest): ReadManifest {
  if (file.name !== "stdin" || file.kind === "unread" || file.text.trim() !== "") return file;
  return { name: file.name, kind: "unread", error: new ConfigError("invalid", "There is nothing on standard input.") };
}

function nothingIn(folder: string, isDeep: boolean): ReadManifest {
  const hint = isDeep ? "" : " With -R folders below it are looked into, too.";
  const error = new ConfigError("invalid", `No file in ${folder} ends with .yaml, .yml or .json.${hint}`);
  return { name: folder, kind: "unread", error };
}

/** Returns what files are checked against: the shipped definitions, and how flipop reads objects. */
export function knowledge(namespace: string): Knowledge {
  const definitions = parseAllDocuments(manifestText(["crds"]));
  const values: readonly unknown[] = Array.isArray(definitions) ? definitions.map((one) => one.toJS()) : [];
  return { schemas: kindSchemas(values), registry: PROVIDERS, decode, namespace };
}

function decode(kind: string, object: unknown): SpecObject | undefined {
  const of = editedKindOf(kind);
  switch (of) {
    case "pool":
      return decoded(of, decodePool(object));
    case "dns":
      return decoded(of, decodeRecordSet(object));
    case "routedip":
      return decoded(of, decodeRoutedIP(object));
    case "issuer":
      return decoded(of, decodeRoutedIPIssuer(object));
    case undefined:
      return undefined;
  }
}

function decoded<K, T>(of: K, object: T | undefined): { readonly of: K; readonly object: T } | undefined {
  return object === undefined ? undefined : { of, object };
}

async function write(
  { streams, layout }: Session,
  output: ValidateFlags["output"],
  result: Findings,
  success: boolean,
): Promise<void> {
  switch (output) {
    case "table":
      return writeText(streams, renderFindings(result, layout));
    case "github":
      return writeText(streams, renderAnnotations(result));
    case "sarif":
      return writeDocument(
        streams,
        sarifLog(result, { version: readVersion(), homepage: readHomepage() }, uriOf),
        "json",
      );
    case "json":
    case "yaml":
      return writeDocument(streams, findingsDocument(result, success), output);
  }
}

/** The path of a file from the working directory, as a reference of a URI. */
function uriOf(file: string): string {
  const path = file === "stdin" ? file : relative(process.cwd(), resolve(file));
  return path.split(/[\\/]/).map(encodeURIComponent).join("/");
}
