import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { aReadyCondition } from "../report/dns-plans.ts";
import { afterRoutedFailure, aRoutedIP, ROUTED_FACTS } from "../report/routed-world.ts";
import { steady } from "../report/runs.ts";
import { aLease, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const { routedIPs } = ROUTED_FACTS;
const scene: Scene = { observation: { ...steady(), recordSets: [aRecordSet("nodes")] }, routedIPs, lease: aLease() };

function refusal(failure: KubeError["failure"], status: number): KubeError {
  const operation = "list routedips.flipop.digitalocean.com";
  return new KubeError({ failure, operation, subject: "", status, message: `Could not ${operation}: ${failure}.` });
}

describe("status with routed IPs", () => {
  test("names them between pools and record sets", async () => {
    const { stdout } = await invoke(["status", "-o", "name"], scene);
    expect(stdout.split("\n")).toEqual([
      "pool/ingress/web",
      ...["mail", "steady", "vip", "web"].map((name) => `routedip/ingress/${name}`),
      "dns/ingress/nodes",
      "",
    ]);
  });

  test.for([
    ["routedip/mail", "routedip/ingress/mail\n"],
    ["-l app=mail", "routedip/ingress/mail\n"],
    ["mail pool/web", "pool/ingress/web\nroutedip/ingress/mail\n"],
    ["-n shop", ""],
  ] as const)("%s selects among them", async ([words, names]) => {
    expect((await invoke(["status", "-o", "name", ...words.split(" ")], scene)).stdout).toBe(names);
  });

  test("shows those that there are where a cluster does not know the kind", async () => {
    const { stdout, exitCode } = await invoke(["status", "-o", "name"], {
      ...scene,
      routedIPsError: refusal("missing-resource", 404),
    });
    expect({ stdout, exitCode }).toEqual({ stdout: "pool/ingress/web\ndns/ingress/nodes\n", exitCode: 0 });
  });

  test("is an error where they may not be listed", async () => {
    const { stderr, exitCode } = await invoke(["status"], { ...scene, routedIPsError: refusal("forbidden", 403) });
    expect({ stderr, exitCode }).toEqual({
      stderr: "flipop: Could not list routedips.flipop.digitalocean.com: forbidden.\n",
      exitCode: 77,
    });
  });

  test("says with -o wide in plain words what is tried again", async () => {
    const retries = [
      { subject: "dns/digitalocean/www.example.com", attempts: 2, nextAttemptTime: "", error: "HTTP 500" },
    ];
    const failing = { ...scene, routedIPs: [aRoutedIP("web", { status: { retries } })] };
    const { stdout } = await invoke(["status", "routedip/web", "-o", "wide"], failing);
    expect(stdout).toContain("   www.example.com: 2 failed, next ");
  });

  test("has a column for names only where one asks for one, and shows what a suspended one is", async () => {
    const plain = { ...scene, routedIPs: [aRoutedIP("web", { spec: { suspend: true } })] };
    const [, , header, row] = (await invoke(["status", "routedip/web"], plain)).stdout.split("\n");
    expect(header).toBe("ROUTED IP     READY     ADDRESS   NODE   STATE   ISSUER   SERVICE   AGE   REASON");
    expect(row).toMatch(/^ingress\/web +Unknown +- +- +- +public +web +1d +suspended$/);
    expect((await invoke(["status", "routedip/mail"], scene)).stdout).toContain("DNS NAME");
  });

  test("says of the state of one that could not be read that nobody could look", async () => {
    const status = {
      conditions: [aReadyCondition("True")],
      ips: {
        "203.0.113.40": {
          state: "active",
          nodeName: "worker-1",
          providerID: "digitalocean://1",
          reason: "Unreadable",
        },
      },
    } as const;
    const unread = { ...scene, routedIPs: [aRoutedIP("web", { status })] };
    const { stdout } = await invoke(["status", "routedip/web"], unread);
    expect(stdout).toMatch(/^ingress\/web +True +203\.0\.113\.40 +worker-1 +active \(unread\) +public /m);
  });

  test("tells with -o wide what is tried again first, whatever it is", async () => {
    const retries = [
      { subject: "ip/203.0.113.40", attempts: 5, nextAttemptTime: "2026-08-01T12:01:00Z", error: "later" },
      { subject: "firewall/id-edge", attempts: 2, nextAttemptTime: "2026-08-01T12:00:05Z", error: "first" },
    ];
    const waiting = { ...scene, routedIPs: [aRoutedIP("web", { status: { retries } })] };
    const { stdout } = await invoke(["status", "-o", "wide", "routedip/web"], waiting);
    expect(stdout).toContain("firewall id-edge: 2 failed, next in 5s");
  });
});

describe("plan with routed IPs", () => {
  const routed: Scene = { observation: afterRoutedFailure(), routedIPs };

  test("is for one of them when it is named", async () => {
    const { stdout } = await invoke(["plan", "-o", "name", "routedip/mail"], routed);
    expect(stdout).toBe("routedip/ingress/mail\n");
    expect((await invoke(["plan", "routedip/steady"], routed)).stdout).not.toContain("ingress/mail");
  });

  test("knows the addresses that they name, and no others", async () => {
    expect((await invoke(["plan", "ip/203.0.113.42"], routed)).exitCode).not.toBe(64);
    expect((await invoke(["plan", "ip/198.51.100.7"], routed)).stderr).toContain("No object names the address");
  });
});
