import { describe, expect, test } from "vitest";
import type { Action, WriteDNS } from "../../../src/model/action.ts";
import type { Outcome } from "../../../src/model/outcome.ts";
import type { Plan, RecordSetAssessment } from "../../../src/model/plan.ts";
import type { PassResult } from "../../../src/model/run.ts";
import { addRun, readTotals, writeTotals } from "../../../src/report/metrics/totals.ts";
import { aQuietRun, steady } from "../runs.ts";
import { planOf } from "../world.ts";

const NONE = readTotals(undefined);
const OBJECT = { kind: "dns", namespace: "ingress", name: "nodes" } as const;
const FQDN = "www.example.com";
const KEY = `dns/ingress/nodes digitalocean ${FQDN}`;
const [A, B, X] = ["192.0.2.1", "192.0.2.2", "198.51.100.9"];

/** How a record set stands: the addresses on record, and how many records differ. */
interface Standing {
  readonly addresses?: readonly string[];
  readonly drift?: number | undefined;
  readonly generation?: number;
  readonly isSuspended?: boolean;
  readonly fqdn?: string;
  readonly isHeld?: boolean;
}

function planWith({ addresses = [A], generation = 1, isSuspended = false, ...rest }: Standing): Plan {
  const { fqdn = FQDN } = rest;
  const nodes: RecordSetAssessment = {
    object: OBJECT,
    written: { provider: "digitalocean", zone: "example.com", recordName: "www" },
    ...(isSuspended ? { suspended: { source: "spec", by: "", why: "" } as const } : {}),
    fqdn,
    ...("drift" in rest && rest.drift === undefined ? {} : { drift: rest.drift ?? 0 }),
    matching: [],
    notMatching: [],
    status: {
      observedGeneration: generation,
      conditions: [],
      unreadyNodes: [],
      retries: [],
      formerDNS: [],
      publishedDNS: { provider: "digitalocean", zone: "example.com", name: fqdn, addresses },
    },
  };
  const hold = { kind: "update-dns", object: OBJECT, subject: fqdn, detail: "", needsPerson: false } as const;
  const holds = rest.isHeld === true ? [{ ...hold, reason: "NothingToPublish" } as const] : [];
  return { ...planOf(steady()), pools: [], recordSets: [nodes], holds };
}

function write(before: readonly string[], after: readonly string[], changes: Partial<WriteDNS> = {}): Action {
  return {
    kind: "update-dns",
    id: `update-dns ${FQDN}`,
    object: OBJECT,
    reason: "RecordsDiffer",
    requires: [],
    follows: [],
    dnsProvider: "digitalocean",
    zoneText: "example.com",
    zone: { id: "example.com", name: "example.com" },
    fqdn: FQDN,
    before: { addresses: before, ttlSeconds: 60 },
    after: { addresses: after, ttlSeconds: 60 },
    ...changes,
  };
}

const done = (action: Action): Outcome => ({ action, outcome: "applied", ms: 1 });
const refused = (action: Action, now?: readonly string[]): Outcome => ({
  action,
  outcome: "failed",
  ms: 1,
  error: new Error("no"),
  ...(now === undefined
    ? {}
    : {
        records: {
          kind: "known",
          records: { fqdn: FQDN, addresses: now, isTTLAutomatic: false, hasDuplicates: false },
        },
      }),
});

/** One run: what it tried, and how the record set stands after it. */
interface Run {
  readonly outcomes?: readonly Outcome[];
  readonly found?: Standing;
  readonly left?: Standing;
  readonly isWhole?: boolean;
}

/** How many changes by others are counted after these runs. */
function countAfter(...runs: readonly Run[]): number {
  const totals = runs.reduce((known, { outcomes = [], left = {}, found = left, isWhole = true }) => {
    const result: PassResult = { ...aQuietRun(), plan: planWith(found), outcomes, remaining: planWith(left) };
    // Every run is a process of its own.
    return readTotals(writeTotals(addRun(known, { result, meters: [] }, isWhole)));
  }, NONE);
  return totals.names[KEY]?.foreign ?? 0;
}

const RIGHT: Run = {};

