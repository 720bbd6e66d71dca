import type { NodeFacts } from "../../model/node.ts";
import type { NodeVerdict } from "../../model/plan.ts";
import { compareText } from "../../model/resource.ts";
import type { MatchVerdict, Verdicts } from "../pool-view.ts";
import { isRestless, judge, judgedUntilMs, type Matcher } from "./match.ts";

/** What is found out about all nodes for whoever asks the same of them; lists are sorted by name. */
export type Judgement = Omit<Verdicts, "of">;

/** A node as it was in a list, and as it is in the next one at the same place. */
export interface Changed {
  readonly before: NodeFacts;
  readonly after: NodeFacts;
}

/** A list that differs from the one before in more nodes is judged anew. */
const MOST_CHANGED = 100;

/** Returns the nodes that differ between two lists; undefined where the lists do not have the same names at the same places, or too many differ. Pure. */
export function changedNodes(
  before: readonly NodeFacts[],
  after: readonly NodeFacts[],
): readonly Changed[] | undefined {
  if (before.length !== after.length) return undefined;
  const changed: Changed[] = [];
  for (const [place, node] of after.entries()) {
    const other = before[place];
    if (other === node) continue;
    if (other === undefined || other.name !== node.name || changed.length === MOST_CHANGED) return undefined;
    changed.push({ before: other, after: node });
  }
  return changed;
}

/**
 * Returns the judgement of a list in which a few nodes have changed: what judging all of its nodes would return, and the very same value where nothing of it is different.
 * Undefined where that cannot be told without it: a node begins or ceases to match, has to rest, cannot be read, or is judged otherwise once time has passed. Pure.
 */
export function carriedOver(
  old: Judgement,
  changed: readonly Changed[],
  matcher: Matcher,
  nowMs: number,
): Judgement | undefined {
  if (old.untilMs !== Number.POSITIVE_INFINITY) return undefined;
  const replaced = new Map<NodeFacts, NodeFacts>();
  let notMatching: Judgement["notMatching"] | undefined = old.notMatching;
  for (const one of changed) {
    const verdict = verdictLike(one, matcher, nowMs);
    if (verdict?.kind === "match") replaced.set(one.before, one.after);
    else notMatching = verdict && withVerdict(notMatching, one.after.name, verdict);
    if (notMatching === undefined) return undefined;
  }
  if (replaced.size === 0 && notMatching === old.notMatching) return old;
  const matches = replaced.size === 0 ? old.matches : old.matches.map((node) => replaced.get(node) ?? node);
  return { ...old, matches, notMatching };
}

/** The verdict of a node that matches as before, or still does not, whatever time it is; undefined for others. */
function verdictLike({ before, after }: Changed, matcher: Matcher, nowMs: number): Certain | undefined {
  if (judgedUntilMs(after, matcher, nowMs) !== Number.POSITIVE_INFINITY) return undefined;
  if (isRestless(before, matcher) || isRestless(after, matcher)) return undefined;
  const [was, is] = [judge(before, matcher, nowMs), judge(after, matcher, nowMs)];
  if (was.kind === "unreadable" || is.kind === "unreadable") return undefined;
  return (was.kind === "match") === (is.kind === "match") ? is : undefined;
}

type Certain = Exclude<MatchVerdict, { readonly kind: "unreadable" }>;

/** The verdicts with this one of a node that has one already: the list itself where it says the same. Undefined where the node has none. */
function withVerdict(
  all: readonly NodeVerdict[],
  nodeName: string,
  verdict: Pick<NodeVerdict, "reason" | "detail">,
): readonly NodeVerdict[] | undefined {
  let [from, to] = [0, all.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compareText(all[middle]?.nodeName ?? "", nodeName) < 0) from = middle + 1;
    else to = middle;
  }
  const before = all[from];
  if (before?.nodeName !== nodeName) return undefined;
  if (textOf(before) === textOf(verdict)) return all;
  return all.with(from, { nodeName, reason: verdict.reason, detail: verdict.detail });
}

function textOf({ reason, detail }: Pick<NodeVerdict, "reason" | "detail">): string {
  return `${reason} ${detail}`;
}
