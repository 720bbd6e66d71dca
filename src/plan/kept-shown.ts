import { isAssign } from "../model/action.ts";
import type { DecidedPools } from "./addresses/decide-pools.ts";
import { type KeptShown, type ShownName, shownKey } from "./drain.ts";
import type { ObjectNames } from "./names/plan-dns.ts";
import type { PoolView } from "./pool-view.ts";

/*
 * An address drains for the sake of each name that shows it beside others which serve: the name lets it go, and the end of the drain is reckoned from then on. Whether a name does
 * is known once names are planned. Where one does not, and nothing that flipop does by itself will ever change that, the end would move on in every pass. So it is planned again, and
 * the address does not drain for the sake of that name. Examples:
 *
 *   wanted  pool b has lost all its nodes, and goes on showing .5 and .6, which it gave up; pool a, which had .5 meanwhile, gives it up, too
 *   last    pool c has inherited .5, which has no node and so enters no name; its name shows nothing but .2, which is to make room
 *
 * What was found may no longer hold in the new plan: the name lets the address go there, and keeps others. Then it is forgotten, once, and the address drains.
 */

/** What plans of one pass have found so far, by {@link shownKey}. */
export interface FoundKept extends KeptShown {
  /** What a later plan did not find any more. */
  readonly forgotten: ReadonlySet<string>;
}

/** What is known before anything is planned. */
export const NOTHING_KEPT: FoundKept = { last: new Set(), wanted: new Set(), forgotten: new Set() };

/**
 * Finds what drains in a plan, or leaves its machine, though a name keeps it that could let it go. Returns undefined where nothing is found that was not known. Pure.
 *
 * @param known - what earlier plans of this pass found
 */
export function keptShown(
  { decisions, leaving }: DecidedPools,
  names: readonly ShownName[],
  objects: readonly ObjectNames[],
  known: FoundKept,
): FoundKept | undefined {
  const going = new Set([...leaving, ...decisions.flatMap(({ view }) => draining(view))]);
  if (going.size === 0) return undefined;
  const able = names.filter(({ access, isPaused, isOthers }) => access === "now" && !isPaused && !isOthers);
  const shown = new Set(
    able.flatMap(({ owner, fqdn, addresses }) =>
      addresses.flatMap((ip) => (going.has(ip) ? [shownKey(owner, fqdn, ip)] : [])),
    ),
  );
  const isKnown = (key: string): boolean => known.last.has(key) || known.wanted.has(key);
  const sent = new Set(
    decisions.flatMap(({ actions }) => actions.flatMap((action) => (isAssign(action) ? [action.ip] : []))),
  );
  const found = objects
    .flatMap((own) => fatesIn(own, going, sent))
    .filter(({ key, fate }) => shown.has(key) && !known.forgotten.has(key) && isKnown(key) === (fate === "goes"));
  if (found.length === 0) return undefined;
  const all = (meant: Fate["fate"]): ReadonlySet<string> =>
    new Set(found.flatMap(({ key, fate }) => (fate === meant ? [key] : [])));
  const gone = all("goes");
  return {
    last: known.last.union(all("last")).difference(gone),
    wanted: known.wanted.union(all("wanted")).difference(gone),
    forgotten: known.forgotten.union(gone),
  };
}

/** The addresses of an object that drain. */
function draining({ drains = new Map(), nowMs }: PoolView): readonly string[] {
  return [...drains].flatMap(([ip, { untilMs }]) => (untilMs > nowMs ? [ip] : []));
}

/** What becomes of an address that a name shows: it stays for want of others, or as the object wants it; or it goes, and others stay. */
interface Fate {
  /** As {@link shownKey} has it. */
  readonly key: string;
  readonly fate: keyof KeptShown | "goes";
}

/**
 * Returns what a plan makes of the addresses in `going` that the present name of an object shows, as far as it decides about them.
 *
 * @param sent - addresses that go to a node in the same plan: none of them serves until it is there
 */
function fatesIn(
  { publisher, present: { target, actions, kept, isRight, isUndecided } }: ObjectNames,
  going: ReadonlySet<string>,
  sent: ReadonlySet<string>,
): readonly Fate[] {
  if (target.kind !== "ready") return [];
  const { addresses } = target.records;
  const fateOf = (ip: string, fate: Fate["fate"]): Fate => ({
    key: shownKey(publisher.ref, target.name.fqdn, ip),
    fate,
  });
  const leaving = addresses.filter((ip) => going.has(ip));
  const [write] = actions;
  const staysWhole = kept === "as-they-are" || (isUndecided === true && !isRight);
  if (write === undefined && staysWhole) return leaving.map((ip) => fateOf(ip, "last"));
  if (write === undefined) return isRight ? leaving.map((ip) => fateOf(ip, "wanted")) : [];
  const after = new Set(write.after.addresses);
  const hasOthers = addresses.some((ip) => after.has(ip) && !sent.has(ip));
  return leaving.flatMap((ip) => (after.has(ip) ? fateOf(ip, "wanted") : hasOthers ? fateOf(ip, "goes") : []));
}
