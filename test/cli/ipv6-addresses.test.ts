import { describe, expect, test } from "vitest";
import type { Observation } from "../../src/model/observation.ts";
import { eventsTold } from "../history/told.ts";
import { applied, aRun } from "../report/runs.ts";
import { schemaErrors } from "../report/schemas.ts";
import { afterFailure, aLease, anObservation, aPool, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const SOURCE = "digitalocean IPv6";
/** Of a zone whose name only a reading tells. */
const ZONE_ID = "023e105f4ecef8ad9ca31a8372d0c353";
const [LOST, SERVES] = ["2001:db8::10", "2001:db8::11"] as const;

/** The world after a failure, with a pool of IPv6 beside those of IPv4: of its two addresses one is on worker-1, which is not ready. */
function world(): Observation {
  const base = afterFailure();
  const six = aPool("six", [LOST, SERVES], {
    spec: { provider: SOURCE },
    status: {
      ips: {
        [LOST]: { state: "no-match", nodeName: "worker-1", providerID: "digitalocean://1", reason: "HolderLost" },
        [SERVES]: { state: "active", nodeName: "worker-2", providerID: "digitalocean://2" },
      },
    },
  });
  const name = { provider: "cloudflare", zone: ZONE_ID, recordName: "www.example.net", ttlSeconds: 60 };
  const published = { provider: "cloudflare", zone: ZONE_ID, name: "www.example.net AAAA", addresses: [] };
  const named = aPool("named6", [], {
    spec: { provider: SOURCE, dnsRecordSet: name },
    status: { publishedDNS: published },
  });
  const sets = aRecordSet("nodes6", {
    spec: {
      provider: "cloudflare",
      ipFamilies: ["IPv6"],
      dnsRecordSet: { ...name, provider: "", recordName: "nodes" },
    },
    status: { ipv6: { publishedDNS: { ...published, name: "nodes.example.net AAAA" }, formerDNS: [] } },
  });
  const nodes = base.nodes.map((node) =>
    node.name === "worker-2" ? { ...node, ipv6: { addressAnnotation: SERVES, poolAnnotation: "ingress/six" } } : node,
  );
  const [facts] = anObservation([], [], { [LOST]: "1", [SERVES]: "2", "2001:db8::99": undefined }).providers.values();
  if (facts === undefined) throw new Error("no provider");
  const providers = new Map([...base.providers, [SOURCE, { ...facts, name: SOURCE }]]);
  return { ...base, pools: [...base.pools, six, named], recordSets: [...base.recordSets, sets], nodes, providers };
}

const MOVED = aRun(world(), world(), applied);
const scene: Scene = { observation: world(), lease: aLease(), events: eventsTold(MOVED) };

async function printed(...argv: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await invoke(argv, scene);
  expect([stderr, exitCode]).toEqual(["", 0]);
  return stdout;
}

const FORMS = ["ip/2001:DB8::10", "ip/2001:0db8:0:0:0:0:0:0010", "IP/2001:db8:0::10", "ips/2001:db8:0:0:0:0:0.0.0.16"];

describe("an IPv6 address that is a target", () => {
  test("is explained: where it is, and why it is not on a node that serves", async () => {
    const told = await printed("explain", `ip/${LOST}`, "--no-history");
    expect(told).toContain(LOST);
    expect(told).toContain("worker-1");
    const document = JSON.parse(await printed("explain", `ip/${LOST}`, "--no-history", "-o", "json"));
    expect(schemaErrors(document, "Explanation")).toEqual([]);
    expect(document.subject).toEqual({ kind: "ip", ip: LOST });
    expect(document.sections.map(({ object }: { object: { name: string } }) => object.name)).toEqual(["six"]);
  });

  test("is explained for a node, and of what serves it is said that it does", async () => {
    expect(await printed("explain", `ip/${SERVES}`, "node/worker-2", "--no-history")).toContain(
      `${SERVES} is active on worker-2`,
    );
  });

  test("is on a machine of the provider, which both families have", async () => {
    const told = await printed("explain", `ip/${SERVES}`, "node/worker-3", "--no-history");
    expect(told).toContain(`digitalocean has ${SERVES} on worker-2 (machine 2).`);
    expect(told.match(/^worker-3 is machine.*$/gm)).toEqual(["worker-3 is machine 3 of digitalocean."]);
    // The other address moves to worker-3: nothing that ends its service is offered.
    expect(told).toContain("No change of up to 6 facts");
    const node = await printed("explain", "node/worker-2", "--no-history");
    expect(node.match(/^worker-2 is machine.*$/gm)).toEqual(["worker-2 is machine 2 of digitalocean."]);
  });

  test.for(FORMS)("%s is the same one for explain, history and plan", async (form) => {
    for (const command of ["explain", "history", "plan"]) {
      const one = JSON.parse(await printed(command, `ip/${LOST}`, "-o", "json"));
      expect(JSON.parse(await printed(command, form, "-o", "json"))).toEqual(one);
    }
  });

  test("has a history of its own", async () => {
    const changesOf = async (ip: string): Promise<readonly { readonly message: string }[]> =>
      JSON.parse(await printed("history", `ip/${ip}`, "-o", "json")).changes;
    const changes = await changesOf(LOST);
    expect(changes.map(({ message }) => message)).toContainEqual(expect.stringContaining(`moved ${LOST}`));
    expect(changes.filter(({ message }) => !message.includes(LOST))).toEqual([]);
    // An address that begins like another one is another one.
    const { exitCode, stderr } = await invoke(["history", "ip/2001:db8::1"], scene);
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining("No object has the address 2001:db8::1, and")]);
  });

  test.for([
    ["explain ip/2001:db8::77", 78, "No object names the address 2001:db8::77, no node has it, and neither has"],
    ["plan ip/2001:DB8::77", 78, "No object names the address 2001:db8::77, no node has it, and neither has"],
    ["explain 2001:DB8::10", 64, "Unknown target '2001:DB8::10': it is an address (ip/2001:db8::10)"],
    ["plan ip/2001:db8::10::1", 64, "2001:db8::10::1 is no IP address"],
    ["history ip/::ffff:203.0.113.10", 64, "::ffff:203.0.113.10 is no IP address"],
    ["explain ip/2001:db8::/64", 64, "Unknown target 'ip/2001:db8::/64'"],
    ["explain ip/[2001:db8::10]", 64, "[2001:db8::10] is no IP address"],
  ] as const)("%s ends with %d", async ([line, exitCode, said]) => {
    const { stdout, stderr, exitCode: code } = await invoke(line.split(" "), scene);
    expect([code, stdout, stderr]).toEqual([exitCode, "", expect.stringContaining(said)]);
  });

  test("that no object names is told of where the account has it", async () => {
    expect(await printed("plan", "ip/2001:db8::99")).toContain("No object has to do with ip/2001:db8::99.");
  });
});

