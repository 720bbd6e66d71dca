import type { ObjectRef } from "../model/action.ts";
import type { LiveName } from "../model/live.ts";
import { type RecordType, recordTypeOf, recordTypesOf } from "../model/record-types.ts";
import { ipFamilyOf, type ObjectMeta } from "../model/resource.ts";
import type { Selection } from "../model/run.ts";
import { type DNSWish, nameTarget, poolWish, recordSetWish } from "../plan/names/name-target.ts";
import { isAskedFor } from "../plan/selection.ts";
import type { ZoneServers } from "../ports/resolver.ts";
import { type LiveFacts, liveKey, liveOf, liveProblems } from "../report/live.ts";
import type { Look } from "./status-watch.ts";
import type { Planner } from "./wiring.ts";

/** Returns the same look with what everybody says now; what is wrong with that comes before what is wrong with the last run. */
export async function lookLive(found: Look, planner: Planner, servers: ZoneServers): Promise<Look> {
  const { overview } = found;
  const live = liveOf(overview, await readLive(planner, servers, found.selection));
  return { ...found, overview: { ...overview, live, problems: [...liveProblems(live), ...overview.problems] } };
}

/** Reads what providers, nodes and the servers of zones say now of the objects that are selected: what one pass reads, and each name once from each server of its zone. */
async function readLive(planner: Planner, servers: ZoneServers, selection: Selection): Promise<LiveFacts> {
  const planned = await planner.plan(selection);
  const names = namedObjects(planned.observation, selection).map(
    async ({ object, type, wish }) =>
      [liveKey(object, type), await liveName(wish, planned.observation, servers)] as const,
  );
  const read = (await Promise.all(names)).flatMap(([key, name]) => (name === undefined ? [] : [[key, name] as const]));
  return { ...planned, names: new Map(read) };
}

type Observed = LiveFacts["observation"];

function namedObjects(
  { pools, recordSets, registry }: Observed,
  selection: Selection,
): readonly { readonly object: ObjectRef; readonly type: RecordType; readonly wish: DNSWish }[] {
  const ref = (kind: ObjectRef["kind"], { namespace, name }: ObjectMeta): ObjectRef => ({ kind, namespace, name });
  const all = [
    ...pools.map((pool) => {
      const type = recordTypeOf(ipFamilyOf(pool.spec));
      return { object: ref(pool.kind, pool.meta), type, meta: pool.meta, wish: poolWish(pool, registry) };
    }),
    ...recordSets.flatMap((one) =>
      recordTypesOf(one).map((type) => {
        return { object: ref("dns", one.meta), type, meta: one.meta, wish: recordSetWish(one, registry, type) };
      }),
    ),
  ];
  return all.filter(({ object, meta }) => isAskedFor(selection, object.kind, meta));
}

/** The name that a wish means, as its provider and the servers of its zone have it; undefined where none is asked for. */
async function liveName(wish: DNSWish, { dns }: Observed, servers: ZoneServers): Promise<LiveName | undefined> {
  const target = nameTarget(wish, dns);
  if (target.kind === "none" || wish.kind === "none") return undefined;
  const provider = wish.kind === "named" ? wish.provider : "";
  if (target.kind === "blocked") {
    const fqdn = target.name?.fqdn ?? (wish.kind === "named" ? wish.recordName : "");
    return { kind: "unread", fqdn, provider, error: target.detail };
  }
  const { fqdn } = target.name;
  const { records, isPutOff, zone } = target;
  if (isPutOff === true)
    return { kind: "unread", fqdn, provider, error: "it was not looked at: calls are kept for what is more urgent" };
  const { addresses, isTTLAutomatic: isProxied } = records;
  const answer = await servers.answerOf(fqdn, zone.name);
  return { kind: "read", fqdn, provider, addresses: addresses.toSorted(), isProxied, answer };
}
