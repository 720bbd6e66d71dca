import { expect, test } from "vitest";
import type { DNSFacts, OwnerFact } from "../../src/model/dns.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { WantedOwner } from "../../src/model/plan.ts";
import { ownerPieces } from "../../src/observe/owners.ts";
import type { DNSProviderReader } from "../../src/ports/providers.ts";
import { FakeClock } from "../fake/fake-clock.ts";

const ZONES = { shop: { id: "z1", name: "shop.example" }, blog: { id: "z2", name: "blog.example" } };
const SECOND = 1000;

function wanted(zone: keyof typeof ZONES, host: string): WantedOwner {
  return {
    object: { kind: "pool", namespace: "shop", name: host },
    provider: "cloudflare",
    zone: ZONES[zone],
    fqdn: `${host}.${ZONES[zone].name}`,
    hasRecords: true,
  };
}

interface Looked {
  /** How long it took until everything was told, milliseconds. */
  readonly tookMs: number;
  /** What is known then, each name with its owner fact. */
  readonly facts: Readonly<Record<string, OwnerFact | undefined>>;
  readonly isLate: boolean;
  readonly unusable: DNSFacts["unusable"];
}

type Texts = Pick<DNSProviderReader, "listTexts" | "readTexts">;

/** Looks whose the names are, as `plan` does: until every piece has told what it knows. */
async function look(names: readonly WantedOwner[], texts: (clock: FakeClock) => Texts): Promise<Looked> {
  const clock = new FakeClock();
  const provider = texts(clock) as DNSProviderReader;
  const dnsProviders = new Map([["cloudflare", { kind: "usable" as const, provider }]]);
  const cluster = { now: () => clock.wallMs() };
  const pieces = ownerPieces({ dnsProviders, cluster, clock }, names);
  const startMs = clock.monotonicMs();
  const world = { dns: new Map([["cloudflare", {} as DNSFacts]]) } as unknown as Observation;
  const end = Promise.all(pieces.map(({ read }) => read())).then((arrived) => ({
    known: arrived.reduce((observation, enter) => enter(observation), world).dns.get("cloudflare"),
    tookMs: clock.monotonicMs() - startMs,
  }));
  for (let at = 0; at < 120; at += 1) await clock.advance(SECOND);
  const { known, tookMs } = await end;
  const facts = Object.fromEntries(
    names.map(({ zone, fqdn }) => [
      fqdn,
      known?.owners?.get(
        [...(known.owners?.keys() ?? [])].find((key) => key.includes(fqdn) && key.includes(zone.id)) ?? "",
      ),
    ]),
  );
  return { tookMs, facts, isLate: known?.isOwnerLate === true, unusable: known?.unusable };
}

const NONE = { texts: [], names: new Map() };
const never = <T>(): Promise<T> => new Promise(() => undefined);
const OVER = { kind: "gap", error: "the look into its zone has taken longer than 20 s", isRefused: false };

test("a list of texts that never ends is a gap of its zone's names after 20 s, and no longer waited for", async () => {
  const names = [wanted("shop", "a"), wanted("shop", "b"), wanted("blog", "c")];
  const seen = await look(names, () => ({
    listTexts: async ({ id }) => (id === "z1" ? never() : NONE),
    readTexts: async () => [],
  }));
  expect(seen).toEqual({
    tookMs: 20 * SECOND,
    facts: { "a.shop.example": OVER, "b.shop.example": OVER, "c.blog.example": { kind: "known" } },
    isLate: true,
    unusable: undefined,
  });
});

test("of a long zone what was read within 20 s counts, and nothing more is asked for after that", async () => {
  const names = ["a", "b", "c", "d"].map((host) => wanted("shop", host));
  const asked: string[] = [];
  const seen = await look(names, (clock) => ({
    listTexts: async () => undefined,
    readTexts: async (_, mark) => {
      asked.push(mark);
      await clock.sleep(9 * SECOND);
      return mark === "a-b.shop.example" ? [{ fqdn: mark, text: "heritage=external-dns,external-dns/owner=prod" }] : [];
    },
  }));
  expect(seen.tookMs).toBe(20 * SECOND);
  expect(seen.facts).toMatchObject({
    "a.shop.example": { kind: "known" },
    "b.shop.example": { kind: "known", owner: { id: "prod" } },
    "c.shop.example": OVER,
    "d.shop.example": OVER,
  });
  expect(asked.filter((mark) => mark.includes("d.shop"))).toEqual([]);
});

test("an answer that comes within a second is not late", async () => {
  const names = [wanted("shop", "a"), wanted("blog", "c")];
  const seen = await look(names, (clock) => ({
    listTexts: async () => clock.sleep(900).then(() => NONE),
    readTexts: async () => [],
  }));
  expect(seen).toMatchObject({ tookMs: 900, isLate: false, facts: { "c.blog.example": { kind: "known" } } });
});

test("a rate limit in the middle of a long zone keeps what was read before", async () => {
  const names = ["a", "b"].map((host) => wanted("shop", host));
  const refused = { failure: "rate-limited", status: 429, provider: "cloudflare", operation: "read texts" } as const;
  const seen = await look(names, () => ({
    listTexts: async () => undefined,
    readTexts: async (_, mark) => {
      if (mark.includes("b.shop")) throw new ProviderError({ ...refused, subject: mark, message: "too many calls" });
      return [];
    },
  }));
  expect(seen.facts).toEqual({
    "a.shop.example": { kind: "known" },
    "b.shop.example": { kind: "gap", error: "too many calls", isRefused: false },
  });
  expect(seen.unusable).toMatchObject({ kind: "rate-limited" });
});
