import { checkText } from "./knowledge.ts";

/** Findings with which an object still works for itself: it is no object's fault alone that two ask for one thing. */
const OF_SEVERAL: readonly string[] = ["FLP215", "FLP216", "FLP222"];

/** Returns what is wrong with an object of such a spec, `CODE PATH: MESSAGE`. */
export function errorsOf(kind: string, spec: unknown): readonly string[] {
  const object = { apiVersion: "flipop.digitalocean.com/v1alpha1", kind, metadata: { name: "it" }, spec };
  return checkText(JSON.stringify(object))
    .findings.filter(({ severity, code }) => severity === "error" && !OF_SEVERAL.includes(code))
    .map(({ code, path, message }) => `${code} ${path}: ${message}`);
}
