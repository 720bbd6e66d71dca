import { readFileSync } from "node:fs";

/** Returns the version of this program, from its package.json. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { readonly version?: unknown } = JSON.parse(text);
  return typeof version === "string" ? version : "unknown";
}
