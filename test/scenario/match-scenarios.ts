import { expect } from "vitest";
import type { Register } from "./scenario.ts";
import { ip } from "./scenario-names.ts";
import type { NodeOptions } from "./world-nodes.ts";

type Spec = Readonly<Record<string, unknown>>;

const TAINTS: readonly (readonly [
  what: string,
  taint: Readonly<Record<string, string>>,
  tolerations: readonly Spec[],
  isMatch: boolean,
])[] = [
  ["an untolerated NoSchedule taint", { key: "a", value: "b", effect: "NoSchedule" }, [], false],
  ["an untolerated PreferNoSchedule taint", { key: "a", effect: "PreferNoSchedule" }, [], false],
  ["Equal by default, same value", { key: "a", value: "b", effect: "NoSchedule" }, [{ key: "a", value: "b" }], true],
  [
    "Equal by default, another value",
    { key: "a", value: "b", effect: "NoSchedule" },
    [{ key: "a", value: "c" }],
    false,
  ],
  ["Exists with the key", { key: "a", value: "b", effect: "NoExecute" }, [{ key: "a", operator: "Exists" }], true],
  ["Exists without a key", { key: "a", value: "b", effect: "NoExecute" }, [{ operator: "Exists" }], true],
  [
    "Exists for another effect",
    { key: "a", effect: "NoExecute" },
    [{ operator: "Exists", effect: "NoSchedule" }],
    false,
  ],
];

const SELECTORS: readonly (readonly [selector: string, labels: Readonly<Record<string, string>>, isMatch: boolean])[] =
  [
    ["tier=web", { tier: "web" }, true],
    ["tier==web,size!=small", { tier: "web" }, true],
    ["tier!=web", {}, true],
    ["tier in (web,db)", { tier: "db" }, true],
    ["tier notin (web)", { tier: "web" }, false],
    ["tier", {}, false],
    ["!tier", {}, true],
    ["size>3", { size: "4" }, true],
    ["size<3", { size: "4" }, false],
  ];

interface Pod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
}

const PODS: readonly (readonly [what: string, match: Spec, pod: Pod, isMatch: boolean])[] = [
  [
    "namespace alone, any ready pod of it",
    { podNamespace: "shop" },
    { namespace: "shop", labels: {}, ready: true },
    true,
  ],
  [
    "namespace alone, a pod of another",
    { podNamespace: "shop" },
    { namespace: "else", labels: {}, ready: true },
    false,
  ],
  [
    "label alone, in any namespace",
    { podLabel: "app=a" },
    { namespace: "else", labels: { app: "a" }, ready: true },
    true,
  ],
  [
    "both, the label missing",
    { podNamespace: "shop", podLabel: "app=a" },
    { namespace: "shop", labels: {}, ready: true },
    false,
  ],
  ["a pod that is not ready", { podLabel: "app=a" }, { namespace: "shop", labels: { app: "a" }, ready: false }, false],
];

/** Which nodes match: scenarios 68–70. */
export function matchScenarios(scenario: Register): void {
  const judge = (title: string, node: NodeOptions, match: Spec, isMatch: boolean, pod?: Pod): void =>
    scenario(title, async (world) => {
      await world.namespace("else");
      world.cloud.droplet("n1");
      await world.nodes.create("n1", node);
      if (pod !== undefined) await world.pods.create("p1", { node: "n1", ...pod });
      world.cloud.address(ip(1));
      const { podNamespace } = match as { readonly podNamespace?: string };
      const real = podNamespace === undefined ? match : { ...match, podNamespace: world.namespaceName(podNamespace) };
      await world.pools.create("web", { ips: [ip(1)], match: real });
      await world.pass();
      expect(await world.show()).toEqual([isMatch ? "ip1 active n1" : "ip1 unassigned (NoCandidate)"]);
    });
  for (const [what, taint, tolerations, isMatch] of TAINTS) {
    judge(`68 ${what}: ${isMatch ? "a match" : "no match"}`, { taints: [taint] }, { tolerations }, isMatch);
  }
  for (const [nodeLabel, labels, isMatch] of SELECTORS) {
    judge(
      `69 ${nodeLabel} ${isMatch ? "selects" : "does not select"} ${JSON.stringify(labels)}`,
      { labels },
      { nodeLabel },
      isMatch,
    );
  }
  for (const [what, match, pod, isMatch] of PODS) {
    judge(`70 ${what}: ${isMatch ? "a match" : "no match"}`, {}, match, isMatch, pod);
  }

  scenario("one ready pod among unready ones makes a match", async (world) => {
    await world.machines("n1");
    for (const [index, ready] of [false, true, false].entries()) {
      await world.pods.create(`p${index}`, { node: "n1", labels: { app: "a" }, ready });
    }
    world.cloud.address(ip(1));
    await world.pools.create("web", { ips: [ip(1)], match: { podLabel: "app=a" } });
    await world.pass();
    expect(await world.show()).toEqual(["ip1 active n1"]);
  });
}