describe("a change of a name's records by somebody else is counted once it is put right", () => {
  test.for<[string, readonly Run[]]>([
    ["an address was added", [RIGHT, { outcomes: [done(write([A, X], [A]))] }]],
    ["an address was taken out", [RIGHT, { outcomes: [done(write([], [A]))] }]],
    ["all addresses were replaced", [RIGHT, { outcomes: [done(write([X], [A]))] }]],
    ["the TTL was changed", [RIGHT, { outcomes: [done(write([A], [A], { reason: "TTLDiffers" }))] }]],
    ["a record was doubled", [RIGHT, { outcomes: [done(write([A], [A]))] }]],
    [
      "it was changed while the object's own addresses changed",
      [RIGHT, { outcomes: [done(write([X], [B]))], left: { addresses: [B] } }],
    ],
    [
      "the first attempt was refused without effect",
      [
        RIGHT,
        { outcomes: [refused(write([X], [A]), [X])], left: { addresses: [X], drift: 2 } },
        { outcomes: [done(write([X], [A]))] },
      ],
    ],
    [
      "the object was suspended meanwhile",
      [RIGHT, { left: { drift: 2, isSuspended: true } }, { outcomes: [done(write([X], [A]))] }],
    ],
    [
      "nothing served meanwhile",
      [
        RIGHT,
        { left: { addresses: [X], isHeld: true } },
        { outcomes: [done(write([X], [B]))], left: { addresses: [B] } },
      ],
    ],
    [
      "an address was withdrawn before",
      [
        { left: { addresses: [A, B] } },
        {
          outcomes: [done(write([A, B, X], [B, X], { kind: "withdraw-dns" })), done(write([B, X], [B]))],
          left: { addresses: [B] },
        },
      ],
    ],
    ["it was a run for some objects that put it right", [RIGHT, { outcomes: [done(write([X], [A]))], isWhole: false }]],
  ])("%s", ([, runs]) => {
    expect(countAfter(...runs)).toBe(1);
  });

  test("and again whenever it happens again, in one run and over runs", () => {
    const fix = done(write([X], [A]));
    expect(countAfter(RIGHT, { outcomes: [fix, fix] }, {}, { outcomes: [fix] })).toBe(3);
  });
});

describe("no change by somebody else is counted where", () => {
  test.for<[string, readonly Run[]]>([
    ["the name is published for the first time", [{ outcomes: [done(write([X], [A]))] }]],
    ["the object's own addresses changed", [RIGHT, { outcomes: [done(write([A], [B]))], left: { addresses: [B] } }]],
    [
      "the TTL of the spec was changed",
      [RIGHT, { outcomes: [done(write([A], [A], { reason: "TTLDiffers" }))], left: { generation: 2 } }],
    ],
    [
      "an address is withdrawn before others come",
      [
        { left: { addresses: [A, B] } },
        {
          outcomes: [done(write([A, B], [B], { kind: "withdraw-dns" })), done(write([B], [A, B]))],
          left: { addresses: [A, B] },
        },
      ],
    ],
    [
      "flipop's own change was carried out by half, and ended later",
      [
        RIGHT,
        { outcomes: [refused(write([A], [B]), [A, B])], left: { addresses: [A, B], drift: 1 } },
        { outcomes: [done(write([A, B], [B]))], left: { addresses: [B] } },
      ],
    ],
    [
      "the answer to flipop's own change was lost",
      [
        RIGHT,
        { outcomes: [refused(write([A], [B]))], left: { addresses: [A], drift: undefined } },
        { outcomes: [done(write([B, A], [B]))], left: { addresses: [B] } },
      ],
    ],
    ["it was not put right yet", [RIGHT, { outcomes: [refused(write([X], [A]), [X])], left: { drift: 2 } }]],
    [
      "the records of a former name are cleaned",
      [
        RIGHT,
        {
          outcomes: [done(write([A, X], [X], { kind: "delete-dns", fqdn: "old.example.com", reason: "NameChanged" }))],
        },
      ],
    ],
  ])("%s", ([, runs]) => {
    expect(countAfter(...runs)).toBe(0);
  });
});

