import { describe, expect, test } from "vitest";
import { type Action, isVoluntary } from "../../src/model/action.ts";
import type { DNSFacts } from "../../src/model/dns.ts";
import type { Firewall } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import { announcedActions, type NameService } from "../../src/model/plan.ts";
import type { Pool, PublishedName, RecordSet } from "../../src/model/resource.ts";
import { harmTexts, impactOf } from "../../src/report/impact.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { runSummary } from "../../src/report/text/run.ts";
import { anObservation, aNode as aPlanNode, aPool, known } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf } from "../plan/firewall-builders.ts";
import { HARM_WORLDS } from "./harm-worlds.ts";
import { applied, aRun, failed } from "./runs.ts";
import { schemaErrors } from "./schemas.ts";
import { planOf } from "./world.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";
const C = "203.0.113.3";
const object = { kind: "pool", namespace: "ingress", name: "web" } as const;
const layout = { palette: PLAIN, all: false, wide: false } as const;
const n1 = aPlanNode({ addresses: [{ type: "ExternalIP", address: "198.51.100.1" }] });
// biome-ignore lint/suspicious/noExplicitAny: a document is read as its readers read it
const documentOf = (name: string): any =>
  JSON.parse(JSON.stringify(planDocument(planOf(HARM_WORLDS[name]?.() ?? anObservation({})))));
const messages = (observation: Observation): readonly string[] =>
  impactOf(planOf(observation)).map(({ message }) => message);

function behind(
  firewall: Firewall,
  tagged: readonly string[] = [],
  pools: readonly Pool[] = [aRoutedIP({ spec: { ips: [A] } })],
): Observation {
  return anObservation({ pools, nodes: [n1], addresses: [known(A)], firewalls: [firewallFacts([firewall], tagged)] });
}

describe("a port that is opened", () => {
  test("names the machines behind the firewall that are no nodes of this cluster, attached or tagged", () => {
    expect(messages(behind(aFirewall({ machineIDs: ["101", "900"] }), ["101", "901"]))).toEqual([
      "firewall web opens tcp/80 for 2 machines that are no nodes of this cluster",
    ]);
    expect(messages(behind(aFirewall({ machineIDs: ["900"] })))).toEqual([
      "firewall web opens tcp/80 for 1 machine that is no node of this cluster",
    ]);
  });

  test("is nobody's concern where only nodes are behind the firewall, or where it is open already", () => {
    expect(messages(behind(aFirewall({ machineIDs: ["101"] })))).toEqual([]);
    expect(messages(behind(aFirewall({ open: ["tcp/80"], machineIDs: ["900"] })))).toEqual([]);
  });

  test("is told in the text and in JSON", () => {
    const plan = planOf(behind(aFirewall({ machineIDs: ["900"] })));
    const text = renderPlan(plan, layout);
    expect(text).toContain(
      "Impact: this touches what may be somebody else's:\n  ! firewall web opens tcp/80 for 1 machine that is no node of this cluster.\n",
    );
    const document = JSON.parse(JSON.stringify(planDocument(plan)));
    expect(schemaErrors(document, "Plan")).toEqual([]);
    expect(document.impact).toEqual([
      {
        object: { kind: "routedip", namespace: "ingress", name: "vip" },
        subject: "firewall web",
        class: "none",
        touches: "others",
        addresses: [],
        names: [],
        seconds: 0,
        message: "firewall web opens tcp/80 for 1 machine that is no node of this cluster",
      },
    ]);
  });
});

describe("a port that is closed", () => {
  test("names the machines that are no nodes of this cluster, too", () => {
    const status = { firewalls: [memoryOf(["tcp/80"], [])] };
    const unneeded = aRoutedIP({ ports: ["tcp/443"], spec: { ips: [A] }, status });
    expect(
      messages(behind(aFirewall({ open: ["tcp/80", "tcp/443"], machineIDs: ["101", "900"] }), [], [unneeded])),
    ).toEqual(["firewall web closes tcp/80 for 1 machine that is no node of this cluster"]);
  });
});

