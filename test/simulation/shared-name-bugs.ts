import type { Mutation } from "./mutations.ts";

/** A planted bug, with the seed of a history that finds it. */
export interface SharedNameBug extends Mutation {
  readonly seed: number;
}

/** Bugs that histories of a shared name must find, each by itself. */
export const SHARED_NAME_BUGS: readonly SharedNameBug[] = [
  {
    seed: 1,
    name: "Another cluster's records are replaced.",
    file: "src/plan/names/foreign-records.ts",
    find: 'if (foreignRecords === "Adopt") return { own: records, foreign };',
    replace: 'if (foreignRecords !== "Hold") return { own: records, foreign };',
  },
  {
    seed: 1,
    name: "What others put under the name counts as own once it is on record.",
    file: "src/model/resource.ts",
    find: "return foreign.length === 0 ? addresses : addresses.filter(",
    replace: "return foreign.length < 99 ? addresses : addresses.filter(",
  },
  {
    seed: 37,
    name: "Addresses that serve leave as if they did not.",
    file: "src/plan/plan.ts",
    find: 'impact.leaving(object, ip) === "recovery";',
    replace: 'impact.leaving(object, ip) !== "none";',
  },
  {
    seed: 3,
    name: "What serves nobody stays beside the others' addresses.",
    file: "src/plan/names/name-plan.ts",
    find: "(isShared && isDown(publisher.ref, ip))",
    replace: "(isShared && publisher.managed.length > 99 && isDown(publisher.ref, ip))",
  },
  {
    seed: 34,
    name: "What an old list lacks is nobody's any more.",
    file: "src/plan/names/foreign-records.ts",
    find: "const UNSEEN_MS = 600_000;",
    replace: "const UNSEEN_MS = 0;",
  },
  {
    seed: 6,
    name: "Each cluster writes its own TTL.",
    file: "src/model/dns.ts",
    find: "(meant(ttl) < meant(lowest) ? ttl : lowest)",
    replace: "(meant(ttl) < meant(lowest) - 9e9 ? ttl : lowest)",
  },
  {
    seed: 1,
    name: "A record of another cluster that comes meanwhile stops the change.",
    file: "src/adapters/dns/record-sets.ts",
    find: 'return expected !== "some" || others.length > 0;',
    replace: "return others.length === 0;",
  },
];
