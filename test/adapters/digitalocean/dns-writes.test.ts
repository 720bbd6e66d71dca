import { describe, expect, test } from "vitest";
import type { RecordSetState } from "../../../src/model/dns.ts";
import type { DNSProvider } from "../../../src/ports/providers.ts";
import { errorJSON } from "./api-objects.ts";
import { changed, fqdn, linesOf, listed, made, recordJSON, removed, withDNSServer, zone } from "./with-dns-server.ts";

const [ip1, ip2, ip3] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const notFound = { status: 404, json: errorJSON("not_found", "The resource you requested could not be found.") };

/** A write that is expected to be made, planned on these addresses; returns the set. */
async function write(
  dns: DNSProvider,
  before: readonly string[],
  addresses: readonly string[],
  ttlSeconds = 60,
): Promise<RecordSetState> {
  const { kind, records } = await dns.writeRecords(zone, fqdn, { before, after: { addresses, ttlSeconds } });
  expect(kind).toBe("written");
  return records;
}

/** A write that is expected to find other records than it was planned on; returns the set. */
async function staleWrite(
  dns: DNSProvider,
  before: readonly string[],
  addresses: readonly string[],
): Promise<RecordSetState> {
  const { kind, records } = await dns.writeRecords(zone, fqdn, { before, after: { addresses, ttlSeconds: 60 } });
  expect(kind).toBe("stale");
  return records;
}

/** `POST IP`, `PATCH id ttl`, `DELETE id`, `LIST`. */
function shortLines(server: Parameters<typeof linesOf>[0]): readonly string[] {
  return linesOf(server).map((line) => {
    if (typeof line === "string") return line.replace(" /", " ");
    const [head, body] = line as [string, { data?: string; ttl: number }];
    return head.startsWith("POST") ? `POST ${body.data}` : `${head.replace(" /", " ")} ${body.ttl}`;
  });
}

describe("a write of records", () => {
  test("sends one list when nothing differs", async () => {
    await withDNSServer(listed(recordJSON(7, ip2), recordJSON(8, ip1)), async ({ dns, server }) => {
      const state = await write(dns, [ip1, ip2], [ip1, ip2]);
      expect(state).toEqual({
        fqdn,
        addresses: [ip1, ip2],
        ttlSeconds: 60,
        isTTLAutomatic: false,
        hasDuplicates: false,
      });
      expect(shortLines(server)).toEqual(["LIST"]);
    });
  });

  test("adds everything before it removes anything, and keeps the oldest of two records of an address", async () => {
    const script = [
      listed(recordJSON(9, ip1), recordJSON(7, ip1), recordJSON(8, ip2)),
      made(recordJSON(10, ip3)),
      removed,
      removed,
    ];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip3])).toMatchObject({ addresses: [ip1, ip3], hasDuplicates: false });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip3}`, "DELETE 8", "DELETE 9"]);
    });
  });

  test("planned on other records sends one list and no change", async () => {
    await withDNSServer(listed(recordJSON(7, ip1)), async ({ dns, server }) => {
      expect(await staleWrite(dns, [ip1, ip2], [ip3])).toMatchObject({ addresses: [ip1], ttlSeconds: 60 });
      expect(shortLines(server)).toEqual(["LIST"]);
    });
  });

  test("adds an address once that is desired twice", async () => {
    await withDNSServer([listed(), made(recordJSON(7, ip1))], async ({ dns, server }) => {
      await write(dns, [], [ip1, ip1]);
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip1}`]);
    });
  });
});

