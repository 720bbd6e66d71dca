import { expect } from "vitest";
import { exitCodeOfRun } from "../../src/report/exit-code.ts";
import { conditionsText, WWW } from "./dns-scene.ts";
import type { FaultKind } from "./operation-fault.ts";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

type Match = Readonly<Record<string, unknown>>;

const NAMESPACE_RULE = "at most 63 lower-case letters, digits and '-', with a letter or digit at both ends";

/** What a person may write into `spec.match` and no API server takes, with the error that status shows. */
const HOSTILE: readonly (readonly [what: string, match: Match, error: string | RegExp])[] = [
  ["a non-breaking space", { podLabel: "app=web\u00a0" }, pod("value 'web\\u{a0}' is not a valid label value")],
  ["a line separator", { podLabel: "app=web\u2028" }, pod("value 'web\\u{2028}' is not a valid label value")],
  ["a byte order mark", { podLabel: "\ufeffapp=web" }, pod("key '\\u{feff}app' is not a valid label key")],
  ["a vertical tab", { podLabel: "app\v=web" }, pod("key 'app\\u{b}' is not a valid label key")],
  ["a form feed", { podLabel: "\f" }, pod("key '\\u{c}' is not a valid label key")],
  ["a negative number", { podLabel: "app=web,size>-5" }, pod("value '-5' is not a valid label value")],
  ["a number with a plus", { podLabel: "app=web,size<+5" }, pod("value '+5' is not a valid label value")],
  [
    "a number beyond 64 bits",
    { podLabel: "size>9223372036854775808" },
    pod("'9223372036854775808' is more than 9223372036854775807, the most that '>' and '<' compare with"),
  ],
  [
    "a selector of half a mebibyte",
    { podLabel: `app in (${"web,".repeat(170_000)}web)` },
    /^Error parsing pod selector: it takes \d+ bytes in a URL, and at most 1000000 are sent: /,
  ],
  ["the namespace .", { podNamespace: "." }, namespace(".")],
  ["the namespace ..", { podNamespace: "..", podLabel: "app=web" }, namespace("..")],
  ["the namespace a/b", { podNamespace: "a/b" }, namespace("a/b")],
  ["an escaped namespace", { podNamespace: "%2e%2e" }, namespace("%2e%2e")],
  ["a namespace with a query", { podNamespace: "shop?limit=0" }, namespace("shop?limit=0")],
  [
    "a node label with a non-breaking space",
    { nodeLabel: "kubernetes.io/hostname\u00a0" },
    /^Error parsing node selector: unable to parse requirement: key 'kubernetes\.io\/hostname\\u\{a0\}' is not a valid label key$/,
  ],
  [
    "a node label compared with a negative number",
    { nodeLabel: "size>-5" },
    "Error parsing node selector: unable to parse requirement: value '-5' is not a valid label value",
  ],
  [
    "an operator in small letters in a toleration",
    { tolerations: [{ key: "ded", operator: "exists" }] },
    'invalid tolerations[0].operator: "exists" must be Exists or Equal',
  ],
  [
    "a mistyped effect in the second toleration",
    { tolerations: [{ operator: "Exists" }, { key: "ded", effect: "Noschedule" }] },
    'invalid tolerations[1].effect: "Noschedule" must be NoSchedule or PreferNoSchedule or NoExecute',
  ],
  [
    "a toleration without a key",
    { tolerations: [{ value: "lb" }] },
    "invalid tolerations[0].key: without a key operator must be Exists",
  ],
];

function pod(error: string): string {
  return `Error parsing pod selector: unable to parse requirement: ${error}`;
}

function namespace(name: string): string {
  return `Error parsing pod selector: namespace "${name}" is not a valid name: ${NAMESPACE_RULE}`;
}

/** Refusals that lie in what a list asks for, the reason that they get, and what to do that stands behind them. */
const REFUSALS: readonly (readonly [FaultKind, string, string])[] = [
  ["400", "SelectorRefused", ""],
  ["404", "SelectorRefused", ""],
  ["414", "SelectorRefused", ""],
  ["422", "SelectorRefused", ""],
  ["431", "SelectorRefused", ""],
  ["403", "PodsForbidden", ' Grant the verb "list" on "pods" .*'],
];

