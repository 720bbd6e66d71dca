import { annotatedOn } from "../model/annotated.ts";
import { ConfigError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import type { Observation } from "../model/observation.ts";
import type { Target } from "./target.ts";

/** Every address of the nodes, the reserved one that an annotation tells included. */
export function addressesOf(names: ReadonlySet<string>, { nodes }: Observation): readonly string[] {
  return nodes
    .filter(({ name }) => names.has(name))
    .flatMap((node) => [...node.addresses.map(({ address }) => address), ...annotatedOn(node).map(({ ip }) => ip)]);
}

/**
 * Checks that the nodes and addresses which were named are there.
 * @throws ConfigError `invalid` for one that is not, with the nearest that is
 */
export function checkExistence(targets: readonly Target[], observation: Observation): void {
  if (targets.length === 0) return;
  const { nodes, pools, providers, dns } = observation;
  const nodeNames = new Set(nodes.map(({ name }) => name));
  const ips = new Set([
    ...pools.flatMap(({ spec, status }) => [...spec.ips, ...Object.keys(status.ips)]),
    ...[...providers.values()].flatMap(({ addresses }) => [...addresses.keys()]),
    ...addressesOf(nodeNames, observation),
    ...[...dns.values()].flatMap(({ records }) =>
      [...records.values()].flatMap((fact) => (fact.kind === "known" ? fact.records.addresses : [])),
    ),
  ]);
  for (const { kind, name, text } of targets) {
    if (kind === "node" && !nodeNames.has(name)) {
      throw new ConfigError(
        "invalid",
        `There is no node named ${name} ('${text}').${meant(name, nodeNames)} kubectl get nodes lists them.`,
      );
    }
    if (kind === "ip" && !ips.has(name)) {
      throw new ConfigError(
        "invalid",
        `No object names the address ${name}, no node has it, and neither has the account ('${text}').${meant(name, ips)}`,
      );
    }
  }
}

function meant(name: string, names: ReadonlySet<string>): string {
  const near = nearest(name, [...names]);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}
