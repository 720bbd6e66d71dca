import { refKey } from "../model/action.ts";
import { canonicalZone } from "../model/dns.ts";
import type { Evidence, Gate } from "../model/explanation.ts";
import type { GateID } from "../model/gates.ts";
import { selectedLabels } from "../model/label-selector.ts";
import type { NodeFacts, Taint } from "../model/node.ts";
import { podsKeyOf, summaryOn } from "../model/pods.ts";
import type { DNSRecordSetSpec, Pool, RecordSet } from "../model/resource.ts";
import { moveSubjects, nodeSubject } from "../model/retry-subject.ts";
import { SUSPEND_ANNOTATION } from "../model/suspension.ts";
import { timestamp } from "../model/time.ts";
import { dnsProvider } from "../plan/names/name-target.ts";
import { ipOf, machineIn, poolOf, type Seen } from "./gates.ts";

/** What a gate is about. */
export interface Looked {
  readonly seen: Seen;
  readonly ip?: string;
  readonly node?: NodeFacts;
}

/**
 * Returns the facts that a gate looks at, whether it holds or not; none where it was not asked. A path begins with what the fact is of, as `flipop plan --if` names it. Pure.
 *
 *   pool/ingress/web.spec.match.podLabel   node/worker-6.spec.taints   ip/203.0.113.10.holder   machine/1006.addresses
 *   provider/digitalocean   quota/digitalocean   zone/cloudflare/example.net
 */
export function evidenceOf(gate: Gate, looked: Looked): readonly Evidence[] {
  return gate.pass === undefined && gate.isUnread !== true ? [] : EVIDENCE[gate.id](looked, gate);
}

type Finding = (looked: Looked, gate: Gate) => readonly Evidence[];

const EVIDENCE: Readonly<Record<GateID, Finding>> = {
  spec: (looked) => [of(looked, "metadata.generation", looked.seen.object.meta.generation)],
  suspend: suspensions,
  provider: ({ seen }) =>
    providersOf(seen).map(([name, refusal]) => ({ path: `provider/${name}`, value: refusal ?? "answers" })),
  selects: (looked) => selectors(looked),
  address: atProvider,
  "in-use": (looked) => [
    of(looked, "spec.desiredIPs", poolOf(looked.seen)?.desired ?? null),
    ...entry(looked, "state"),
  ],
  stays: (looked) => [...entry(looked, "nodeName"), ...atProvider(looked)],
  deleting: nodeFact("metadata.deleting", ({ isDeleting }) => isDeleting),
  "provider-id": nodeFact("spec.providerID", ({ providerID }) => providerID),
  "node-label": (looked, gate) => [
    of(looked, "spec.match.nodeLabel", matchOf(looked).nodeLabel),
    ...selectedLabels(matchOf(looked).nodeLabel).flatMap((label) =>
      nodeFact(`metadata.labels[${label}]`, ({ labels }) => labels[label] ?? null)(looked, gate),
    ),
  ],
  taints: taintsAndTolerations,
  ready: ({ node }) =>
    node === undefined
      ? []
      : [since(`node/${node.name}.status.conditions[Ready]`, node.ready.isReady, node.ready.sinceMs)],
  "condition-taints": taintsAndTolerations,
  pods: (looked) => [...selectors(looked, "podNamespace", "podLabel"), ...podsOnNode(looked)],
  machine: nodeFact("spec.providerID", ({ providerID }) => providerID),
  firewall: firewallFacts,
  free: (looked) => {
    const most = poolSpec(looked)?.maxPerNode;
    return [...(most === undefined ? [] : [of(looked, "spec.maxPerNode", most)]), ...carried(looked)];
  },
  region: (looked) => [...atProvider(looked, "region"), of(looked, "spec.region", poolSpec(looked)?.region ?? "")],
  due: retries,
  turn: (looked, { about }) => [
    of(looked, "waiting", poolOf(looked.seen)?.waiting ?? []),
    ...(about === undefined ? [] : [of(looked, "next", about)]),
  ],
  pace: (looked) => [
    of(looked, "spec.maxUnavailable", unavailableText(poolSpec(looked))),
    ...entry(looked, "drainingUntil"),
  ],
  approval: (looked) => [of(looked, "spec.approval", looked.seen.object.spec.approval ?? "None")],
  "cool-off": (looked) => [
    of(looked, "spec.assignmentCoolOffSeconds", poolSpec(looked)?.assignmentCoolOffSeconds ?? 0),
    of(looked, "status.lastAssignmentTime", poolOf(looked.seen)?.status.lastAssignmentTime ?? null),
  ],
  quota: quotas,
  "dns-valid": named,
  zone: (looked) => [...named(looked), ...zoneFound(looked)],
  "name-owner": named,
  serves: (looked) => [of(looked, "matching", looked.seen.assessment.matching.length)],
};

