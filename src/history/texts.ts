import { type ActionKind, type ObjectRef, refKey } from "../model/action.ts";
import { ACTIONS } from "../model/action-kinds.ts";
import { canonicalAddress } from "../model/address.ts";
import type { Change, ChangeOutcome } from "../model/change.ts";

// What flipop writes of a change into an Event or a log line, read back: `Moved 203.0.113.10 from worker-1 to worker-5: worker-1 no longer matches.`

/** Returns what happened, with a small letter in front, and why: what stands behind the first colon. */
export function splitNote(note: string): Pick<Change, "what" | "why"> {
  const at = note.indexOf(": ");
  const what = at < 0 ? note : note.slice(0, at);
  return { what: what.charAt(0).toLowerCase() + what.slice(1), why: at < 0 ? "" : note.slice(at + 2).trim() };
}

const ADDRESS = /(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?![\d.]*\d)|(?<![\w:])([\da-f]*:[\da-f:]*:[\da-f]*)(?![\w:])/;
const FIREWALL = /\b(firewall .+)$/;

/** Where the text of a change says what it is about. */
const SUBJECTS: Readonly<Record<(typeof ACTIONS)[ActionKind]["affects"], RegExp>> = {
  address: ADDRESS,
  purchase: ADDRESS,
  node: /\bnode (\S+)/,
  name: /\bDNS (\S+)/,
  object: /(?!)/,
  ports: FIREWALL,
  machines: FIREWALL,
};

/** Returns the address, node, name or firewall that a change is about; `""` where it is the object itself. */
export function subjectIn(what: string, kind: ActionKind): string {
  const [, found, other] = SUBJECTS[ACTIONS[kind].affects].exec(what) ?? [];
  return found ?? other ?? "";
}

/** Returns the object that `pool/ingress/web` names; undefined for any other text. */
export function objectIn(text: string): ObjectRef | undefined {
  const [kind, namespace, name, ...rest] = text.split("/");
  if (kind !== "pool" && kind !== "dns" && kind !== "routedip") return undefined;
  return namespace && name && rest.length === 0 ? { kind, namespace, name } : undefined;
}

/** Returns what tells changes of one object from those of another; `""` for what is about all of them. */
export function placeOf({ object }: Pick<Change, "object">): string {
  return object === undefined ? "" : refKey(object);
}

/** How a run with this exit code went: a guard waits for a person, and a signal is nobody's failure. */
export function outcomeOfRun(exitCode: number): ChangeOutcome {
  if (exitCode === 0) return "applied";
  if (exitCode === REFUSED) return "waiting";
  return SIGNALLED.includes(exitCode) ? "seen" : "failed";
}

const REFUSED = 4;
const SIGNALLED: readonly number[] = [129, 130, 143];

/** True where a change is about an address, a node or a name, or its text names it. `worker-1` is not in `worker-10`. */
export function mentions({ subject, what, why }: Change, word: string): boolean {
  if (subject === word) return true;
  const exact = word.replace(/[^\w]/g, "\\$&");
  // An address that leaves a name stands there as -203.0.113.10.
  const whole =
    canonicalAddress(word) === undefined
      ? `(?<![\\w.-])${exact}(?![\\w-]|\\.\\w)`
      : word.includes(":")
        ? `(?<![\\da-f:])${exact}(?!:?[\\da-f]|::)`
        : `(?<![\\d.])${exact}(?!\\.?\\d)`;
  return new RegExp(whole).test(`${what}\n${why}`);
}
