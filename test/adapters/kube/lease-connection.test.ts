import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { Asked } from "./scripted-server.ts";
import { withServer } from "./with-server.ts";

const LEASE = {
  metadata: { namespace: "flipop", name: "flipop", resourceVersion: "8" },
  spec: { holderIdentity: "us", leaseDurationSeconds: 15 },
};

/** Answers about Leases alone, as an API server does that keeps other calls in a queue. */
function leasesOnly(response: ServerResponse, { url }: Asked): void {
  if (!url.includes("/leases/")) return;
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(LEASE));
}

test("the Lease is read and renewed while the API server leaves all other calls waiting", async () => {
  await withServer([leasesOnly], async ({ writer, asked }) => {
    const waiting = Array.from({ length: 20 }, () => writer.listNodes().catch(() => undefined));
    const lease = await writer.readLease("flipop", "flipop");
    if (lease === undefined) throw new Error("no Lease");
    await expect(writer.replaceLease(lease)).resolves.toMatchObject({ holder: "us" });
    const [read, renewed] = asked.filter(({ url }) => url.includes("/leases/"));
    expect(renewed?.socket, "one connection is kept for it").toBe(read?.socket);
    expect(waiting).toHaveLength(20);
  });
});