describe("a write of a TTL", () => {
  const two = (ttl1: number, ttl2: number = ttl1): ReturnType<typeof listed> =>
    listed(recordJSON(7, ip1, { ttl: ttl1 }), recordJSON(8, ip2, { ttl: ttl2 }));

  test("changes one record, and no other when the provider has changed them too", async () => {
    const script = [two(60), changed(recordJSON(7, ip1, { ttl: 300 })), two(300)];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip2], 300)).toMatchObject({ addresses: [ip1, ip2], ttlSeconds: 300 });
      expect(shortLines(server)).toEqual(["LIST", "PATCH 7 300", "LIST"]);
    });
  });

  test("changes each record whose TTL the provider has left alone", async () => {
    const script = [
      two(60),
      changed(recordJSON(7, ip1, { ttl: 300 })),
      two(300, 60),
      changed(recordJSON(8, ip2, { ttl: 300 })),
    ];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip2], 300)).toMatchObject({ ttlSeconds: 300 });
      expect(shortLines(server)).toEqual(["LIST", "PATCH 7 300", "LIST", "PATCH 8 300"]);
    });
  });

  test("changes the record that differs, not one that does not", async () => {
    const script = [two(300, 60), changed(recordJSON(8, ip2, { ttl: 300 })), two(300)];
    await withDNSServer(script, async ({ dns, server }) => {
      await write(dns, [ip1, ip2], [ip1, ip2], 300);
      expect(shortLines(server)).toEqual(["LIST", "PATCH 8 300", "LIST"]);
    });
  });

  test("is done by a new record, and is read again before any other is written", async () => {
    const script = [
      two(60),
      made(recordJSON(9, ip3, { ttl: 300 })),
      listed(...[7, 8, 9].map((id, at) => recordJSON(id, [ip1, ip2, ip3][at] ?? "", { ttl: 300 }))),
    ];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip2, ip3], 300)).toMatchObject({ ttlSeconds: 300 });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip3}`, "LIST"]);
    });
  });

  test("does not make a new record twice when the list does not show it yet", async () => {
    const script = [two(60), made(recordJSON(9, ip3, { ttl: 300 })), two(300)];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip2, ip3], 300)).toMatchObject({
        addresses: [ip1, ip2, ip3],
        ttlSeconds: 300,
      });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip3}`, "LIST"]);
    });
  });

  test("of records that all go is not written", async () => {
    const script = [two(300), made(recordJSON(9, ip3)), removed, removed];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip3], 60)).toMatchObject({ addresses: [ip3], ttlSeconds: 60 });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip3}`, "DELETE 7", "DELETE 8"]);
    });
  });

  test("below 30 s is raised to 30 s", async () => {
    await withDNSServer([listed(), made(recordJSON(7, ip1, { ttl: 30 }))], async ({ dns, server }) => {
      expect(await write(dns, [], [ip1], 5)).toMatchObject({ ttlSeconds: 30 });
      expect(server.requests[1]?.body).toMatchObject({ ttl: 30 });
    });
  });

  test("tells when the provider gave a new record another TTL, after one more try", async () => {
    const script = [
      listed(),
      made(recordJSON(7, ip1, { ttl: 1800 })),
      changed(recordJSON(7, ip1, { ttl: 1800 })),
      listed(recordJSON(7, ip1, { ttl: 1800 })),
      changed(recordJSON(7, ip1, { ttl: 1800 })),
    ];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [], [ip1], 300)).toMatchObject({ addresses: [ip1], ttlSeconds: 1800 });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip1}`, "PATCH 7 300", "LIST", "PATCH 7 300"]);
    });
  });
});

