import { refKey } from "../model/action.ts";
import type { Hold } from "../model/plan.ts";
import { toldWith } from "../report/held-for.ts";
import type { Answers, Facts } from "./facts.ts";
import { allOr, type Checks, check, failing, fine, ofHold, type Verdict } from "./verdict.ts";

const MOST_NAMED = 5;

/** The checks of the definitions of flipop's objects. */
export const CRD_CHECKS: Checks<"FLP111" | "FLP112" | "FLP113"> = {
  FLP111: check(["definitions"], ({ definitions }) =>
    allOr(
      definitions.flatMap(({ name, installed }) => {
        if (installed === undefined) return [failing(`there is no definition ${name}`)];
        return installed.isEstablished ? [] : [failing(`the definition ${name} is not established`)];
      }),
      fine(`${definitions.length} definitions`),
    ),
  ),
  FLP112: check(["definitions"], ({ definitions }) =>
    allOr(
      definitions.flatMap(({ name, shipped, installed }) => {
        const lost = lostFields(statusSchema(shipped), statusSchema(installed?.object));
        if (lost.length === 0) return [];
        const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : "";
        return [failing(`${name} drops ${lost.slice(0, MOST_NAMED).join(", ")}${more} of status`)];
      }),
      fine("every status field is kept"),
    ),
  ),
  FLP113: {
    reads: ["specs"],
    judge: (answers) =>
      check(["specs"], ({ specs }) =>
        allOr(invalid(together(specs, answers.plan)), fine("no object is invalid")),
      ).judge(answers),
  },
};

/** What plans hold, each thing once. Whether a name is one may be seen only in its zone: a plan of the world knows of it, where other checks asked for one. */
function together(specs: Facts["specs"], plan: Answers["plan"]): readonly Hold[] {
  const holds = [...specs.holds, ...(plan !== undefined && "value" in plan ? plan.value.plan.holds : [])];
  return [
    ...new Map(
      holds.map((hold) => [[hold.kind, refKey(hold.object), hold.subject, hold.reason].join(" "), hold]),
    ).values(),
  ];
}

function invalid(holds: readonly Hold[]): readonly Verdict[] {
  return [
    ...toldWith(holds, ["InvalidSpec"]).map((hold) =>
      failing(`${refKey(hold.object)} is invalid: ${hold.detail.replace(/\.$/, "")}`),
    ),
    ...toldWith(holds, ["InvalidIP", "DuplicateIP", "InvalidDNS"]).map(ofHold),
  ];
}

type JSONRecord = Readonly<Record<string, unknown>>;

function record(value: unknown): JSONRecord | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JSONRecord) : undefined;
}

/** The schema of `status` in the version that is stored. */
function statusSchema(definition: unknown): JSONRecord | undefined {
  const versions = record(record(definition)?.["spec"])?.["versions"];
  const stored = (Array.isArray(versions) ? versions : []).map(record).find((one) => one?.["storage"] === true);
  const schema = record(record(stored?.["schema"])?.["openAPIV3Schema"]);
  return record(record(schema?.["properties"])?.["status"]);
}

/** Returns the paths of the fields that one schema knows and another drops; the outermost only. Pure. */
export function lostFields(wanted: JSONRecord | undefined, kept: JSONRecord | undefined): readonly string[] {
  if (wanted === undefined || kept?.["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const inner = record(kept?.["properties"]) ?? {};
  const fields = Object.entries(record(wanted["properties"]) ?? {}).flatMap(([name, schema]) => {
    const other = record(inner[name]);
    return other === undefined ? [name] : lostFields(record(schema), other).map((path) => `${name}.${path}`);
  });
  const entries = (["items", "additionalProperties"] as const).flatMap((part) => {
    const schema = record(wanted[part]);
    if (schema === undefined) return [];
    const other = record(kept?.[part]);
    if (other === undefined) return kept?.[part] === true ? [] : ["*"];
    return lostFields(schema, other).map((path) => `*.${path}`);
  });
  return [...fields, ...entries];
}
