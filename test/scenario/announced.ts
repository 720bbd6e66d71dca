import { expect } from "vitest";
import { type Action, refKey, subjectOf } from "../../src/model/action.ts";
import { changesAnnotation } from "../../src/model/action-kinds.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { PassResult } from "../../src/model/run.ts";

/**
 * What a pass did is exactly what its plan announced, once all of it succeeded. A pass in which something failed, was skipped or is not confirmed yet goes another
 * way, and so does one during which a wait ends: nobody could know of that beforehand.
 */
export function checkAnnounced({ plan, outcomes, remaining, wasInterrupted }: PassResult, planned?: Plan): void {
  if (planned !== undefined) expect(allOf(plan), "reconcile begins with what plan said").toEqual(allOf(planned));
  if (wasInterrupted || outcomes.some(({ outcome }) => outcome !== "applied")) return;
  if (plan.holds.some(({ notBeforeMs = Number.POSITIVE_INFINITY }) => notBeforeMs <= remaining.observedAtMs)) return;
  const announced = allOf(plan);
  const names = newAddresses(announced, outcomes);
  const done = outcomes.map(({ action }) => action);
  expect(linesOf(done, names), "a pass does what its plan announced").toEqual(linesOf(announced, new Map()));
}

function allOf({ actions, followUps }: Plan): readonly Action[] {
  return [...actions, ...followUps];
}

/** Bought address → what stood for it in the plan. Acquisitions of one pool that ask for the same are bought in any order. */
function newAddresses(announced: readonly Action[], outcomes: PassResult["outcomes"]): ReadonlyMap<string, string> {
  const left = announced.flatMap((action) => (action.kind === "acquire-ip" ? [action] : []));
  const names = new Map<string, string>();
  for (const { action, address } of outcomes) {
    if (action.kind !== "acquire-ip" || address === undefined) continue;
    const at = left.findIndex((one) => lineOf(one, names) === lineOf(action, names));
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found?.newAddress !== undefined) names.set(address.ip, found.newAddress);
  }
  return names;
}

const NOBODY = { kind: "pool", namespace: "", name: "" } as const;

/**
 * One line for each action, sorted. Of several addresses that leave one node, or come to it, that whose move ends first is cleared or annotated first, which nobody knows
 * beforehand: they are one line, of all that the node loses, or gets.
 */
function linesOf(actions: readonly Action[], names: ReadonlyMap<string, string>): readonly string[] {
  const annotating = actions.flatMap((action) => (changesAnnotation(action) ? [action] : []));
  const groups = Map.groupBy(annotating, ({ kind, nodeName, ipFamily = "IPv4" }) => `${kind} ${nodeName} ${ipFamily}`);
  const together = [...groups.values()].flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) return [];
    // Whose addresses a node gets stands in the annotation itself; which of their objects writes it is a matter of whose purchase ends last.
    const isOf = (object: Action["object"]): string => (last.after.pool === undefined ? ` ${refKey(object)}` : "");
    const whose = new Set(group.map(({ object, impact = "none" }) => `(${impact})${isOf(object)}`).toSorted());
    const host = group.findLast(({ after }) => after.host !== undefined)?.after.host;
    const { impact: _impact, ...bare } = first;
    const after = { ...last.after, ...(host === undefined ? {} : { host }) };
    return [`${[...whose].join(" ")}: ${lineOf({ ...bare, object: NOBODY, after }, names)}`];
  });
  const rest = actions.filter((action) => !changesAnnotation(action)).map((action) => lineOf(action, names));
  return [...rest, ...together].toSorted();
}

function lineOf(action: Action, names: ReadonlyMap<string, string>): string {
  const named = (text: string): string =>
    text.replace(/\d+\.\d+\.\d+\.\d+|2001:db8:[\da-f:]+/g, (address) => names.get(address) ?? address);
  const { before, after, impact = "none" } = action;
  const sides = [before, after].map((side) => (side === undefined ? "-" : JSON.stringify(sorted(side))));
  return `${action.kind} (${impact}) ${refKey(action.object)} ${named(subjectOf(action))} ${sides.map(named).map(reordered).join(" -> ")}`;
}

function sorted(side: object): object {
  if (Array.isArray(side)) return side;
  return Object.fromEntries(Object.entries(side).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where a new address stands among others is known once it is. An annotation has them with commas between them, and their objects in the same order. */
function reordered(text: string): string {
  const lists = text.replace(/"(address|host|pool)":"([^"]*,[^"]*)"/g, (_, name, list: string) => {
    return `"${name}":"${list.split(",").toSorted().join()}"`;
  });
  return lists.replace(/\[[^\]]*\]/g, (list) => JSON.stringify((JSON.parse(list) as readonly unknown[]).toSorted()));
}
