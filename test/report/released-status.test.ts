import { describe, expect, test } from "vitest";
import type { ReleasedIP } from "../../src/model/address.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { type Overview, overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { schemaErrors } from "./schemas.ts";
import { aLease, aPool, NOW_MS } from "./world.ts";

const inSeconds = (seconds: number): string => new Date(NOW_MS + seconds * 1000).toISOString();

const DRAINING: ReleasedIP = {
  ip: "203.0.113.7",
  nodeName: "worker-1",
  providerID: "digitalocean://1",
  acquired: true,
  releasedAt: inSeconds(-20),
  drainingUntil: inSeconds(40),
};

function overview(...released: readonly ReleasedIP[]): Overview {
  const pools = [aPool("web", ["203.0.113.11"], { status: { released } })];
  const facts = {
    cluster: "https://k",
    nowMs: NOW_MS,
    pools,
    recordSets: [],
    routedIPs: [],
    leaseKey: "flipop/flipop",
  };
  return overviewOf({ ...facts, lease: aLease() }, 60_000);
}

/** The lines of the table of released addresses, without the spaces between columns. */
function rows(wide: boolean, ...released: readonly ReleasedIP[]): readonly string[] {
  const parts = renderStatus(overview(...released), { palette: PLAIN, wide }).split("\n\n");
  const table = parts.find((part) => part.startsWith("RELEASED"));
  return table === undefined ? [] : table.split("\n").map((line) => line.trimEnd().replace(/ {2,}/g, " | "));
}

describe("status of what objects released", () => {
  test("says which object released an address, when, where it is, and until when it drains", () => {
    expect(rows(false, DRAINING)).toEqual([
      "RELEASED | BY | SINCE | NODE | DRAINS",
      expect.stringMatching(
        /^203\.0\.113\.7 \| pool\/\S+\/web \| 20s ago \| worker-1 \| until \d\d:\d\d:\d\d UTC \(in 40s\)$/,
      ),
    ]);
    expect(rows(true, DRAINING)[0]).toBe("RELEASED | BY | SINCE | NODE | PROVIDER ID | DRAINS");
    expect(rows(true, DRAINING)[1]).toContain("digitalocean://1");
  });

  test("has no such table where nothing was released", () => {
    expect(rows(false)).toEqual([]);
  });

  test.for([
    ["over", { drainingUntil: inSeconds(-1) }],
    ["not known", {}],
    ["no time", { drainingUntil: "soon", releasedAt: "\u001b[31mred" }],
  ] as const)("says nothing of a drain that is %s", ([, changes]) => {
    const entry = { ip: "203.0.113.7", nodeName: "worker-1", ...changes };
    expect(rows(false, entry)[1]).toMatch(/^203\.0\.113\.7 \| pool\/\S+\/web \| - \| worker-1 \| -$/);
    const document = overviewDocument(overview(entry));
    expect(schemaErrors(document, "Status")).toEqual([]);
  });

  test("tells the same as JSON", () => {
    const document = overviewDocument(overview(DRAINING));
    expect(schemaErrors(document, "Status")).toEqual([]);
    const { ip, nodeName, providerID } = DRAINING;
    expect(document).toMatchObject({
      pools: [
        {
          released: [
            {
              ip,
              nodeName,
              providerID,
              isAcquired: true,
              releasedAt: inSeconds(-20).replace(".000", ""),
              drainingUntil: inSeconds(40).replace(".000", ""),
            },
          ],
        },
      ],
    });
  });
});
