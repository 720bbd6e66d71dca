import type { ObjectRef } from "../model/action.ts";
import { canonicalIPv4 } from "../model/address.ts";
import { ConfigError } from "../model/errors.ts";

/** An object that a person named: one of a kind, or of any kind where the name is enough. Without a namespace it is looked up. */
export interface ObjectTarget {
  readonly kind: "pool" | "dns" | "routedip" | "object";
  readonly text: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What a person named on the command line. */
export type Target =
  | ObjectTarget
  | { readonly kind: "node"; readonly text: string; readonly name: string }
  | { readonly kind: "ip"; readonly text: string; readonly name: string };

/**
 * Returns what `pool/[NAMESPACE/]NAME`, `routedip/[NAMESPACE/]NAME`, `dns/[NAMESPACE/]NAME`, `[NAMESPACE/]NAME`, `node/NAME` or `ip/ADDRESS` names.
 * @throws ConfigError `usage` when it is none of them.
 */
export function parseTarget(text: string): Target {
  const parts = text.split("/");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length > 3 || parts.some((part) => !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(part))) {
    throw notATarget(text, "it is not of that form");
  }
  if (parts.length === 3) {
    if (!isObjectKind(first)) throw notATarget(text, `this version knows no ${first}`);
    return { kind: first, text, namespace: second, name: third };
  }
  if (parts.length === 1) return { kind: "object", text, name: first };
  if (isObjectKind(first)) return { kind: first, text, name: second };
  switch (first) {
    case "node":
      return { kind: "node", text, name: second };
    case "ip":
      if (canonicalIPv4(second) === undefined) throw notATarget(text, `${second} is no IPv4 address`);
      return { kind: "ip", text, name: second };
    default:
      return { kind: "object", text, namespace: first, name: second };
  }
}

function isObjectKind(word: string): word is ObjectRef["kind"] {
  return word === "pool" || word === "routedip" || word === "dns";
}

function notATarget(text: string, why: string): ConfigError {
  return new ConfigError(
    "usage",
    `Unknown target '${text}': ${why}. Write pool/[NAMESPACE/]NAME, routedip/[NAMESPACE/]NAME, dns/[NAMESPACE/]NAME, [NAMESPACE/]NAME, node/NAME or ip/ADDRESS.`,
  );
}

/** True for a target that is a pool, a routed IP or a record set. */
export function isObjectTarget(target: Target): target is ObjectTarget {
  return target.kind !== "node" && target.kind !== "ip";
}

/**
 * Returns the targets of a command that works on pools, routed IPs and record sets only.
 * @throws ConfigError `usage` for a node or an address.
 */
export function objectTargets(names: readonly string[], command: string): readonly Target[] {
  const targets = names.map(parseTarget);
  const other = targets.find((target) => !isObjectTarget(target));
  if (other === undefined) return targets;
  throw new ConfigError(
    "usage",
    `The target '${other.text}' is no pool, routed IP or record set: ${command} takes nothing else. flipop plan ${other.text} shows what concerns it.`,
  );
}