/** Selectors that the API server refuses: they concern the objects that have them, and nobody else. */
export function selectorScenarios(scenario: Register): void {
  for (const [what, match, error] of HOSTILE)
    scenario(
      `${what} in the match of one object is its own error; the other pool fails over in that pass`,
      async (world) => {
        await twoPools(world, { podLabel: "app=web" });
        await edit(world, match);
        await expectHeld(world, "InvalidSpec", error);
        await edit(world, { podLabel: "app=web" });
        await world.pass();
        await expectServed(world);
      },
      // The definition admits no selector this long: only an object that an older one let in can have it.
      what === "a selector of half a mebibyte" ? { worlds: ["cluster"] } : {},
    );

  for (const [kind, reason, fix] of REFUSALS)
    scenario(
      `a list of pods that the API server refuses (${kind}) holds the objects that ask for it, and nobody else`,
      async (world) => {
        await world.namespace("else");
        const podNamespace = world.namespaceName("else");
        await twoPools(world, { podNamespace, podLabel: "app=web" }, "else");
        world.fail({ side: "cluster", operation: "listPods", kind, subject: "else", times: 0 });
        await edit(world, { podNamespace, podLabel: "app = web" });
        const refused = new RegExp(
          `^Error listing the pods of label selector "app = web" in namespace "else": Cannot list pods: .* \\(${kind}\\)\\.${fix}$`,
        );
        await expectHeld(world, reason, refused);
        world.clearFaults();
        // Whoever watches asks again now and then, and at once after an edit.
        await world.pools.edit("b", { foreignHolder: "TakeOver" });
        await world.pass();
        await expectServed(world);
      },
    );

  scenario("a refused list does not keep a pool that is deleted from giving its address back", async (world) => {
    await world.namespace("else");
    await world.machines("n1");
    await world.pods.create("p1", { node: "n1", namespace: "else" });
    const match = { podNamespace: world.namespaceName("else") };
    await world.pools.create("web", { desiredIPs: 1, reclaimPolicy: "Delete", match });
    await world.pass();
    expect(await world.show()).toEqual(["new1 active n1"]);
    world.fail({ side: "cluster", operation: "listPods", kind: "400", subject: "else", times: 0 });
    await world.pass();
    await world.pools.delete("web");
    await world.pass({ settle: true });
    expect(world.cloud.addresses()).toEqual({});
    expect(await world.pools.existing()).toEqual([]);
  });

  scenario(
    "refused EndpointSlices hold the RoutedIP that follows them, its firewall included",
    async (world) => {
      await world.machines("n1", "n2", "n3");
      await world.routedIPs.service([30080], "web", null);
      await world.routedIPs.issuer();
      world.cloud.firewall();
      await world.routedIPs.endpoints({ n1: true, n2: false });
      await world.routedIPs.create("vip", {});
      await world.pass();
      world.cloud.address(ip(1));
      await world.pools.create("a", { ips: [ip(1)] });
      world.fail({ side: "cluster", operation: "listEndpointSlices", kind: "400", subject: "shop", times: 0 });
      await world.routedIPs.endpoints({ n1: false, n2: true });
      await world.routedIPs.setPorts([30443]);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
      const { error, conditions } = await world.routedIPs.status("vip");
      expect(error).toMatch(
        /^Error listing the EndpointSlices of Service "shop\/web": Cannot list endpointslices\.discovery\.k8s\.io: .* \(400\)\.$/,
      );
      expect(conditionsText(conditions)).toBe("Ready=False (SelectorRefused) Stalled=True (SelectorRefused)");
    },
    { onlySingleRuns: "whoever watches has the list already, and is told of its changes all the same" },
  );

  scenario("a NUL ends a selector, as Kubernetes reads it", async (world) => {
    await world.machines("n1");
    await world.pods.create("p1", { node: "n1", labels: { app: "web" } });
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=web\0\0,app=other" } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });
}

/**
 * Pool `a` has ip1 on n1. Pool `b` has ip2 on n2 and the name www, and the record set `r` publishes n2 as api.example.com.
 * Pods of `a` are ready on n1 and n3, those of `b` on n2 and n4.
 */
async function twoPools(world: World, match: Match, podNamespace = "shop"): Promise<void> {
  await world.machines("n1", "n2", "n3", "n4");
  for (const node of ["n1", "n3"]) await world.pods.create(`a-${node}`, { node, labels: { app: "a" } });
  for (const node of ["n2", "n4"])
    await world.pods.create(`b-${node}`, {
      node,
      namespace: podNamespace,
      labels: { app: "web" },
      ready: node === "n2",
    });
  for (const number of [1, 2]) world.cloud.address(ip(number));
  const name = (recordName: string): object => ({ provider: "digitalocean", zone: "example.com", recordName });
  world.dns.zone("digitalocean");
  await world.pools.create("a", { ips: [ip(1)], match: { podLabel: "app=a" } });
  await world.pools.create("b", { ips: [ip(2)], match, dnsRecordSet: name("www") });
  await world.recordSets.create("r", { match, dnsRecordSet: name("api") });
  await world.pass();
  expect([await world.show("a"), await world.show("b")]).toEqual([["ip1 active n1"], ["ip2 active n2"]]);
  expect([world.dns.set("digitalocean", WWW), world.dns.set("digitalocean", "api.example.com")]).toEqual([
    ["ip2"],
    ["ext2"],
  ]);
  await world.pods.setReady("b-n4", true);
  await world.pods.setReady("b-n2", false);
  await world.pods.setReady("a-n1", false);
}

/** Gives `b` and `r` another match. */
async function edit(world: World, match: Match): Promise<void> {
  const whole = { nodeLabel: "", podNamespace: "", podLabel: "", tolerations: null, ...match };
  for (const objects of [world.pools, world.recordSets])
    await objects.edit(objects === world.pools ? "b" : "r", { match: whole });
}

/** `a` fails over in this pass; of `b` and `r` nothing changes but what their status says, then and in the next pass. */
async function expectHeld(world: World, reason: string, error: string | RegExp): Promise<void> {
  const plan = await world.plan();
  const holds = plan.holds.filter((hold) => hold.kind === "reconcile" && hold.reason === reason);
  expect(holds.map(({ object, needsPerson }) => [object.name, needsPerson])).toEqual([
    ["b", true],
    ["r", true],
  ]);
  const result = await world.pass();
  expect(world.cloudWrites()).toEqual(["assign ip1 to n3"]);
  expect(world.dnsWrites()).toEqual([]);
  expect([await world.show("a"), await world.show("b")]).toEqual([["ip1 active n3"], ["ip2 active n2"]]);
  expect(await world.nodes.annotations()).toEqual({ n2: "ip2 of shop/b", n3: "ip1 of shop/a" });
  for (const status of [await world.pools.status("b"), await world.recordSets.status("r")]) {
    if (typeof error === "string") expect(status.error).toBe(error);
    else expect(status.error).toMatch(error);
    expect(conditionsText(status.conditions)).toBe(`Ready=False (${reason}) Stalled=True (${reason})`);
    expect(status.conditions[0]?.message).toBe(status.error);
  }
  expect([exitCodeOfRun(result, { partialOk: false }), exitCodeOfRun(result, { partialOk: true })]).toEqual([3, 0]);
  await world.pass();
  expect(world.writes()).toEqual([]);
}

/** `b` and `r` are served again, by n4. */
async function expectServed(world: World): Promise<void> {
  expect(await world.show("b")).toEqual(["ip2 active n4"]);
  expect([world.dns.set("digitalocean", WWW), world.dns.set("digitalocean", "api.example.com")]).toEqual([
    ["ip2"],
    ["ext4"],
  ]);
  for (const status of [await world.pools.status("b"), await world.recordSets.status("r")]) {
    expect(status.error).toBeUndefined();
    expect(conditionsText(status.conditions)).toBe("");
  }
}
