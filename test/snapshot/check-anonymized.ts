import { expect } from "vitest";
import { canonicalIPv4, canonicalIPv6 } from "../../src/model/address.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Hold, Plan } from "../../src/model/plan.ts";
import { compareText } from "../../src/model/resource.ts";
import { planWorld } from "../../src/reconcile.ts";
import { anonymize } from "../../src/snapshot/anonymize.ts";
import type { Renaming, TextKind } from "../../src/snapshot/shape.ts";
import { readSnapshot, type Snapshot } from "../../src/snapshot/snapshot.ts";

/** Texts for people, in which words are left out, and what is a hash over names. */
const LEFT_OUT = new Set(
  "planID detail error message advice held sentence why problem refusal nodeErrors entry annotation plan suspendedActions".split(
    " ",
  ),
);
/** Words of flipop. */
const WORDS = new Set(
  "kind reason state status type impact waitsFor fault grant effect mode cause expected protocol cluster source blocked reclaimPolicy ipFamily about".split(
    " ",
  ),
);
const KINDS: Readonly<Record<string, TextKind>> = {
  ...{ provider: "term", dnsProvider: "term", zone: "dns", zoneText: "dns", fqdn: "dns", recordName: "dns" },
  ...{ ports: "figure", nodes: "figure" },
};

type Rename = (key: string, text: string) => string;

function renaming(by: Renaming): Rename {
  const subject = (text: string): string => {
    // Subjects of holds and retries begin with a word of flipop, or are one.
    const [, kind = "", rest = text] =
      /^((?:pool|routedip|dns(?:-removal|-ttl)?(?:\/(?:cloudflare|digitalocean|hetzner)(?=\/))?|ip(?:-relocation|-removal)?|node|annotate)\/|firewall(?:-ports\/|-removal\/|[ /]))(.+)$/.exec(
        text,
      ) ?? [];
    return kind === "" ? by("term", text) : kind + by(kind.startsWith("firewall") ? "firewall" : "dns", rest);
  };
  const isWord = (key: string, text: string): boolean =>
    WORDS.has(key) || /^\(new |^\d+\/\d+$|^(tcp|udp|icmp|SCTP)\/\d+(-\d+)?$/.test(text);
  const rename: Rename = (key, text) => {
    // What an annotation is to say of an address that is not bought yet, beside others.
    if (text.includes("(new ") && text.includes(","))
      return text
        .split(",")
        .map((one) => rename(key, one))
        .join();
    if (isWord(key, text)) return text;
    if (key === "subject") return subject(text);
    return by(text.startsWith("k8s-") ? "firewall" : (KINDS[key] ?? "name"), text);
  };
  return rename;
}

/** A plan with other names. Ids of actions stand for their place in the plan. */
function renamed(plan: Plan, rename: Rename): unknown {
  const waiting = [...(plan.toConfirm ?? []), ...(plan.toApprove ?? []).flatMap(({ actions }) => actions)];
  const all = [...plan.actions, ...plan.followUps, ...waiting];
  const ids = new Map(all.map(({ id }, at) => [id, `#${at}`]));
  const textOf = (key: string, text: string): string =>
    ids.get(text) ?? (["requires", "follows"].includes(key) ? "elsewhere" : rename(key, text));
  const fieldsOf = (value: object, key: string): object => {
    const entries = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name));
    return Object.fromEntries(entries.map(([name, one]) => [key === "ips" ? rename("", name) : name, walk(one, name)]));
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return textOf(key, value);
    if (value instanceof Map || value instanceof Set || Array.isArray(value))
      return [...value].map((one) => walk(one, key));
    return typeof value === "object" && value !== null ? fieldsOf(value, key) : value;
  };
  return walk({ ...plan, holds: holdsInOrder(plan, rename) }, "");
}

/** A plan with its purchases first. They stand among the other actions by what stands for a new address, which is a word of flipop. */
function purchasesFirst(plan: Plan): Plan {
  const [others, purchases] = [false, true].map((wanted) =>
    plan.actions.filter(({ kind }) => (kind === "acquire-ip") === wanted),
  );
  return { ...plan, actions: [...(purchases ?? []), ...(others ?? [])] };
}

/** The holds of each object: their order is how they are told, and mixes names with words of flipop. */
function holdsInOrder({ holds }: Plan, rename: Rename): Plan["holds"] {
  const orderOf = ({ object, kind, subject, reason }: Hold): string =>
    [
      object.kind,
      rename("", object.namespace),
      rename("", object.name),
      rename("subject", subject),
      kind,
      reason,
    ].join();
  return holds.toSorted((a, b) => compareText(orderOf(a), orderOf(b)));
}

/** What of a snapshot is beside the observation. */
export function storedOf({ pools }: Observation): Snapshot["stored"] {
  return { pools: pools.filter(({ kind }) => kind === "pool"), routedIPs: [], leaseKey: "flipop/flipop" };
}

/** Checks that the plan of a world with other names is the plan of the world, with these names. */
export function checkAnonymized(observation: Observation): void {
  const { pools, recordSets } = observation;
  // An approval is a hash over names, and worth nothing in another world. What is no address sorts otherwise among addresses.
  if ([...pools, ...recordSets].some(({ meta }) => meta.approval !== undefined)) return;
  if (pools.some(({ spec }) => spec.ips.some((ip) => canonicalIPv4(ip) === undefined && canonicalIPv6(ip) !== ip)))
    return;
  const { written, by } = anonymize({ observation, stored: storedOf(observation) });
  const { registry, cluster: name } = observation;
  const other = readSnapshot(JSON.parse(JSON.stringify(written)), { name, registry });
  const { plan: before } = planWorld(observation, {});
  const { plan: after } = planWorld(other.observation, {});
  const told = (plan: Plan, rename: Rename): unknown => renamed(purchasesFirst(plan), rename);
  expect(told(after, (_, text) => text)).toEqual(told(before, renaming(by)));
}
