import type { ObjectRef } from "../model/action.ts";
import { canonicalAddress, canonicalIPv6, entryText } from "../model/address.ts";
import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import { GROUP } from "../model/resource.ts";

/** An object that a person named: one of a kind, or of any kind where the name is enough. Without a namespace it is looked up. */
export interface ObjectTarget {
  readonly kind: "pool" | "dns" | "routedip" | "object";
  readonly text: string;
  readonly namespace?: string;
  /** Of the object; or a DNS name that it publishes, if no object is called so. */
  readonly name: string;
}

/** An object, node or address that a person named on the command line. */
export type Target =
  | ObjectTarget
  | { readonly kind: "node"; readonly text: string; readonly name: string }
  | { readonly kind: "ip"; readonly text: string; readonly name: string };

/** The words for what a target can be: flipop's own first, then those that kubectl knows. */
const KIND_WORDS: Readonly<Record<ObjectRef["kind"] | "node" | "ip", readonly string[]>> = {
  pool: ["pool", "pools", "fip", "floatingippool", "floatingippools"],
  routedip: ["routedip", "routedips", "rip"],
  dns: ["dns", "nodedns", "nodednsrecordset", "nodednsrecordsets"],
  node: ["node", "nodes", "no"],
  ip: ["ip", "ips"],
};

const KIND_OF: ReadonlyMap<string, keyof typeof KIND_WORDS> = new Map(
  (Object.keys(KIND_WORDS) as (keyof typeof KIND_WORDS)[]).flatMap((kind) =>
    KIND_WORDS[kind].map((word) => [word, kind] as const),
  ),
);

/** The forms of a target, for help and messages. */
export const TARGET_FORMS: readonly string[] = [
  "pool/[NAMESPACE/]NAME",
  "routedip/[NAMESPACE/]NAME",
  "dns/[NAMESPACE/]NAME",
  "[NAMESPACE/]NAME",
  "DNS-NAME",
  "node/NAME",
  "ip/ADDRESS",
];

/**
 * Returns what one of the {@link TARGET_FORMS} names. Kinds may be written as kubectl knows them: `fip/web`, `floatingippool.flipop.digitalocean.com/web`.
 * @throws ConfigError `usage` when it is none of them.
 */
export function parseTarget(text: string): Target {
  const parts = text.split("/");
  const [first = "", second = "", third] = parts;
  if (parts.length === 2 && kindOf(first) === "ip") return { kind: "ip", text, name: addressIn(text, second) };
  const alone = parts.length === 1 ? canonicalIPv6(text) : undefined;
  if (alone !== undefined) throw notATarget(text, `it is an address (ip/${alone})`);
  if (parts.length > 3 || !parts.every(isNamePart)) throw notATarget(text, "it is not of that form");
  if (parts.length === 1) return { kind: "object", text, name: first };
  const kind = kindOf(first);
  if (third !== undefined) return inFull(text, kind, { first, namespace: second, name: third });
  if (kind === undefined) return { kind: "object", text, namespace: first, name: second };
  return { kind, text, name: second };
}

/** In the one form of an address, however it is written. */
function addressIn(text: string, written: string): string {
  const ip = canonicalAddress(written);
  if (ip === undefined) throw notATarget(text, `${entryText(written)} is no IP address`);
  return ip;
}

function inFull(
  text: string,
  kind: keyof typeof KIND_WORDS | undefined,
  { first, namespace, name }: { readonly first: string; readonly namespace: string; readonly name: string },
): Target {
  if (kind === undefined) throw notATarget(text, `this version knows no ${first}`);
  if (kind === "node" || kind === "ip") throw notATarget(text, `a ${first} has no namespace`);
  return { kind, text, namespace, name };
}

function isNamePart(part: string): boolean {
  return /^(\*\.)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(part);
}

function kindOf(word: string): keyof typeof KIND_WORDS | undefined {
  const name = word.toLowerCase();
  return KIND_OF.get(name.endsWith(`.${GROUP}`) ? name.slice(0, -GROUP.length - 1) : name);
}

/** True for a word of the form KIND/NAME whose kind is known. */
export function namesKind(word: string): boolean {
  const [kind = "", name] = word.split("/");
  return name !== undefined && kindOf(kind) !== undefined;
}

function notATarget(text: string, why: string): ConfigError {
  const forms = `${TARGET_FORMS.slice(0, -1).join(", ")} or ${TARGET_FORMS.at(-1)}`;
  return new ConfigError("usage", `Unknown target '${text}': ${why}. Write ${forms}.`);
}

/** Returns what a target was meant to be: ` Did you mean node/x?` for `nod/x`, ` Did you mean ip/203.0.113.10?` for the address alone; `""` where nothing is so near. */
export function meantKind({ kind, namespace, name }: ObjectTarget): string {
  if (kind !== "object") return "";
  if (namespace === undefined) return canonicalAddress(name) === undefined ? "" : ` Did you mean ip/${name}?`;
  const near = nearest(namespace, Object.keys(KIND_WORDS), 1);
  return near === undefined ? "" : ` Did you mean ${near}/${name}?`;
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