function of({ seen }: Looked, field: string, value: Evidence["value"]): Evidence {
  return { path: `${refKey(seen.ref)}.${field}`, value };
}

function since(path: string, value: Evidence["value"], sinceMs: number | undefined): Evidence {
  return { path, value, ...(sinceMs === undefined ? {} : { sinceMs }) };
}

function nodeFact(field: string, read: (node: NodeFacts) => Evidence["value"]): Finding {
  return ({ node }) => (node === undefined ? [] : [{ path: `node/${node.name}.${field}`, value: read(node) }]);
}

function poolSpec({ seen }: Looked): Pool["spec"] | undefined {
  return "status" in seen.object && seen.ref.kind !== "dns" ? (seen.object as Pool).spec : undefined;
}

function matchOf({ seen }: Looked): RecordSet["spec"]["match"] {
  return seen.object.spec.match;
}

function suspensions(looked: Looked): readonly Evidence[] {
  const { object, world } = looked.seen;
  const annotation = object.meta.suspension;
  const onLease = world.lease.suspension;
  return [
    of(looked, "spec.suspend", object.spec.suspend),
    ...(annotation === undefined
      ? []
      : [
          since(
            `${refKey(looked.seen.ref)}.metadata.annotations[${SUSPEND_ANNOTATION}]`,
            annotation.by,
            annotation.sinceMs,
          ),
        ]),
    ...(onLease === undefined
      ? []
      : [since(`lease.metadata.annotations[${SUSPEND_ANNOTATION}]`, onLease.by, onLease.sinceMs)]),
  ];
}

/** Every provider that the object has to do with, and why it cannot be used. */
function providersOf(seen: Seen): readonly (readonly [name: string, refusal: string | undefined])[] {
  const { object, world, ref } = seen;
  const { provider, dnsRecordSet } = object.spec;
  const dns = dnsRecordSet === undefined ? [] : [dnsProviderOf(seen, dnsRecordSet)];
  const all = ref.kind === "dns" ? dns : [provider, ...dns];
  return [...new Set(all)].map((name) => [
    name,
    world.providers.get(name)?.unusable?.message ?? world.dns.get(name)?.unusable?.message,
  ]);
}

function selectors(
  looked: Looked,
  ...fields: readonly ("nodeLabel" | "podNamespace" | "podLabel")[]
): readonly Evidence[] {
  const all = fields.length === 0 ? (["nodeLabel", "podNamespace", "podLabel"] as const) : fields;
  const match = matchOf(looked);
  return all.filter((field) => match[field] !== "").map((field) => of(looked, `spec.match.${field}`, match[field]));
}

function atProvider({ seen, ip }: Looked, ...fields: readonly unknown[]): readonly Evidence[] {
  if (ip === undefined) return [];
  const facts = [...seen.world.providers.values()].flatMap(({ addresses }) => addresses.get(ip) ?? []);
  const [fact] = [...facts.filter(({ kind }) => kind === "known"), ...facts];
  if (fact === undefined) return [];
  if (fact.kind !== "known") return [{ path: `ip/${ip}`, value: fact.kind === "gap" ? fact.error : fact.kind }];
  const { holderID, isLocked, region } = fact.address;
  if (fields.includes("region")) return [{ path: `ip/${ip}.region`, value: region }];
  return [
    { path: `ip/${ip}.holder`, value: holderID === undefined ? null : `machine/${holderID}` },
    { path: `ip/${ip}.locked`, value: isLocked },
  ];
}

/** What status has, or is to have, of the address. */
function entry(looked: Looked, field: "state" | "nodeName" | "drainingUntil"): readonly Evidence[] {
  const { seen, ip } = looked;
  const found = ip === undefined ? undefined : ipOf(seen, ip);
  if (ip === undefined || found === undefined) return [];
  const { notMatchingSince } = found;
  const sinceMs = field === "nodeName" && notMatchingSince !== undefined ? Date.parse(notMatchingSince) : undefined;
  return [since(`${refKey(seen.ref)}.status.ips[${ip}].${field}`, found[field] ?? null, sinceMs)];
}

function taintsAndTolerations(looked: Looked): readonly Evidence[] {
  const { node } = looked;
  if (node === undefined) return [];
  const times = node.taints.flatMap(({ timeAddedMs }) => timeAddedMs ?? []);
  const { tolerations } = matchOf(looked);
  return [
    since(
      `node/${node.name}.spec.taints`,
      node.taints.map(taintText),
      times.length === 0 ? undefined : Math.min(...times),
    ),
    of(
      looked,
      "spec.match.tolerations",
      tolerations.map((one) => JSON.stringify(one)),
    ),
  ];
}

function taintText({ key, value, effect }: Taint): string {
  return `${key}${value === "" ? "" : `=${value}`}:${effect}`;
}