describe("a record that leaves a name", () => {
  const published = (addresses: readonly string[], name = "www.example.com"): PublishedName => {
    return { provider: "digitalocean", zone: "example.com", name, addresses };
  };
  const pool = (publishedDNS?: PublishedName): Pool => {
    const status = publishedDNS === undefined ? {} : { publishedDNS };
    return aPool({ spec: { ips: [A], dnsRecordSet: WWW }, status });
  };
  const world = (dns: DNSFacts, pools: readonly Pool[], recordSets: readonly RecordSet[] = []): Observation =>
    anObservation({ pools, recordSets, nodes: [n1], addresses: [known(A, { holderID: "101" })], dns: [dns] });

  test("is named where flipop did not write it", () => {
    expect(messages(world(dnsFacts({ "www.example.com": ["192.0.2.9"] }), [pool()]))).toEqual([
      "www.example.com shows 192.0.2.9, which no object has on record; it is replaced",
    ]);
    expect(
      messages(world(dnsFacts({ "www.example.com": ["192.0.2.8", "192.0.2.9", A] }), [pool(published([A]))])),
    ).toEqual(["www.example.com shows 192.0.2.8 and 192.0.2.9, which no object has on record; they are replaced"]);
  });

  test("is not named where status has it on record, nor where it is an address of the pool", () => {
    expect(messages(world(dnsFacts({ "www.example.com": ["192.0.2.9"] }), [pool(published(["192.0.2.9"]))]))).toEqual(
      [],
    );
    const lost = aPool({ spec: { ips: [A, "203.0.113.2"], dnsRecordSet: WWW } });
    expect(messages(world(dnsFacts({ "www.example.com": [A, "203.0.113.2"] }), [lost]))).toEqual([]);
  });

  test("is not named where another object wrote it and hands the name over", () => {
    const former = aRecordSet({
      isDeleting: true,
      finalizers: ["flipop.digitalocean.com/cleanup"],
      spec: { reclaimPolicy: "Delete", dnsRecordSet: { ...WWW, provider: "" } },
      status: { publishedDNS: published(["192.0.2.9"]) },
    });
    expect(messages(world(dnsFacts({ "www.example.com": ["192.0.2.9"] }), [pool()], [former]))).toEqual([]);
  });

  test("is named, too, where a name is emptied because that is asked for", () => {
    const none = { nodeLabel: "role=none", podNamespace: "", podLabel: "", tolerations: [] };
    const recordSet = aRecordSet({ spec: { whenEmpty: "Delete", match: none } });
    const observation = world(dnsFacts({ "nodes.example.com": ["192.0.2.9"] }), [], [recordSet]);
    expect(messages(observation)).toContain(
      "nodes.example.com shows 192.0.2.9, which no object has on record; it is removed",
    );
  });

  test("is not named where it stays", () => {
    expect(messages(world(dnsFacts({ "www.example.com": [A] }), [pool()]))).toEqual([]);
  });
});

test("what is hurt and what is touched are told apart, each with all of it", () => {
  const takeOver = aPool({ spec: { ips: [A], foreignHolder: "TakeOver", dnsRecordSet: WWW } });
  const observation = anObservation({
    pools: [takeOver],
    nodes: [n1],
    addresses: [known(A, { holderID: "900" })],
    dns: [dnsFacts({ "www.example.com": ["192.0.2.9"] })],
  });
  expect(renderPlan(planOf(observation), layout)).toContain(`
Impact: takeover. ${A} leaves machine 900, no node of this cluster: whatever uses it there loses it.
Impact: this touches what may be somebody else's:
  ! www.example.com shows 192.0.2.9, which no object has on record; it is replaced.
`);
});

const HARM = /^Impact: /m;

