import { canonicalAddress } from "../model/address.ts";
import { ConfigError } from "../model/errors.ts";
import type { Taint } from "../model/node.ts";

/** A change of the world that somebody imagines, as `--if` says it. `text` is what was written. */
export type Edit = ObjectEdit | FactEdit;

/** The kinds of objects that an edit can be about. */
export const EDITED_KINDS = ["pool", "routedip", "dns", "issuer"] as const;
/** One of {@link EDITED_KINDS}. */
export type EditedKind = (typeof EDITED_KINDS)[number];

/** Another value of a field of an object; or that the object is deleted. */
export interface ObjectEdit {
  readonly kind: "object";
  readonly text: string;
  readonly of: EditedKind;
  readonly namespace: string;
  /** `NAME.FIELD`. Both may have dots: which part is the name shows once the objects are known. */
  readonly path: string;
  /** As written behind the `=`. */
  readonly written: string;
  /** The same read as YAML. */
  readonly value: unknown;
}

/** The states that an edit can give to a node. */
const NODE_STATES = ["NotReady", "Ready", "Gone", "Cordoned", "Uncordoned"] as const;
type NodeState = (typeof NODE_STATES)[number];

/** The states that an edit can give to the pods of a node. */
const POD_STATES = ["Ready", "NotReady", "None"] as const;
type PodState = (typeof POD_STATES)[number];

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

/** A fact that is not flipop's to decide. Times are milliseconds. */
export type FactEdit = { readonly text: string } & (
  | { readonly kind: "node-state"; readonly node: string; readonly state: NodeState }
  | { readonly kind: "add-taint"; readonly node: string; readonly taint: Taint }
  /** Without effect: every taint of the key. */
  | { readonly kind: "remove-taint"; readonly node: string; readonly key: string; readonly effect?: string }
  /** Without value: the label goes. */
  | { readonly kind: "label"; readonly node: string; readonly key: string; readonly value?: string }
  | { readonly kind: "pods"; readonly node: string; readonly state: PodState }
  | { readonly kind: "new-node"; readonly node: string; readonly like: string }
  | { readonly kind: "address"; readonly ip: string; readonly place: AddressPlace }
  | { readonly kind: "provider-down"; readonly provider: string }
  | { readonly kind: "quota"; readonly provider: string; readonly limit: number }
  | { readonly kind: "time"; readonly ms: number }
);

/** Where an edit puts an address. */
export type AddressPlace =
  | { readonly kind: "unattached" | "gone" }
  | { readonly kind: "node"; readonly node: string }
  | { readonly kind: "machine"; readonly machineID: string };

/** The forms of an edit, for help and messages. */
export const EDIT_FORMS: readonly string[] = [
  `node/NAME=${NODE_STATES.join("|")}`,
  "node/NAME.taint=KEY[=VALUE]:EFFECT",
  "node/NAME.taint=KEY-",
  "node/NAME.label=KEY=VALUE",
  "node/NAME.label=KEY-",
  `node/NAME.pods=${POD_STATES.join("|")}`,
  "node/+NAME=like:NODE",
  "ip/ADDRESS=Unattached|Gone|on:node/NAME|on:machine/ID",
  "provider/NAME=Down",
  "quota/PROVIDER=NUMBER",
  `${EDITED_KINDS.join("|")}/NAMESPACE/NAME.FIELD=VALUE`,
  `${EDITED_KINDS.join("|")}/NAMESPACE/NAME=Deleted`,
  "+DURATION",
];

/** What an edit cannot read by itself. Each returns undefined for a text that is none. */
export interface EditReaders {
  /** Milliseconds of `90s`. */
  readonly duration: (text: string) => number | undefined;
  /** The value of a YAML text. */
  readonly yaml: (text: string) => { readonly value: unknown } | undefined;
}

/**
 * Returns what `node/worker-1=NotReady` and the other {@link EDIT_FORMS} mean. Words are read without regard to case. Pure.
 *
 * @throws ConfigError `usage`, with the place of the error: `character 15`, counted from 1
 */
export function parseEdit(text: string, readers: EditReaders): Edit {
  if (text.startsWith("+")) {
    const ms = readers.duration(text.slice(1));
    if (ms === undefined) throw wrong(text, 1, "a time of 24h at most, such as 90s, 10m or 2h");
    return { kind: "time", text, ms };
  }
  const slash = text.indexOf("/");
  const equals = text.indexOf("=");
  const subject = text.slice(0, Math.max(slash, 0));
  const read = Object.hasOwn(FORMS, subject) ? FORMS[subject] : undefined;
  if (read === undefined) throw wrong(text, 0, `${listOr(Object.keys(FORMS).map((word) => `${word}/`))} or +DURATION`);
  if (equals === -1) throw wrong(text, text.length, "= and a value");
  const name = { text: text.slice(slash + 1, equals), at: slash + 1 };
  if (name.text === "") throw wrong(text, slash + 1, "a name");
  return read({ text, subject, name, value: { text: text.slice(equals + 1), at: equals + 1 }, readers });
}