function podsOnNode({ seen, node }: Looked): readonly Evidence[] {
  const key = podsKeyOf(seen.object as Pool);
  const reading = key === undefined ? undefined : seen.world.pods.get(key);
  if (node === undefined || reading === undefined) return [];
  if (reading.kind === "refused") return [{ path: `node/${node.name}.pods`, value: reading.error }];
  const { ready, notReady, unreadySinceMs } = summaryOn(reading.byNode, node.name) ?? { ready: 0, notReady: 0 };
  return [since(`node/${node.name}.pods`, `${ready} ready, ${notReady} not ready`, unreadySinceMs)];
}

function firewallFacts({ seen }: Looked): readonly Evidence[] {
  const wish = (seen.object as Pool).firewall;
  if (wish === undefined) return [];
  const fact = seen.world.firewalls.get(wish.provider)?.firewalls.get(wish.firewall);
  const path = `firewall/${wish.firewall}`;
  if (fact?.kind !== "known") return [{ path, value: fact?.kind ?? null }];
  const { ruleCount, machineIDs } = fact.firewall;
  return [
    { path: `${path}.rules`, value: ruleCount },
    { path: `${path}.machines`, value: machineIDs.length },
  ];
}

/** What the machine of the node carries at the object's provider. */
function carried(looked: Looked): readonly Evidence[] {
  const { seen, node } = looked;
  const { provider } = seen.object.spec;
  const machine = machineIn(seen, node);
  if (machine === undefined) return [];
  const facts = [...(seen.world.providers.get(provider)?.addresses.values() ?? [])];
  const ips = facts.flatMap((fact) =>
    fact.kind === "known" && fact.address.holderID === machine ? [fact.address.ip] : [],
  );
  return [{ path: `machine/${machine}.addresses`, value: ips.toSorted() }];
}

/** The attempts that wait, of the address and the node; of the object as a whole where it is about neither. */
function retries(looked: Looked): readonly Evidence[] {
  const { seen, ip, node } = looked;
  const machineID = machineIn(seen, node);
  const wanted = [
    ...(ip === undefined ? [] : moveSubjects({ ip, isServing: true })),
    ...(node === undefined || machineID === undefined ? [] : [nodeSubject({ nodeName: node.name, machineID })]),
  ];
  return seen.assessment.status.retries
    .filter(({ subject }) => wanted.length === 0 || wanted.includes(subject))
    .map(({ subject, nextAttemptTime }) => of(looked, `status.retries[${subject}].nextAttemptTime`, nextAttemptTime));
}

function unavailableText(spec: Pool["spec"] | undefined): string | number | null {
  const most = spec?.maxUnavailable;
  if (most === undefined) return null;
  return "count" in most ? most.count : `${most.percent}%`;
}

function quotas(looked: Looked): readonly Evidence[] {
  const { seen } = looked;
  const { provider } = seen.object.spec;
  const { addressCount, addressLimit } = seen.world.providers.get(provider) ?? {};
  return [
    of(looked, "spec.desiredIPs", poolOf(seen)?.desired ?? null),
    { path: `quota/${provider}.used`, value: addressCount ?? null },
    { path: `quota/${provider}`, value: addressLimit ?? null },
  ];
}

/** What the object asks for, and since when it does. */
function named(looked: Looked): readonly Evidence[] {
  const { dnsRecordSet } = looked.seen.object.spec;
  if (dnsRecordSet === undefined) return [];
  const { zone, recordName } = dnsRecordSet;
  return [
    of(looked, "spec.dnsRecordSet.provider", dnsProviderOf(looked.seen, dnsRecordSet)),
    of(looked, "spec.dnsRecordSet.zone", zone),
    of(looked, "spec.dnsRecordSet.recordName", recordName),
    of(looked, "metadata.creationTimestamp", timestamp(looked.seen.object.meta.createdAtMs)),
  ];
}

/** What the provider shows of the zone: its id, `missing`, or why it could not be read; and the zone that is written nearly so. */
function zoneFound({ seen }: Looked): readonly Evidence[] {
  const { dnsRecordSet } = seen.object.spec;
  if (dnsRecordSet === undefined) return [];
  const provider = dnsProviderOf(seen, dnsRecordSet);
  const zone = canonicalZone(dnsRecordSet.zone);
  const fact = seen.world.dns.get(provider)?.zones.get(zone);
  const path = `zone/${provider}/${zone}`;
  if (fact === undefined) return [];
  if (fact.kind === "known") return [{ path, value: fact.zone.id }];
  if (fact.kind === "gap") return [{ path, value: fact.error }];
  return [{ path, value: "missing" }, ...(fact.near === undefined ? [] : [{ path: `${path}.near`, value: fact.near }])];
}

function dnsProviderOf({ object, world, ref }: Seen, spec: DNSRecordSetSpec): string {
  return dnsProvider(spec, world.registry, ref.kind === "dns" ? object.spec.provider : "");
}