describe("the impact of a plan", () => {
  test.for(Object.entries(HARM_WORLDS))("is told in text and JSON if and only if somebody is hurt: %s", ([, world]) => {
    const plan = planOf(world());
    const actions = announcedActions(plan);
    const hurts = actions.some(isVoluntary);
    const touches = actions.some((action) => "otherMachines" in action || "unrecorded" in action);
    expect(HARM.test(renderPlan(plan, layout))).toBe(hurts || touches);
    const document = JSON.parse(JSON.stringify(planDocument(plan)));
    expect(schemaErrors(document, "Plan")).toEqual([]);
    expect(document.impact.length > 0).toBe(hurts || touches);
    expect(document.impact.some(({ class: impact }: { class: string }) => impact !== "none")).toBe(hurts);
  });

  test("has the names without service, the longest outage, and the addresses in JSON", () => {
    const [entry] = documentOf("the only holder is cordoned").impact;
    expect(entry).toEqual({
      object: { kind: "pool", namespace: "ingress", name: "web" },
      subject: "ingress/web",
      class: "relocation",
      touches: "healthy",
      addresses: ["203.0.113.10"],
      names: [{ name: "www.example.com", seconds: 10 }],
      seconds: 10,
      message:
        "203.0.113.10 leaves worker-1, which still serves. www.example.com would have no service for about 10 s: the pool has no spare address.",
    });
  });

  test("has null seconds where nothing of the plan ends an outage, and 0 where there is none", () => {
    expect(documentOf("the name is changed").impact).toMatchObject([
      { class: "reduction", names: [{ name: "www.example.com", seconds: null }], seconds: null },
    ]);
    expect(documentOf("one holder is cordoned").impact).toMatchObject([{ class: "relocation", names: [], seconds: 0 }]);
  });

  test("has what is without service already, which is no impact", () => {
    const document = documentOf("all holders are down");
    expect(document.impact).toEqual([]);
    expect(document.withoutService).toEqual([
      {
        object: { kind: "pool", namespace: "ingress", name: "web" },
        provider: "digitalocean",
        name: "www.example.com",
        addresses: ["203.0.113.10", "203.0.113.11", "203.0.113.12"],
      },
    ]);
    expect(documentOf("one holder is down").withoutService).toEqual([]);
  });

  test("is one text for each class, the worst first, over all objects", () => {
    const names = Array.from({ length: 5 }, (_, index) => `w${index}.example.com`);
    const plan = planOf(HARM_WORLDS["nothing is to do"]?.() ?? anObservation({}));
    const move = (ip: string, impact: "relocation" | "takeover"): Action => ({
      kind: "move-ip",
      id: `move-ip ${ip}`,
      object,
      reason: "HolderLost",
      requires: [],
      follows: [],
      provider: "digitalocean",
      ip,
      before: impact === "takeover" ? { machineID: "900" } : { machineID: "1", nodeName: "n1" },
      after: { machineID: "2", nodeName: "n2" },
      mustNotCarry: [],
      isHolderJudged: true,
      impact,
    });
    const services = names.map((fqdn, index) => ({
      object,
      provider: "digitalocean",
      fqdn,
      shown: [`192.0.2.${index}`],
      serving: [`192.0.2.${index}`],
    }));
    const moves = services.map(({ shown: [ip = ""] }) => move(ip, "relocation"));
    expect(harmTexts({ ...plan, names: services, actions: [...moves, move(A, "takeover")] })).toEqual([
      `takeover. ${A} leaves machine 900, no node of this cluster: whatever uses it there loses it.`,
      "relocation. 5 addresses leave nodes that still serve: 192.0.2.0, 192.0.2.1, 192.0.2.2 and 2 more. " +
        ["w0", "w1", "w2"]
          .map((name) => `${name}.example.com would have no service for about 10 s: the pool has no spare address. `)
          .join("") +
        "2 more names would have none, too.",
    ]);
  });
});

