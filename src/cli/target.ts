import { canonicalIPv4 } from "../model/address.ts";
import { ConfigError } from "../model/errors.ts";

/** What a person named on the command line. A pool without a namespace is looked up. */
export type Target =
  | { readonly kind: "pool"; readonly text: string; readonly namespace?: string; readonly name: string }
  | { readonly kind: "node"; readonly text: string; readonly name: string }
  | { readonly kind: "ip"; readonly text: string; readonly name: string };

/**
 * Returns what `pool/[NAMESPACE/]NAME`, `[NAMESPACE/]NAME`, `node/NAME` or `ip/ADDRESS` names.
 * @throws ConfigError `usage` when it is none of them.
 */
export function parseTarget(text: string): Target {
  const parts = text.split("/");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length > 3 || parts.some((part) => !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(part))) {
    throw notATarget(text, "it is not of that form");
  }
  if (parts.length === 3) {
    if (first !== "pool") throw notATarget(text, `this version knows no ${first}`);
    return { kind: "pool", text, namespace: second, name: third };
  }
  if (parts.length === 1) return { kind: "pool", text, name: first };
  switch (first) {
    case "pool":
      return { kind: "pool", text, name: second };
    case "node":
      return { kind: "node", text, name: second };
    case "ip":
      if (canonicalIPv4(second) === undefined) throw notATarget(text, `${second} is no IPv4 address`);
      return { kind: "ip", text, name: second };
    case "dns":
    case "routedip":
      throw notATarget(text, `this version knows no ${first} (for a pool in the namespace ${first}: pool/${text})`);
    default:
      return { kind: "pool", text, namespace: first, name: second };
  }
}

function notATarget(text: string, why: string): ConfigError {
  return new ConfigError(
    "usage",
    `Unknown target '${text}': ${why}. Write pool/[NAMESPACE/]NAME, [NAMESPACE/]NAME, node/NAME or ip/ADDRESS.`,
  );
}

/**
 * Returns the targets of a command that works on pools only.
 * @throws ConfigError `usage` for a node or an address.
 */
export function poolTargets(names: readonly string[], command: string): readonly Target[] {
  const targets = names.map(parseTarget);
  const other = targets.find(({ kind }) => kind !== "pool");
  if (other === undefined) return targets;
  throw new ConfigError(
    "usage",
    `The target '${other.text}' is no pool: ${command} takes pools only. flipop plan ${other.text} shows what concerns it.`,
  );
}
