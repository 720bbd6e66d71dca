// The webhook adapter against the webhook server of external-dns itself, in front of its provider in memory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MEDIA_TYPE } from "../../src/adapters/webhook/api.ts";
import { createWebhook } from "../../src/adapters/webhook/webhook.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { externalOwner } from "../../src/model/external-dns.ts";
import type { DNSProvider } from "../../src/ports/providers.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { type Child, startChild } from "../cluster/child.ts";
import { freePorts } from "../cluster/ports.ts";
import { waitedMs } from "../fake/own-time.ts";

const program = await toolOrSkip("external-dns-webhook");
const folder = mkdtempSync(join(tmpdir(), "flipop-external-dns-"));
let server: Child;
let baseURL = "";

beforeAll(async () => {
  if (program === undefined) return;
  const [port = 0] = await freePorts(1);
  baseURL = `http://127.0.0.1:${port}`;
  server = startChild("external-dns-webhook", program, [`127.0.0.1:${port}`, "example.com,example.org"], folder);
  await provider().findZone("example.com");
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const provider = (): DNSProvider =>
  createWebhook({ name: "webhook", baseURL, token: undefined, userAgent: "flipop-test", clock: SYSTEM_CLOCK });

const zone = { id: "example.com", name: "example.com" };
const [IP1, IP2, IP3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;

/** Sends a change as external-dns does. */
async function post(change: object): Promise<void> {
  const headers = { "content-type": MEDIA_TYPE };
  const { status } = await fetch(`${baseURL}/records`, { method: "POST", headers, body: JSON.stringify(change) });
  expect(status).toBe(204);
}

describe.skipIf(program === undefined)("external-dns' own webhook server", () => {
  test("is waited for while it starts, and takes any zone, since it names no domains", async () => {
    expect(await provider().findZone("example.com")).toEqual(zone);
    expect((await provider().listRecords(zone, 1))?.names.get("nobody.example.com")).toBeUndefined();
  });

  test("makes, changes and empties a name, and each is read back", async () => {
    const own = provider();
    const fqdn = "www.example.com";
    await own.findZone("example.com");
    const states = [
      { before: [], after: { addresses: [IP1, IP2], ttlSeconds: 60 } },
      { before: [IP1, IP2], after: { addresses: [IP2, IP3], ttlSeconds: 60 } },
      { before: [IP2, IP3], after: { addresses: [IP2, IP3], ttlSeconds: 300 } },
      { before: [IP2, IP3], after: { addresses: [], ttlSeconds: 300 } },
    ];
    for (const { before, after } of states) {
      const { kind, records } = await own.writeRecords(zone, fqdn, { before, after });
      expect([kind, records.addresses]).toEqual(["written", after.addresses]);
      const read = await provider().readRecords(zone, fqdn);
      expect(read).toEqual(records);
      if (after.addresses.length > 0) expect(read.ttlSeconds).toBe(after.ttlSeconds);
    }
  });

  test("changes many names at once, each for itself", async () => {
    const own = provider();
    const names = Array.from({ length: 30 }, (_, at) => `n${at}.example.com`);
    const write = (fqdn: string) =>
      own.writeRecords(zone, fqdn, { before: [], after: { addresses: [IP1], ttlSeconds: 60 } });
    const results = await Promise.all(names.map(write));
    expect(results.map(({ kind }) => kind)).toEqual(names.map(() => "written"));
    const listing = await provider().listRecords(zone, 1);
    for (const name of names) expect(listing?.names.get(name)?.addresses).toEqual([IP1]);
  });

  test("shows the labels of what others made, and they are sent back with a change", async () => {
    const fqdn = "labelled.example.com";
    const made = { dnsName: fqdn, recordType: "A", targets: [IP1], recordTTL: 60 };
    const more = { labels: { owner: "prod" }, providerSpecific: [{ name: "weight", value: "7" }] };
    await post({ create: [{ ...made, ...more }] });
    const change = { before: [IP1], after: { addresses: [IP2], ttlSeconds: 60 } };
    expect((await provider().writeRecords(zone, fqdn, change)).kind).toBe("written");
    const answer = await fetch(`${baseURL}/records`, { headers: { accept: MEDIA_TYPE } });
    const [found] = ((await answer.json()) as { dnsName: string }[]).filter(({ dnsName }) => dnsName === fqdn);
    expect(found).toMatchObject({ ...more, targets: [IP2] });
  });

  test("shows the marks of external-dns beside a name", async () => {
    const text = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web"';
    await post({
      create: [
        { dnsName: "theirs.example.com", recordType: "A", targets: [IP1], recordTTL: 60 },
        { dnsName: "a-theirs.example.com", recordType: "TXT", targets: [text] },
      ],
    });
    const texts = await provider().listTexts(zone, 1);
    expect(texts && externalOwner("theirs.example.com", texts, true)).toEqual({
      id: "prod",
      mark: "a-theirs.example.com",
    });
  });

  test("refuses a change of a name in a zone that it does not have, and nothing is believed", async () => {
    const gone = { id: "example.net", name: "example.net" };
    const change = { before: [], after: { addresses: [IP1], ttlSeconds: 60 } };
    const outcome = await provider()
      .writeRecords(gone, "www.example.net", change)
      .then(
        ({ kind }) => kind,
        (error: Error) => error.message,
      );
    expect(outcome).toMatch(/^The DNS webhook (failed to write|gave an unusable answer)/);
    expect((await provider().readRecords(gone, "www.example.net")).addresses).toEqual([]);
  });

  test("is away once it has ended, and that is told at once by who has known it", async () => {
    const own = provider();
    await own.findZone("example.com");
    await server.stop();
    await sleep(10);
    const refused = async (): Promise<void> => {
      await expect(own.readRecords(zone, "www.example.com")).rejects.toMatchObject({ failure: "unavailable" });
    };
    expect(await waitedMs(refused)).toBeLessThan(5000);
    const [port = 0] = [Number(new URL(baseURL).port)];
    if (program) server = startChild("external-dns-webhook", program, [`127.0.0.1:${port}`, "example.com"], folder);
    expect(await provider().findZone("example.com")).toEqual(zone);
  });
});
