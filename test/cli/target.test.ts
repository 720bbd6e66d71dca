import { describe, expect, test } from "vitest";
import { afterFailureWithDNS } from "../report/dns-world.ts";
import { aLease } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const scene: Scene = { observation: afterFailureWithDNS(), lease: aLease() };

const named = async (...targets: readonly string[]): Promise<readonly string[]> => {
  const { stdout, stderr } = await invoke(["status", "-o", "name", ...targets], scene);
  expect(stderr).toBe("");
  return stdout.trim().split("\n");
};

describe("a target", () => {
  test.for([
    "pool/ingress/web",
    "fip/ingress/web",
    "FloatingIPPools/web",
    "floatingippool.flipop.digitalocean.com/web",
  ])("%s is the pool web", async (target) => {
    expect(await named(target)).toEqual(["pool/ingress/web"]);
  });

  test.for(["dns/ingress/nodes", "nodedns/nodes", "nodednsrecordset/ingress/nodes"])(
    "%s is the record set nodes",
    async (target) => {
      expect(await named(target)).toEqual(["dns/ingress/nodes"]);
    },
  );

  test.for(["www.example.com", "dns/www.example.com", "WWW.Example.com"])(
    "%s is what publishes that name",
    async (target) => {
      expect(await named(target)).toEqual(["pool/ingress/web", "dns/ingress/rival"]);
    },
  );

  test.for([
    [
      "status nope.example.com",
      78,
      "in any namespace, and no object publishes that name ('nope.example.com'). There is",
    ],
    [
      "status pool/www.example.com",
      78,
      "There is no FloatingIPPool named www.example.com in any namespace ('pool/www.example.com').",
    ],
    ["plan nod/worker-1", 78, "Did you mean node/worker-1?"],
    ["plan worker-1", 78, "A node is written node/worker-1."],
    ["plan 203.0.113.10", 78, "Did you mean ip/203.0.113.10?"],
    ["plan polo/ingress/web", 64, "Unknown target 'polo/ingress/web': this version knows no polo."],
    ["plan node/ingress/web", 64, "Unknown target 'node/ingress/web': a node has no namespace."],
  ] as const)("%s exits %d and says why", async ([line, code, text]) => {
    const { stdout, stderr, exitCode } = await invoke(line.split(" "), scene);
    expect([stdout, exitCode]).toEqual(["", code]);
    expect(stderr).toContain(text);
  });
});
