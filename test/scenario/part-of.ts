import type { WorldKind } from "./backend.ts";
import { chosen, type Select } from "./run-scenarios.ts";

/** `SCENARIOS=all` plays everything; else a part of it, the same at every run, so that the suite keeps to its time. */
const isAll = process.env["SCENARIOS"] === "all";

/** Chooses one in `oneIn` of the scenarios it is given, group by group, counted over all of them; of the groups named in `whole` every one. */
export function partOf(oneIn: number, whole: readonly string[] = []): Select {
  let place = 0;
  return (scenarios, group) =>
    scenarios.filter(() => {
      place += 1;
      return isAll || whole.includes(group) || place % oneIn === 0;
    });
}

/** Chooses a sixth of the scenarios, for every save and commit. */
export function forEverySave(): Select {
  return partOf(6);
}

/** Chooses every second scenario of what {@link forEverySave} leaves out, so that two files play it side by side. */
export function notForEverySave(half: "odd" | "even"): Select {
  const rest = without("memory", forEverySave());
  let place = 0;
  return (scenarios, group) =>
    rest(scenarios, group).filter(() => {
      place += 1;
      return place % 2 === (half === "odd" ? 1 : 0);
    });
}

/** Chooses what is played on a real API server: every eleventh one; RoutedIPs and what kubectl prints whole. */
export function onCluster(): Select {
  return partOf(11, ["routed IPs", "what kubectl prints"]);
}

/** Chooses a quarter of what {@link onCluster} leaves out: what is played with the real adapters on the embedded world. In memory every scenario is played. */
export function onSandbox(): Select {
  const part = partOf(4);
  const others = without("cluster", onCluster());
  return (scenarios, group) => part(others(scenarios, group), group);
}

/** Chooses what is not played in another place. */
function without(kind: WorldKind, select: Select): Select {
  const there = new Set(
    chosen(kind, select).flatMap(({ group, scenarios }) => scenarios.map(({ title }) => `${group}: ${title}`)),
  );
  return (scenarios, group) => scenarios.filter(({ title }) => isAll || !there.has(`${group}: ${title}`));
}
