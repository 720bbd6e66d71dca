import { refKey } from "../../model/action.ts";
import { ACTIONS } from "../../model/action-kinds.ts";
import { isAboutObject } from "../../model/hold.ts";
import type { Hold } from "../../model/plan.ts";
import type { SharedCause } from "../causes.ts";
import { heldOfSeveral, heldText, withTimeAndAdvice } from "./holds.ts";
import { countText, type Entry, linesOf, listText } from "./layout.ts";
import type { PlanLayout } from "./plan-entries.ts";
import { clockText } from "./times.ts";

/** Returns one entry per cause that several objects wait for; `wide` says all of it and names the objects. */
export function causeEntries(
  causes: readonly SharedCause[],
  nowMs: number,
  { wide }: Pick<PlanLayout, "wide">,
): readonly Entry[] {
  return causes.map((cause) => {
    const limit = limitText(cause, nowMs);
    const told = [
      ...(limit === undefined || wide ? [withTimeAndAdvice(cause.why, cause.first, nowMs)] : []),
      ...(wide ? [listText(namesOf(cause))] : []),
    ];
    return { symbol: "!", what: limit ?? headingText(cause), why: told.join("\n") };
  });
}

/** Returns the {@link causeEntries} as lines, with an empty line at the end where there are any. */
export function causeLines(causes: readonly SharedCause[], nowMs: number, layout: PlanLayout): string[] {
  const lines = linesOf(causeEntries(causes, nowMs, layout), layout);
  return lines.length === 0 ? [] : [...lines, ""];
}

/** Returns a cause on one line: `digitalocean: rate limit used up until 08:28:39 UTC; 500 pools wait`, or `500 pools: nothing is changed: …`. */
export function causeLine(cause: SharedCause, nowMs: number): string {
  return limitText(cause, nowMs) ?? `${headingText(cause)}: ${withTimeAndAdvice(cause.why, cause.first, nowMs)}`;
}

function namesOf({ holds }: SharedCause): readonly string[] {
  return [...new Set(holds.map(({ object }) => refKey(object)))];
}

/** Returns `digitalocean: rate limit used up until 08:28:39 UTC; 500 pools wait`; undefined for any other cause. */
function limitText({ provider, first, holds }: SharedCause, nowMs: number): string | undefined {
  const { reason, notBeforeMs } = first;
  if (reason !== "RateLimited" || notBeforeMs === undefined || provider === "") return undefined;
  return `${provider}: rate limit used up until ${clockText(notBeforeMs, nowMs)}; ${objectsText(holds)} wait`;
}

/**
 * Returns `500 pools: nothing is changed`, or `7 addresses of 5 pools: left as they are`, or both where only some objects stand still as a whole. Of these, and where things of
 * several kinds wait, only the objects are counted.
 */
function headingText({ first, holds }: Pick<SharedCause, "first" | "holds">): string {
  const objects = objectsText(holds);
  const whole = holds.find(isWhole);
  if (whole !== undefined) {
    // A record set is nothing but its name.
    const still = new Set(holds.filter((hold) => isWhole(hold) || hold.object.kind === "dns").map(keyOf));
    const others = holds.filter((hold) => !still.has(keyOf(hold)));
    const text = `${objectsText(holds.filter((hold) => still.has(keyOf(hold))))}: ${heldText(whole)}`;
    const [next] = others;
    return next === undefined ? text : `${text}; ${headingText({ first: next, holds: others })}`;
  }
  const nouns = holds.flatMap(({ kind }) => (kind === "reconcile" ? [] : [NOUNS[ACTIONS[kind].affects]]));
  const [noun, ...others] = new Map(nouns);
  if (noun === undefined || others.length > 0) return `${objects}: ${heldOfSeveral(first)}`;
  const subjects = new Set(holds.map(({ subject }) => subject)).size;
  const held = subjects === 1 ? heldText(first) : heldOfSeveral(first);
  return `${countText(subjects, ...noun)} of ${objects}: ${held}`;
}

function isWhole(hold: Hold): boolean {
  return hold.kind === "reconcile" || isAboutObject(hold);
}

function keyOf({ object }: Hold): string {
  return refKey(object);
}

/** What the subjects of held actions are called, by what the actions affect: one and several. */
const NOUNS: Readonly<Record<(typeof ACTIONS)[keyof typeof ACTIONS]["affects"], readonly [string, string]>> = {
  address: ["address", "addresses"],
  purchase: ["address", "addresses"],
  node: ["annotation", "annotations"],
  object: ["finalizer", "finalizers"],
  name: ["name", "names"],
  ports: ["firewall", "firewalls"],
  machines: ["firewall", "firewalls"],
};

const OBJECTS: readonly (readonly [Hold["object"]["kind"], string])[] = [
  ["pool", "pool"],
  ["routedip", "routed IP"],
  ["dns", "record set"],
];

function objectsText(holds: readonly Hold[]): string {
  const keys = new Map(holds.map(({ object }) => [refKey(object), object.kind]));
  const kinds = [...keys.values()];
  return listText(
    OBJECTS.flatMap(([kind, noun]) => {
      const count = kinds.filter((one) => one === kind).length;
      return count === 0 ? [] : [countText(count, noun)];
    }),
  );
}
