import { InvalidArgumentError } from "commander";
import { CHECK_CODES, CHECK_GROUPS, type CheckCode, type CheckGroup } from "../model/check.ts";
import { nearest } from "../model/nearest.ts";
import {
  type ClusterFlags,
  COMMON,
  type CommonFlags,
  type FlagTable,
  flag,
  type GlobalFlags,
  outputFlag,
  resolverFlag,
} from "./flags.ts";
import { MANIFEST_MODES, type ManifestMode } from "./manifests.ts";

/** Flags of `doctor`. */
export interface DoctorFlags extends Omit<ClusterFlags, "namespace">, Pick<CommonFlags, "output"> {
  readonly pre?: boolean;
  readonly only?: readonly CheckGroup[];
  readonly skip?: readonly CheckCode[];
  readonly failOn: "error" | "warning";
  readonly asServiceAccount?: boolean;
  readonly mode?: ManifestMode;
  readonly resolver?: string;
}

const { allNamespaces: _all, selector: _selector, namespace: _namespace, output: _output, ...CLUSTER } = COMMON;

/** The flags of `doctor`. */
export const DOCTOR: FlagTable<Omit<DoctorFlags, keyof GlobalFlags>> = {
  output: outputFlag(["table", "wide", "json", "yaml"]),
  ...CLUSTER,
  pre: flag(
    "--pre",
    "before flipop is installed: look at the cluster, your permissions, the tokens and other controllers",
  ),
  only: flag("--only <GROUPS>", `only these, separated by commas: ${CHECK_GROUPS.join(", ")}`, readGroups),
  skip: flag("--skip <CODES>", "leave out these checks, separated by commas", readCodes),
  failOn: flag("--fail-on <RESULT>", "exit 6 from this result on", ["error", "warning"], "error"),
  asServiceAccount: flag("--as-service-account", "look at what the ServiceAccount flipop may do; needs impersonation"),
  mode: flag("--mode <MODE>", "how flipop is to run; by default as what runs it", MANIFEST_MODES),
  resolver: resolverFlag("DNS server to ask for public answers; by default the system's"),
};

function readGroups(text: string, before: readonly CheckGroup[] = []): readonly CheckGroup[] {
  return [...before, ...text.split(",").map((word) => oneOf(word.trim().toLowerCase(), CHECK_GROUPS))];
}

function readCodes(text: string, before: readonly CheckCode[] = []): readonly CheckCode[] {
  return [...before, ...text.split(",").map((word) => oneOf(word.trim().toUpperCase(), CHECK_CODES))];
}

function oneOf<T extends string>(word: string, known: readonly T[]): T {
  const found = known.find((one) => one === word);
  if (found !== undefined) return found;
  const meant = nearest(word, known);
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw new InvalidArgumentError(
    `There is no ${word === "" ? "empty name" : word}.${hint} Allowed are ${known.join(", ")}.`,
  );
}
