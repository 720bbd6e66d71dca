import { expect } from "vitest";
import { type Action, type AnnotateNode, type NodeAnnotations, refKey, subjectOf } from "../../src/model/action.ts";
import { changesAnnotation, changesName } from "../../src/model/action-kinds.ts";
import { annotated } from "../../src/model/annotated.ts";
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
  // They are told in the order of the plan: what was planned for a node once more stands beside what was announced for it.
  const inTime = outcomes.toSorted((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0));
  const done = inTime.map(({ action }) => action);
  const raced = new Set([...racedAddresses(announced), ...racedPlaces(announced)]);
  const seen = (actions: readonly Action[], known: ReadonlyMap<string, string>): readonly string[] =>
    linesOf(
      actions.flatMap((action) => unraced(action, (ip) => raced.has(known.get(ip) ?? ip))),
      known,
    );
  expect(seen(done, names), "a pass does what its plan announced").toEqual(seen(announced, new Map()));
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

/**
 * What stands for addresses that several objects buy of one provider without a node: that whose purchase ends first takes the first place there is, which nobody knows
 * beforehand. Neither does anybody know how many such addresses a node gets: the objects may allow it different numbers.
 */
function racedAddresses(announced: readonly Action[]): ReadonlySet<string> {
  const bought = announced.flatMap((action) =>
    action.kind === "acquire-ip" && !("node" in action.after) ? [action] : [],
  );
  const byProvider = [...Map.groupBy(bought, ({ provider }) => provider).values()];
  const raced = byProvider.filter((some) => new Set(some.map(({ object }) => refKey(object))).size > 1);
  return new Set(raced.flatMap((some) => some.flatMap(({ newAddress }) => newAddress ?? [])));
}

/**
 * Addresses of one object that go to several machines which others have to leave first, of which one several. The provider moves one after another off a machine: that which is clear
 * first takes the first address, and which one that is nobody knows beforehand.
 */
function racedPlaces(announced: readonly Action[]): readonly string[] {
  const left = announced.flatMap((action) => (action.kind === "move-ip" ? (action.before?.machineID ?? []) : []));
  const sent = announced.flatMap((action) => (action.kind === "assign-ip" ? [action] : []));
  return [...Map.groupBy(sent, ({ object }) => refKey(object)).values()].flatMap((some) => {
    const machines = new Set(some.map(({ after }) => after.machineID).filter((machine) => left.includes(machine)));
    const isOneAfterAnother = left.filter((machine) => machines.has(machine)).length > machines.size;
    return machines.size > 1 && isOneAfterAnother ? some.map(({ ip }) => ip) : [];
  });
}

const RACED = "(first)";

/** An action as it is whichever of the raced addresses it is about; none where it is there for the sake of one alone: the names of its object. */
function unraced(action: Action, isRaced: (ip: string) => boolean): readonly Action[] {
  if (action.kind === "assign-ip" && isRaced(action.ip)) return [{ ...action, object: NOBODY, ip: RACED }];
  if (changesName(action)) {
    const [before, after] = [action.before, action.after].map(({ addresses }) =>
      addresses.filter((ip) => !isRaced(ip)),
    );
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    const isForRaced = action.after.addresses.some(isRaced);
    if (isSame && isForRaced) return [];
    return [
      {
        ...action,
        before: { ...action.before, addresses: before ?? [] },
        after: { ...action.after, addresses: after ?? [] },
      },
    ];
  }
  if (!changesAnnotation(action)) return [action];
  return [{ ...action, before: unracedMarks(action.before, isRaced), after: unracedMarks(action.after, isRaced) }];
}

/** Whose a raced address is, and whether it is for the host, is a matter of who bought it. */
function unracedMarks(marks: NodeAnnotations, isRaced: (ip: string) => boolean): NodeAnnotations {
  const ips = marks.address?.split(",") ?? [];
  if (!ips.some(isRaced)) return marks;
  const known = annotated(marks).filter(({ ip }) => !isRaced(ip));
  const host = marks.host?.split(",").filter((ip) => !isRaced(ip));
  return {
    address: [...new Set(ips.map((ip) => (isRaced(ip) ? RACED : ip)))].join(","),
    pool: known.map(({ owner }) => owner).join(","),
    ...(host === undefined || host.length === 0 ? {} : { host: host.join(",") }),
  };
}

const NOBODY = { kind: "pool", namespace: "", name: "" } as const;

/**
 * One line for each action, sorted. Of several addresses that leave one node, or come to it, that whose move ends first is cleared or annotated first, which nobody knows
 * beforehand: they are one line, of all that the node loses and gets.
 */
function linesOf(actions: readonly Action[], names: ReadonlyMap<string, string>): readonly string[] {
  const annotating = actions.flatMap((action) => (changesAnnotation(action) ? [action] : []));
  const groups = Map.groupBy(annotating, ({ nodeName, ipFamily = "IPv4" }) => `${nodeName} ${ipFamily}`);
  const together = [...groups.values()].flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) return [];
    // Whose addresses a node gets stands in the annotation itself; which of their objects writes it is a matter of whose purchase ends last.
    const isOf = ({ kind, object }: AnnotateNode): string =>
      kind === "clear-annotation" && last.after.pool === undefined ? ` ${refKey(object)}` : "";
    const whose = new Set(group.map((one) => `${one.kind} (${one.impact ?? "none"})${isOf(one)}`).toSorted());
    const host = group.findLast(({ after }) => after.host !== undefined)?.after.host;
    const { impact: _impact, ...bare } = first;
    const after = { ...last.after, ...(host === undefined ? {} : { host }) };
    return [`${[...whose].join(" ")}: ${lineOf({ ...bare, kind: "annotate-node", object: NOBODY, after }, names)}`];
  });
  const isRaced = (action: Action): boolean => action.kind === "assign-ip" && action.ip === RACED;
  const others = actions.filter((action) => !changesAnnotation(action));
  const raced = new Set(others.filter(isRaced).map((action) => lineOf(action, names)));
  const rest = others.filter((action) => !isRaced(action)).map((action) => lineOf(action, names));
  return [...rest, ...raced, ...together].toSorted();
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