describe("an imagined place of an IPv6 address", () => {
  const planned = async (edit: string): Promise<readonly unknown[]> =>
    JSON.parse((await invoke(["plan", "-o", "json", "--if", edit, "pool/ingress/six"], scene)).stdout).actions;

  test("is planned from, however the address is written", async () => {
    const here = await planned(`ip/${LOST}=on:node/worker-3`);
    expect(here).not.toEqual(JSON.parse(await printed("plan", "-o", "json", "pool/ingress/six")).actions);
    for (const form of FORMS.slice(0, 2)) expect(await planned(`${form}=on:node/worker-3`)).toEqual(here);
    expect(JSON.stringify(await planned(`ip/${LOST}=Unattached`))).toContain('"assign-ip"');
    expect(JSON.stringify(await planned(`ip/${LOST}=Gone`))).not.toContain('"assign-ip"');
  });

  test.for([
    [
      "ip/2001:db8::77=Gone",
      "No object names the address 2001:db8::77, and the account does not show it. Did you mean 2001:db8::10? ('ip/2001:db8::77=Gone')",
    ],
    [
      "ip/2001:db8::10=Nowhere",
      "Unknown edit 'ip/2001:db8::10=Nowhere': character 17 should begin Unattached, Gone, on:node/NAME or on:machine/ID.",
    ],
    ["ip/2001:db8:::10=Gone", "Unknown edit 'ip/2001:db8:::10=Gone': character 4 should begin an IP address."],
  ] as const)("%s is refused", async ([edit, said]) => {
    const { stderr, stdout } = await invoke(["plan", "--if", edit], scene);
    expect([stdout, stderr]).toEqual(["", expect.stringContaining(said)]);
  });
});

describe("a name with AAAA records alone, in a zone that is written by its id,", () => {
  test.for([
    ["www.example.net", "pool/ingress/named6"],
    ["nodes.example.net", "dns/ingress/nodes6"],
  ])("is known as %s", async ([name = "", object = ""]) => {
    const named = JSON.parse(await printed("status", name, "-o", "json"));
    expect(named).toEqual(JSON.parse(await printed("status", object, "-o", "json")));
    expect(await printed("__complete", "--", "status", name)).toBe(`${name}\tDNS name\n:4\n`);
  });
});

describe("completion of IPv6 addresses", () => {
  const offered = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await printed("__complete", "--", ...words)).trimEnd().split("\n");

  test.for<[words: readonly string[], candidates: readonly string[]]>([
    [
      ["explain", "ip/2001"],
      ["ip/2001:db8::10\tno-match, worker-1", "ip/2001:db8::11\tactive, worker-2", ":4"],
    ],
    [
      ["explain", "ip/2001:db8::11"],
      ["ip/2001:db8::11\tactive, worker-2", ":4"],
    ],
    [
      ["history", "ip/2001:db8::10"],
      ["ip/2001:db8::10\tno-match, worker-1", ":4"],
    ],
    // As with every name, what is typed is the beginning of what is offered.
    [["explain", "ip/2001:DB8::1"], [":4"]],
    [
      ["plan", "--if", "ip/2001:db8::11"],
      ["ip/2001:db8::11=\tactive, worker-2", ":6"],
    ],
    [
      ["plan", "--if", "ip/2001:db8::11=G"],
      ["ip/2001:db8::11=Gone\t", ":4"],
    ],
  ])("%j", async ([words, candidates]) => {
    expect(await offered(...words)).toEqual(candidates);
  });
});