test.for<[string, Partial<NameService>, readonly string[], string | undefined]>([
  ["one address stays: none", {}, [`move ${A}`], undefined],
  ["the other one may answer, as far as anybody can say: none", { serving: [A, B] }, [`move ${A}`], undefined],
  ["the other one serves no more: a move", { serving: [A] }, [`move ${A}`], "10"],
  ["both move: a move", {}, [`move ${A}`, `move ${B}`], "10"],
  ["one moves while the other leaves the name: a move", {}, [`move ${A}`, `write ${A}`], "10"],
  ["both leave the name, and stay on their machines: none", {}, [`write ${C}`], undefined],
  ["both are gone and another one serves: the TTL", {}, [`unassign ${A}`, `unassign ${B}`, `write ${C}`], "60"],
  ["whatever it is", { ttlSeconds: 300 }, [`unassign ${A}`, `unassign ${B}`, `write ${C}`], "300"],
  [
    "both are gone and the other one comes first: a move and the TTL",
    {},
    [`unassign ${A}`, `unassign ${B}`, `assign ${C}`, `write ${C}`],
    "70",
  ],
  ["both leave and none is left: without end", {}, ["write"], "for good"],
  ["what is without service cannot lose it", { serving: [] }, [`move ${A}`, `write ${C}`], undefined],
])("the outage of a name of two addresses › %s", ([, change, steps, expected]) => {
  const name: NameService = {
    object,
    provider: "digitalocean",
    fqdn: "www.example.com",
    ttlSeconds: 60,
    shown: [A, B],
    serving: [A, B],
    ...change,
  };
  const plan = planOf(anObservation({}));
  const actions = steps.map((step) => stepAction(step, name));
  const outages = impactOf({ ...plan, names: [name], actions }).flatMap((impact) => impact.outages);
  const [outage] = outages;
  expect(outage === undefined ? undefined : String(outage.seconds ?? "for good")).toBe(expected);
});

function stepAction(step: string, { shown }: NameService): Action {
  const [verb, ip = ""] = step.split(" ");
  const common = { id: step, object, requires: [], follows: [], impact: "relocation" } as const;
  const at = { provider: "digitalocean", ip, mustNotCarry: [], isHolderJudged: true } as const;
  const [before, after] = [
    { machineID: "1", nodeName: "n1" },
    { machineID: "2", nodeName: "n2" },
  ];
  switch (verb) {
    case "move":
      return { ...common, ...at, kind: "move-ip", reason: "HolderLost", before, after };
    case "assign":
      return { ...common, ...at, kind: "assign-ip", reason: "NodeMatched", before: undefined, after };
    case "unassign":
      return { ...common, ...at, kind: "unassign-ip", reason: "AboveDesired", before, after: undefined };
    default:
      return {
        ...common,
        kind: "update-dns",
        reason: "RecordsDiffer",
        dnsProvider: "digitalocean",
        zoneText: "example.com",
        zone: { id: "example.com", name: "example.com" },
        fqdn: "www.example.com",
        before: { addresses: shown },
        after: { addresses: ip === "" ? [] : [ip], ttlSeconds: 60 },
      };
  }
}

test("a run that hurt somebody says so at the head of its summary, one that did not is as ever", () => {
  const run = (name: string): string => {
    const before = HARM_WORLDS[name]?.() ?? anObservation({});
    return runSummary(aRun(before, before, applied));
  };
  expect(run("one holder is cordoned")).toMatch(/^Relocation: 1 DNS name updated, /);
  expect(run("desiredIPs is lowered")).toMatch(/^Reduction: 1 DNS name updated, /);
  expect(run("an address is taken over")).toMatch(/^Takeover: 1 moved, /);
  expect(run("one holder is down")).toMatch(/^1 moved, /);
  const cordoned = HARM_WORLDS["one holder is cordoned"]?.() ?? anObservation({});
  expect(runSummary(aRun(cordoned, cordoned, (action) => failed(action)))).toMatch(/^\d+ failed/);
});
