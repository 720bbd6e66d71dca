import { refKey } from "../model/action.ts";
import type { AddressFact } from "../model/address.ts";
import { sourceNamed } from "../model/address-source.ts";
import type { Subject } from "../model/explanation.ts";
import { adviceFor, capital, whyHeld } from "../model/hold.ts";
import type { Observation } from "../model/observation.ts";
import type { Plan } from "../model/plan.ts";
import { objectKey, type Pool } from "../model/resource.ts";
import { storedDrain } from "../plan/pool-view.ts";
import { awaitsApproval, ipOf, type Planned } from "./gates.ts";

/** Returns what is known of an address or a node whatever objects there are, a sentence each. Pure. */
export function factsBeyond({ world, plan }: Planned, subject: Subject): readonly string[] {
  const ip = subject.kind === "ip" || subject.kind === "pair" ? subject.ip : undefined;
  const name = subject.kind === "node" || subject.kind === "pair" ? subject.node : undefined;
  return [
    ...(ip === undefined ? [] : addressFacts({ world, plan }, ip)),
    ...(name === undefined ? [] : machineFacts(world, name)),
  ];
}

function addressFacts({ world, plan }: Planned, ip: string): readonly string[] {
  const { providers, nodes, registry, pools } = world;
  const isNamed = pools.some(({ spec, status }) => spec.ips.includes(ip) || Object.hasOwn(status.ips, ip));
  const unnamed =
    releasedText(pools, ip) ??
    `No object names ${ip}: flipop leaves it where it is. A pool takes it once it stands in spec.ips.`;
  const nodeOf = (provider: string, machine: string): string | undefined =>
    nodes.find(({ providerID }) => registry.machineID(provider, providerID) === machine)?.name;
  const places = [...providers.values()].flatMap(({ name, addresses }): readonly string[] => {
    const fact = addresses.get(ip);
    return fact === undefined
      ? []
      : [heldText(sourceNamed(name).provider, ip, fact, (machine) => nodeOf(name, machine))];
  });
  return [...(isNamed ? [] : [unnamed]), ...leavingFacts(plan, ip), ...places];
}

/** What keeps an address in service that its object has no more, until a person approves it. */
function leavingFacts({ holds, names, pools }: Plan, ip: string): readonly string[] {
  const hasIt = new Set(
    pools.flatMap((assessment) => (ipOf({ assessment }, ip) === undefined ? [] : [refKey(assessment.object)])),
  );
  const awaiting = holds.filter(
    (hold) => hold.subject === ip && awaitsApproval(hold) && !hasIt.has(refKey(hold.object)),
  );
  if (awaiting.length === 0) return [];
  return [
    ...names.flatMap(({ fqdn, shown }) => (shown.includes(ip) ? [`${fqdn} still shows it.`] : [])),
    ...awaiting.map((hold) => {
      const advice = adviceFor(hold);
      return `${refKey(hold.object)} may not take it out of service yet. ${capital(whyHeld(hold))}${advice === undefined ? "" : ` ${advice}`}`;
    }),
  ];
}

/** What becomes of an address that an object has released; undefined for any other. */
function releasedText(pools: readonly Pool[], ip: string): string | undefined {
  const pool = pools.find(({ status }) => status.released.some((entry) => entry.ip === ip));
  if (pool === undefined) return undefined;
  const until = storedDrain(pool, ip);
  const drains = until === undefined ? "" : ` Resolvers may hand it out until ${until}.`;
  return `${pool.kind}/${objectKey(pool.meta)} has released ${ip}: it stays where it is until another address needs the machine.${drains}`;
}

function heldText(
  provider: string,
  ip: string,
  fact: AddressFact,
  nodeOf: (machine: string) => string | undefined,
): string {
  if (fact.kind === "gone") return `${provider} does not know ${ip}.`;
  if (fact.kind === "gap") return `${provider} could not be asked for ${ip}: ${fact.error}`;
  const { holderID, isLocked } = fact.address;
  const node = holderID === undefined ? undefined : nodeOf(holderID);
  const machine = `machine ${holderID}`;
  const where = holderID === undefined ? "no machine" : node === undefined ? machine : `${node} (${machine})`;
  return `${provider} has ${ip} on ${where}${isLocked ? " and is working on it" : ""}.`;
}

function machineFacts({ nodes, registry, providers }: Observation, name: string): readonly string[] {
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) return [];
  // Both families of a provider have the same machines.
  const machines = [...new Set([...providers.keys()].map((source) => sourceNamed(source).provider))].flatMap(
    (provider) => {
      const id = registry.machineID(provider, node.providerID);
      return id === undefined ? [] : [`${name} is machine ${id} of ${provider}.`];
    },
  );
  const shown = [node.addressAnnotation, node.ipv6?.addressAnnotation].flatMap((text) => text ?? []);
  return [...machines, ...shown.map((text) => `Its annotation says ${text}.`)];
}