describe("a removal of a record that is gone", () => {
  const two = listed(recordJSON(7, ip1), recordJSON(8, ip2));

  test("is done when a list shows what is wanted", async () => {
    await withDNSServer([two, notFound, listed(recordJSON(7, ip1))], async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1])).toMatchObject({ addresses: [ip1] });
      expect(shortLines(server)).toEqual(["LIST", "DELETE 8", "LIST"]);
    });
  });

  test("is stale when a list shows anything else", async () => {
    await withDNSServer([two, notFound, listed()], async ({ dns, server }) => {
      expect(await staleWrite(dns, [ip1, ip2], [ip1])).toMatchObject({ addresses: [] });
      expect(shortLines(server)).toEqual(["LIST", "DELETE 8", "LIST"]);
    });
  });

  test("is tried again when the record has been made anew", async () => {
    const anew = listed(recordJSON(7, ip1), recordJSON(9, ip2));
    await withDNSServer([two, notFound, anew, removed], async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1])).toMatchObject({ addresses: [ip1] });
      expect(shortLines(server)).toEqual(["LIST", "DELETE 8", "LIST", "DELETE 9"]);
    });
  });

  test("goes on from what the write itself has added", async () => {
    const anew = listed(recordJSON(7, ip1), recordJSON(9, ip3), recordJSON(10, ip2));
    const script = [two, made(recordJSON(9, ip3)), notFound, anew, removed];
    await withDNSServer(script, async ({ dns, server }) => {
      expect(await write(dns, [ip1, ip2], [ip1, ip3])).toMatchObject({ addresses: [ip1, ip3] });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip3}`, "DELETE 8", "LIST", "DELETE 10"]);
    });
  });

  test("is stale when every list shows it all the same", async () => {
    await withDNSServer([two, notFound, two, notFound, two], async ({ dns, server }) => {
      expect(await staleWrite(dns, [ip1, ip2], [ip1])).toMatchObject({ addresses: [ip1, ip2] });
      expect(shortLines(server)).toEqual(["LIST", "DELETE 8", "LIST", "DELETE 8", "LIST"]);
    });
  });
});

describe("a record that is refused", () => {
  const refused = { status: 422, json: errorJSON("unprocessable_entity", "Record already exists") };

  test("is made when a list shows all that is wanted", async () => {
    await withDNSServer([listed(), refused, listed(recordJSON(7, ip1))], async ({ dns, server }) => {
      expect(await write(dns, [], [ip1])).toMatchObject({ addresses: [ip1], ttlSeconds: 60 });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip1}`, "LIST"]);
    });
  });

  test("is stale when a list shows a part of what is wanted that the write has not made", async () => {
    await withDNSServer([listed(), refused, listed(recordJSON(7, ip1))], async ({ dns, server }) => {
      expect(await staleWrite(dns, [], [ip1, ip2])).toMatchObject({ addresses: [ip1] });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip1}`, "LIST"]);
    });
  });

  test("is a refusal when a list shows what the write itself has made and nothing else", async () => {
    const script = [listed(), made(recordJSON(7, ip1)), refused, listed(recordJSON(7, ip1))];
    await withDNSServer(script, async ({ dns, server }) => {
      await expect(write(dns, [], [ip1, ip2])).rejects.toMatchObject({ failure: "refused", operation: "add-record" });
      expect(shortLines(server)).toEqual(["LIST", `POST ${ip1}`, `POST ${ip2}`, "LIST"]);
    });
  });
});

describe("a name that somebody else changes while its TTL is written", () => {
  const late = listed(recordJSON(7, ip1, { ttl: 300 }), recordJSON(8, ip2, { ttl: 300 }));

  test("is stale and keeps what was to go when a record that was to stay is gone", async () => {
    await withDNSServer([late, notFound, listed(recordJSON(8, ip2))], async ({ dns, server }) => {
      expect(await staleWrite(dns, [ip1, ip2], [ip1])).toMatchObject({ addresses: [ip2] });
      expect(shortLines(server)).toEqual(["LIST", "PATCH 7 60", "LIST"]);
    });
  });

  test("is stale and keeps what was to go when a record that was to stay has another address", async () => {
    const script = [late, changed(recordJSON(7, ip3)), listed(recordJSON(7, ip3), recordJSON(8, ip2))];
    await withDNSServer(script, async ({ dns, server }) => {
      expect((await staleWrite(dns, [ip1, ip2], [ip1])).addresses).toEqual([ip2, ip3]);
      expect(shortLines(server)).toEqual(["LIST", "PATCH 7 60", "LIST"]);
    });
  });

  test("loses the right record when two have swapped their addresses", async () => {
    const swapped = listed(recordJSON(7, ip2), recordJSON(8, ip1));
    await withDNSServer([late, changed(recordJSON(7, ip2)), swapped, removed], async ({ dns, server }) => {
      expect((await write(dns, [ip1, ip2], [ip1])).addresses).toEqual([ip1]);
      expect(shortLines(server)).toEqual(["LIST", "PATCH 7 60", "LIST", "DELETE 7"]);
    });
  });
});
