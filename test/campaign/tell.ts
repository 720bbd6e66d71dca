import { stringify } from "yaml";
import type { Spec } from "./spec-value.ts";
import type { Step } from "./tours.ts";

/** The steps of a campaign as changes of YAML manifests, one after another: what a failing test prints. Pure. */
export function tellSteps(steps: readonly Step[]): string {
  const last = new Map<string, Spec>();
  return steps
    .map(({ kind, spec, unusable }, index) => {
      const lines = changedLines(last.get(kind.name) ?? {}, spec);
      last.set(kind.name, spec);
      const remark = unusable === undefined ? "" : " # cannot be used";
      return [`${index}. ${kind.name}${remark}`, ...lines.map((line) => `   ${line}`)].join("\n");
    })
    .join("\n");
}

/** Top-level fields that differ, `-` as they were and `+` as they are. */
function changedLines(before: Spec, after: Spec): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const lines = names.flatMap((name) => {
    const [old, fresh] = [fieldText(before, name), fieldText(after, name)];
    return old.join() === fresh.join() ? [] : [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)];
  });
  return lines.length === 0 ? ["(unchanged)"] : lines;
}

function fieldText(spec: Spec, name: string): readonly string[] {
  return name in spec
    ? stringify({ [name]: spec[name] })
        .trimEnd()
        .split("\n")
    : [];
}
