import { describe, expect, test } from "vitest";
import type { DNSRecord } from "../../../src/adapters/cloudflare/records.ts";
import { recordBatches } from "../../../src/adapters/cloudflare/write-records.ts";
import { fqdn } from "./api-objects.ts";

const ip = (last: number): string => `203.0.113.${last}`;

/** `a=1`: record a with 203.0.113.1; `!` annotated, `~` proxied, `/300` its TTL (else 60, proxied 1). */
function records(text: string): readonly DNSRecord[] {
  return [...text.matchAll(/(\w+)=(\d+)(!?)(~?)(?:\/(\d+))?/g)].map(([, id = "", last, note, proxy, ttl]) => ({
    id,
    address: ip(Number(last)),
    ttlSeconds: proxy === "~" ? 1 : Number(ttl ?? 60),
    isProxied: proxy === "~",
    isAnnotated: note === "!",
  }));
}

/** The batches as text: `-id`, `id>address/ttl`, `+address/ttl~`; batches parted by ` | `. */
function plan(current: string, addresses: readonly number[], ttlSeconds = 60): string {
  const desired = { addresses: addresses.map(ip), ttlSeconds };
  const short = (content = ""): string => content.slice("203.0.113.".length);
  return recordBatches({ fqdn, type: "A" }, records(current), desired)
    .map(({ deletes, patches, posts }) =>
      [
        ...deletes.map(({ id }) => `-${id}`),
        ...patches.map(({ id, content, ttl }) => `${id}>${short(content)}${ttl === undefined ? "" : `/${ttl}`}`),
        ...posts.map(({ content, ttl, proxied }) => `+${short(content)}/${ttl}${proxied ? "~" : ""}`),
      ].join(" "),
    )
    .join(" | ");
}

describe("the changes of a record set", () => {
  test.for<readonly [string, string, readonly number[], number, string]>([
    ["nothing when nothing differs", "a=1 b=2", [1, 2], 60, ""],
    ["nothing for an empty set that should be empty", "", [], 60, ""],
    ["a post for each address of an empty set", "", [1, 2], 60, "+1/60 +2/60"],
    ["a delete for each record when none is wanted", "a=1 b=2", [], 60, "-a -b"],
    ["a patch rather than a delete and a post", "a=1 b=2", [1, 3], 60, "b>3"],
    ["a patch of the only record", "a=1", [2], 60, "a>2"],
    ["patches, then posts for what is left", "a=1", [2, 3], 60, "a>2 +3/60"],
    ["patches, then deletes for what is left", "a=1 b=2 c=3", [4], 60, "-b -c a>4"],
    ["the annotated record patched, others deleted", "a=1 b=2! c=3", [4], 60, "-a -c b>4"],
    ["the annotated one of two with the same address kept", "a=1 b=1!", [1], 60, "-a"],
    ["the second of two with the same address reused", "a=1 b=1", [1, 2], 60, "b>2"],
    ["a TTL where it differs, and only there", "a=1 b=2/300 c=3", [1, 2, 3], 300, "a>/300 c>/300"],
    ["TTL and address in one patch", "a=1", [2], 300, "a>2/300"],
    ["no TTL in the patch of an address when it is right", "a=1/300", [2], 300, "a>2"],
    ["an automatic TTL kept", "", [1], 1, "+1/1"],
    ["an automatic TTL set", "a=1", [1], 1, "a>/1"],
    ["an automatic TTL replaced", "a=1/1", [1], 60, "a>/60"],
    ["a TTL raised to 60", "a=1", [1, 2], 59, "+2/60"],
    ["a TTL of 0 raised to 60", "", [1], 0, "+1/60"],
    ["a TTL above the highest lowered to it", "", [1], 86_401, "+1/86400"],
    ["no TTL of a proxied set", "a=1~ b=2~", [1, 2], 300, ""],
    ["a proxied post for a proxied set", "a=1~", [1, 2], 300, "+2/1~"],
    ["a proxied post for a set with one proxied record", "a=1 b=2~", [1, 2, 3], 300, "+3/1~"],
    ["a patch that leaves a proxied record proxied", "a=1~", [2], 300, "a>2"],
  ])("are %s", ([, current, addresses, ttl, expected]) => {
    expect(plan(current, addresses, ttl)).toBe(expected);
  });

  test("do not depend on the order of the records", () => {
    const shuffled = ["a=1 b=2 c=3", "c=3 a=1 b=2", "b=2 c=3 a=1"].map((text) => plan(text, [4]));
    expect(new Set(shuffled)).toEqual(new Set(["-b -c a>4"]));
  });

  test("of more than 200 come in batches that add before they delete", () => {
    const current = Array.from({ length: 250 }, (_, at) => `r${String(at).padStart(3, "0")}=${at}`).join(" ");
    const batches = recordBatches({ fqdn, type: "A" }, records(current), { addresses: ["192.0.2.1"], ttlSeconds: 60 });
    expect(batches.map(({ patches, deletes }) => [patches.length, deletes.length])).toEqual([
      [1, 199],
      [0, 50],
    ]);
    const posts = recordBatches({ fqdn, type: "A" }, [], {
      addresses: Array.from({ length: 201 }, (_, at) => `198.18.0.${at}`),
      ttlSeconds: 60,
    });
    expect(posts.map((batch) => batch.posts.length)).toEqual([200, 1]);
  });

  test("keep the set non-empty after every batch, from any set to any other", () => {
    for (let seed = 1; seed <= 300; seed += 1) expectNeverEmpty(seed);
  });
});

/** Applies the batches of a made-up change, deletes first, and looks at the set after each. */
function expectNeverEmpty(seed: number): void {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const current = records(Array.from({ length: 1 + random(250) }, (_, at) => `r${at}=${random(250)}`).join(" "));
  const addresses = [...new Set(Array.from({ length: 1 + random(250) }, () => ip(random(250))))].sort();
  const set = new Map(current.map((record) => [record.id, record.address]));
  for (const { deletes, patches, posts } of recordBatches({ fqdn, type: "A" }, current, {
    addresses,
    ttlSeconds: 60,
  })) {
    for (const { id } of deletes) set.delete(id);
    for (const { id, content } of patches) set.set(id, content ?? set.get(id) ?? "");
    for (const { content } of posts) set.set(`new ${content}`, content);
    expect(set.size).toBeGreaterThan(0);
  }
  expect([...set.values()].sort()).toEqual(addresses);
}
