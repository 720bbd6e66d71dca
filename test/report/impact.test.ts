import { describe, expect, test } from "vitest";
import type { DNSFacts } from "../../src/model/dns.ts";
import type { Firewall } from "../../src/model/firewall.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Pool, PublishedName, RecordSet } from "../../src/model/resource.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { impactOf } from "../../src/report/text/summary.ts";
import { anObservation, aNode as aPlanNode, aPool, known } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts, memoryOf } from "../plan/firewall-builders.ts";
import { schemaErrors } from "./schemas.ts";
import { planOf } from "./world.ts";

const A = "203.0.113.1";
const layout = { palette: PLAIN, all: false, wide: false } as const;
const n1 = aPlanNode({ addresses: [{ type: "ExternalIP", address: "198.51.100.1" }] });
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

  test("is told in the text and in JSON, and nothing is called untouched", () => {
    const plan = planOf(behind(aFirewall({ machineIDs: ["900"] })));
    const text = renderPlan(plan, layout);
    expect(text).toContain(
      "Impact: this touches what flipop did not make:\n  ! firewall web opens tcp/80 for 1 machine that is no node of this cluster.\n",
    );
    expect(text).not.toContain("nothing healthy");
    const document = JSON.parse(JSON.stringify(planDocument(plan)));
    expect(schemaErrors(document, "Plan")).toEqual([]);
    expect(document.impact).toEqual([
      {
        object: { kind: "routedip", namespace: "ingress", name: "vip" },
        subject: "firewall web",
        touches: "others",
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
      "www.example.com shows 192.0.2.9, which flipop did not write; it is replaced",
    ]);
    expect(
      messages(world(dnsFacts({ "www.example.com": ["192.0.2.8", "192.0.2.9", A] }), [pool(published([A]))])),
    ).toEqual(["www.example.com shows 192.0.2.8 and 192.0.2.9, which flipop did not write; they are replaced"]);
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
      "nodes.example.com shows 192.0.2.9, which flipop did not write; it is removed",
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
  expect(renderPlan(planOf(observation), layout)).toContain(`Impact: this hurts something healthy:
  ! move ${A} from machine 900 to n1: whatever uses it there would lose it.
Impact: this touches what flipop did not make:
  ! www.example.com shows 192.0.2.9, which flipop did not write; it is replaced.
`);
});