/** A part of an edit, and where it begins. */
interface Part {
  readonly text: string;
  readonly at: number;
}

interface Reading {
  readonly text: string;
  readonly subject: string;
  readonly name: Part;
  readonly value: Part;
  readonly readers: EditReaders;
}

const FORMS: Readonly<Record<string, (reading: Reading) => Edit>> = {
  node: readNode,
  ip: readAddress,
  provider: ({ text, name, value }) => {
    oneOf(text, value, ["Down"]);
    return { kind: "provider-down", text, provider: name.text };
  },
  quota: ({ text, name, value }) => {
    if (!/^\d{1,9}$/.test(value.text)) throw wrong(text, value.at, "a number");
    return { kind: "quota", text, provider: name.text, limit: Number(value.text) };
  },
  ...Object.fromEntries(EDITED_KINDS.map((kind) => [kind, readObject])),
};

function readNode({ text, name, value }: Reading): FactEdit {
  if (name.text.startsWith("+")) {
    const node = name.text.slice(1);
    const like = /^like:(.+)$/i.exec(value.text)?.[1];
    if (node === "") throw wrong(text, name.at + 1, "a name");
    if (like === undefined) throw wrong(text, value.at, "like:NODE");
    return { kind: "new-node", text, node, like };
  }
  const [, node = "", part = ""] = /^(.+)\.(taint|label|pods)$/i.exec(name.text) ?? ["", name.text, ""];
  switch (part.toLowerCase()) {
    case "taint":
      return readTaint(text, node, value);
    case "label":
      return readLabel(text, node, value);
    case "pods":
      return { kind: "pods", text, node, state: oneOf(text, value, POD_STATES) };
    default:
      return { kind: "node-state", text, node, state: oneOf(text, value, NODE_STATES) };
  }
}

function readTaint(text: string, node: string, value: Part): FactEdit {
  const [, key = "", valueOrNone = "", colon = "", minus = ""] =
    /^([^=:]+?)(?:=([^:]*))?(?::([^-]*))?(-?)$/.exec(value.text) ?? [];
  if (key === "") throw wrong(text, value.at, "KEY[=VALUE]:EFFECT or KEY-");
  if (colon === "" && minus === "") throw wrong(text, value.at + value.text.length, ":EFFECT, or - to remove it");
  const at = value.at + value.text.lastIndexOf(":") + 1;
  const effect = colon === "" ? undefined : oneOf(text, { text: colon, at }, EFFECTS);
  if (minus !== "") return { kind: "remove-taint", text, node, key, ...(effect === undefined ? {} : { effect }) };
  return { kind: "add-taint", text, node, taint: { key, value: valueOrNone, effect: effect ?? "" } };
}

function readLabel(text: string, node: string, value: Part): FactEdit {
  const equals = value.text.indexOf("=");
  if (equals > 0)
    return { kind: "label", text, node, key: value.text.slice(0, equals), value: value.text.slice(equals + 1) };
  if (equals === -1 && /^.+-$/.test(value.text)) return { kind: "label", text, node, key: value.text.slice(0, -1) };
  throw wrong(text, value.at, "KEY=VALUE or KEY-");
}

function readAddress({ text, name, value }: Reading): FactEdit {
  const ip = canonicalAddress(name.text);
  if (ip === undefined) throw wrong(text, name.at, "an IP address");
  const [, where = "", what = ""] = /^on:(node|machine)\/(.+)$/i.exec(value.text) ?? [];
  const place = { kind: "address", text, ip } as const;
  if (where.toLowerCase() === "node") return { ...place, place: { kind: "node", node: what } };
  if (where !== "") return { ...place, place: { kind: "machine", machineID: what } };
  const state = oneOf(text, value, ["Unattached", "Gone"], ["on:node/NAME", "on:machine/ID"]);
  return { ...place, place: { kind: state === "Gone" ? "gone" : "unattached" } };
}

function readObject({ text, subject, name, value, readers }: Reading): ObjectEdit {
  const [, namespace = "", path = ""] = /^([^/]+)\/([^/]+)$/.exec(name.text) ?? [];
  const of = EDITED_KINDS.find((kind) => kind === subject);
  if (of === undefined || path === "") throw wrong(text, name.at, "NAMESPACE/NAME.FIELD");
  const read = readers.yaml(value.text);
  if (read === undefined) throw wrong(text, value.at, "a value in YAML");
  return { kind: "object", text, of, namespace, path, written: value.text, value: read.value };
}

/** The word that is meant, whatever its case. */
function oneOf<W extends string>(text: string, part: Part, words: readonly W[], more: readonly string[] = []): W {
  const found = words.find((word) => word.toLowerCase() === part.text.toLowerCase());
  if (found === undefined) throw wrong(text, part.at, listOr([...words, ...more]));
  return found;
}

function listOr(words: readonly string[]): string {
  return words.length === 1 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function wrong(text: string, at: number, expected: string): ConfigError {
  return new ConfigError("usage", `Unknown edit '${text}': character ${at + 1} should begin ${expected}.`);
}