describe("what is remembered of names", () => {
  const fought: Run = { outcomes: [done(write([X], [A]))] };
  const addTo = (left: Standing, isWhole: boolean): readonly string[] => {
    const first = { ...aQuietRun(), remaining: planWith({}) };
    const then = { ...aQuietRun(), remaining: planWith(left) };
    const known = addRun(NONE, { result: first, meters: [] }, true);
    return Object.keys(addRun(known, { result: then, meters: [] }, isWhole).names);
  };

  test("is forgotten once the object has another name, after a run over everything only", () => {
    const other = `dns/ingress/nodes digitalocean new.example.com`;
    expect(addTo({ fqdn: "new.example.com" }, true)).toEqual([other]);
    expect(addTo({ fqdn: "new.example.com" }, false)).toEqual([KEY, other]);
  });

  test("is forgotten once the object is gone, after a run over everything only", () => {
    const known = addRun(NONE, { result: { ...aQuietRun(), remaining: planWith({}) }, meters: [] }, true);
    const gone = { result: aQuietRun(), meters: [] };
    expect(addRun(known, gone, true).names).toEqual({});
    expect(addRun(known, gone, false).names).toEqual(known.names);
  });

  test("is kept while the object's name cannot be told, since its zone cannot be read", () => {
    const [nodes] = planWith({}).recordSets;
    if (nodes === undefined) throw new Error("there is no record set");
    const { fqdn: _, drift: __, ...unread } = nodes;
    const result = { ...aQuietRun(), remaining: { ...planWith({}), recordSets: [unread] } };
    const known = addRun(NONE, { result: { ...aQuietRun(), remaining: planWith({}) }, meters: [] }, true);
    expect(addRun(known, { result, meters: [] }, true).names).toEqual(known.names);
  });

  test("takes the same room on the Lease, however many addresses a name has", () => {
    const many = Array.from({ length: 250 }, (_, at) => `192.0.2.${at}`);
    const size = (addresses: readonly string[]): number =>
      writeTotals(addRun(NONE, { result: { ...aQuietRun(), remaining: planWith({ addresses }) }, meters: [] }, true))
        .length;
    expect(size(many)).toBe(size([A]));
  });

  test.for([
    ["no object", '{"names":[1]}'],
    ["values that are no names", '{"names":{"a":1,"b":{"foreign":-1},"c":{"foreign":"2"},"d":null}}'],
  ] as const)("counts from 0 where the annotation holds %s", ([, text]) => {
    expect(readTotals(text).names).toEqual({});
  });

  test("counts on where only what was right is garbled, and takes no change for somebody else's then", () => {
    const text = `{"names":{${JSON.stringify(KEY)}:{"foreign":4,"right":["x"]}}}`;
    const result = { ...aQuietRun(), plan: planWith({}), outcomes: fought.outcomes ?? [], remaining: planWith({}) };
    expect(addRun(readTotals(text), { result, meters: [] }, true).names[KEY]?.foreign).toBe(4);
  });
});

describe("records that flipop did not write", () => {
  const totalsAfter = (...outcomes: readonly Outcome[]): ReturnType<typeof readTotals>["names"][string] | undefined => {
    const result: PassResult = { ...aQuietRun(), plan: planWith({}), outcomes, remaining: planWith({}) };
    const before = addRun(NONE, { result: { ...result, outcomes: [] }, meters: [] }, true);
    return readTotals(writeTotals(addRun(before, { result, meters: [] }, true))).names[KEY];
  };

  test("are counted when they are replaced, and not when that is refused", () => {
    const replacing = write([A, X], [A], { unrecorded: [X] });
    expect(totalsAfter(refused(replacing))?.replaced).toBeUndefined();
    expect(totalsAfter(done(replacing))).toMatchObject({ foreign: 1, replaced: 1 });
    expect(totalsAfter(done(replacing), done(replacing))?.replaced).toBe(2);
  });

  test("are nobody's change where they stay: another cluster publishes them", () => {
    const others = { addresses: [X], expected: "any" } as const;
    expect(totalsAfter(done(write([A, X], [B, X], { others })))).toMatchObject({ foreign: 0 });
    expect(totalsAfter(done(write([X], [A, X], { others })))?.foreign).toBe(1);
  });
});
