import type { Environment } from "./environment.ts";

/** Returns whether a stream gets colour. Precedence: flag, FORCE_COLOR (`0` and `false` = off), NO_COLOR unless empty, TERM=dumb, terminal or not. */
export function isColourOn(flag: "auto" | "always" | "never", env: Environment, isTTY: boolean): boolean {
  if (flag !== "auto") return flag === "always";
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return env["TERM"] !== "dumb" && isTTY;
}
