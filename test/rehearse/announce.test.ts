import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { IPStatus } from "../../src/model/resource.ts";
import { plan } from "../../src/plan/plan.ts";
import { announce } from "../../src/rehearse/announce.ts";
import { aNode, anObservation, aPool, known, nodes } from "../plan/builders.ts";
import { aRecordSet, dnsFacts, WWW } from "../plan/dns-builders.ts";
import { aFirewall, aRoutedIP, firewallFacts } from "../plan/firewall-builders.ts";

const A = "203.0.113.1";
const B = "203.0.113.2";

function announced(observation: Observation): Plan {
  return announce(plan(observation, {}), observation, {});
}

/** Kind, subject and what comes of it, as in `annotate-node n1 (new 1)`. */
function line(action: Action): string {
  const [kind, , ...subject] = action.id.split(" ");
  const newAddress = action.kind === "acquire-ip" ? ` is ${action.newAddress}` : "";
  if ("fqdn" in action) return `${kind} ${action.fqdn} {${action.after.addresses.join(" ")}}`;
  if (action.kind === "annotate-node") return `${kind} ${action.nodeName} ${action.after.address}`;
  if (action.kind === "assign-ip") return `${kind} ${action.ip} to ${action.after.nodeName}`;
  return `${kind} ${subject.join(" ")}${newAddress}`;
}

const lines = ({ actions, followUps }: Plan): readonly (readonly string[])[] => [
  actions.map(line),
  followUps.map(line),
];

describe("a plan that buys", () => {
  test("announces the annotation and the name that the new address gets, each time as what stands for it", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { desiredIPs: 1, dnsRecordSet: WWW } })],
      nodes: nodes(1),
      dns: [dnsFacts({ "www.example.com": ["192.0.2.9"] })],
    });
    const told = announced(observation);
    expect(lines(told)).toEqual([
      ["acquire-ip new-1 is (new 1)"],
      ["annotate-node n1 (new 1)", "update-dns www.example.com {(new 1)}"],
    ]);
    expect(told.holds).toEqual([]);
    expect(told.planID).toBe(plan(observation, {}).planID);
  });

  test("numbers the new addresses over all pools, and puts them behind known ones in a name", () => {
    const match = (name: string): { readonly match: ReturnType<typeof aPool>["spec"]["match"] } => ({
      match: { nodeLabel: `pool=${name}`, podNamespace: "", podLabel: "", tolerations: [] },
    });
    const labelled = (name: string, droplet: number, pool: string): ReturnType<typeof aNode> =>
      aNode({ name, droplet, labels: { "topology.kubernetes.io/region": "nyc3", pool } });
    const observation = anObservation({
      pools: [
        aPool({ name: "a", spec: { desiredIPs: 2, ips: [A], ...match("a") } }),
        aPool({ name: "b", spec: { desiredIPs: 1, ...match("b") } }),
      ],
      nodes: [labelled("n1", 101, "a"), labelled("n2", 102, "a"), labelled("n3", 103, "b")],
      addresses: [known(A)],
      recordSets: [aRecordSet({ spec: { addressType: ADDRESS_ANNOTATION } })],
      dns: [dnsFacts({ "nodes.example.com": [] })],
    });
    expect(lines(announced(observation))).toEqual([
      [
        "acquire-ip new-1 is (new 1)",
        `assign-ip ${A} to n1`,
        `annotate-node n1 ${A}`,
        "acquire-ip new-1 is (new 2)",
        `update-dns nodes.example.com {${A}}`,
      ],
      ["annotate-node n2 (new 1)", "annotate-node n3 (new 2)", `update-dns nodes.example.com {${A} (new 1) (new 2)}`],
    ]);
  });

  test("for no node announces that it waits for one, where it was held before only for want of an address", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { desiredIPs: 1, dnsRecordSet: WWW } })],
      dns: [dnsFacts({ "www.example.com": [] })],
    });
    const told = announced(observation);
    expect(lines(told)).toEqual([["acquire-ip new-1 is (new 1)"], []]);
    expect(told.holds.map(({ subject, reason }) => `${subject} ${reason}`)).toEqual([
      "(new 1) NoCandidate",
      "www.example.com NothingToPublish",
    ]);
  });

  test("announces the calls that all of it takes", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { desiredIPs: 1, dnsRecordSet: WWW } })],
      nodes: nodes(1),
      dns: [dnsFacts({ "www.example.com": [] })],
    });
    expect(plan(observation, {}).budget.map(({ calls }) => calls)).toEqual([3]);
    expect(announced(observation).budget.map(({ calls }) => calls)).toEqual([5]);
  });

  test("takes no address of the world for one that is not known yet", () => {
    const observation = anObservation({
      pools: [aPool({ spec: { desiredIPs: 2, ips: ["240.0.0.1"], dnsRecordSet: WWW } })],
      nodes: nodes(2),
      addresses: [known("240.0.0.1")],
      dns: [dnsFacts({ "www.example.com": [] })],
    });
    const [first = [], later = []] = lines(announced(observation));
    expect(first).toContain("assign-ip 240.0.0.1 to n1");
    expect(later).toEqual(["annotate-node n2 (new 1)", "update-dns www.example.com {240.0.0.1 (new 1)}"]);
  });
});

describe("a plan that opens a firewall", () => {
  test("for an address that is bought announces assignment, annotation and name behind it", () => {
    const observation = anObservation({
      pools: [aRoutedIP({ spec: { region: "nyc3", dnsRecordSet: WWW } })],
      nodes: nodes(1),
      dns: [dnsFacts({ "www.example.com": [] })],
      firewalls: [firewallFacts([aFirewall()])],
    });
    expect(lines(announced(observation))).toEqual([
      ["open-ports web", "add-to-firewall web", "acquire-ip new-1 is (new 1)"],
      ["annotate-node n1 (new 1)", "update-dns www.example.com {(new 1)}"],
    ]);
  });
});

describe("a plan that leaves something for its second round", () => {
  test("announces the address that leaves once another one of its name serves, and no longer calls it held", () => {
    const active = (droplet: number): IPStatus => ({
      state: "active",
      nodeName: `n${droplet - 100}`,
      providerID: `digitalocean://${droplet}`,
    });
    const C = "203.0.113.3";
    const D = "203.0.113.4";
    // The machines of C and D are gone, so that these two wait for nobody.
    const status = { ips: { [A]: active(101), [B]: active(102), [C]: active(103), [D]: active(104) } };
    const observation = anObservation({
      pools: [aPool({ spec: { ips: [C, D], dnsRecordSet: WWW }, status })],
      nodes: nodes(2).map((node, at) => ({
        ...node,
        addressAnnotation: [A, B][at] ?? "",
        poolAnnotation: "ingress/web",
      })),
      addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" }), known(C), known(D)],
      dns: [dnsFacts({ "www.example.com": [A, B] })],
    });
    const first = plan(observation, {});
    expect(first.holds.map(({ subject, reason }) => `${subject} ${reason}`)).toEqual([`${B} LastServing`]);
    const told = announced(observation);
    expect(told.holds).toEqual([]);
    expect(told.followUps.map(({ kind }) => kind)).toEqual(["assign-ip", "annotate-node", "update-dns", "unassign-ip"]);
  });

  test("without anything to do announces nothing, and stays as it is", () => {
    const observation = anObservation({ pools: [aPool({ spec: { ips: [A] } })], addresses: [known(A)] });
    const first = plan(observation, {});
    expect(announce(first, observation, {})).toEqual(first);
  });
});
