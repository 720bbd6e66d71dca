import { DNS_NAMES } from "../fake/dns-account.ts";
import type { WorldKind } from "./backend.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import { chosen, type Select } from "./run-scenarios.ts";
import type { Scenario } from "./scenario.ts";

/**
 * Chooses one in `oneIn` of the scenarios it is given, group by group, counted over all of them; of the groups named in `whole` every one. Of those that
 * differ in their DNS provider alone one counts: the first such scenario is that of the first provider, the next one that of the next.
 */
export function partOf(oneIn: number, whole: readonly string[] = []): Select {
  let place = 0;
  let turn = 0;
  return (scenarios, group) => {
    if (PLAYS_ALL || whole.includes(group)) return scenarios;
    const families = [...Map.groupBy(scenarios, ({ title }) => withoutProvider(title)).values()];
    const one = families.flatMap((family) => family[family.length > 1 ? turn++ % family.length : 0] ?? []);
    const chosen = new Set(one.filter(() => ++place % oneIn === 0));
    return scenarios.filter((scenario) => chosen.has(scenario));
  };
}

const PROVIDER = new RegExp(`\\b(${DNS_NAMES.join("|")})\\b`, "g");

/** The title with a gap where it names its one DNS provider. What goes from one provider to another is like nothing else. */
export function withoutProvider(title: string): string {
  return title.match(PROVIDER)?.length === 1 ? title.replace(PROVIDER, "…") : title;
}

/** Chooses a sixth of the scenarios, for every save and commit. */
export function forEverySave(): Select {
  return partOf(6);
}

/** Chooses every second scenario of what {@link forEverySave} leaves out, so that two files play it side by side; each at one DNS provider. */
export function notForEverySave(half: "odd" | "even"): Select {
  const rest = without("memory", forEverySave());
  const each = partOf(1);
  let place = 0;
  return (scenarios, group) =>
    rest(each(scenarios, group), group).filter(() => {
      place += 1;
      return place % 2 === (half === "odd" ? 1 : 0);
    });
}

/** Chooses what is played on a real API server: every twenty-fourth one; RoutedIPs, what kubectl prints, and what plays nowhere else whole. */
export function onCluster(): Select {
  return and(partOf(24, ["routed IPs", "what kubectl prints"]), (worlds) => worlds.every((kind) => kind === "cluster"));
}

/**
 * Chooses one in twenty-four of what {@link onCluster} leaves out, and all that cannot be played in memory: what is played with the real adapters on the embedded world.
 * In memory every other scenario is played, at one DNS provider at least.
 */
export function onSandbox(): Select {
  const part = partOf(24);
  const others = without("cluster", onCluster());
  return and(
    (scenarios, group) => part(others(scenarios, group), group),
    (worlds) => worlds.includes("sandbox") && !worlds.includes("memory"),
  );
}

/** Chooses what `select` does, and every scenario that says in which worlds it plays, and says so of these. */
function and(select: Select, isAlso: (worlds: readonly WorldKind[]) => boolean): Select {
  return (scenarios, group) => {
    const part = new Set<Scenario>(select(scenarios, group));
    return scenarios.filter(
      (scenario) => part.has(scenario) || (scenario.options.worlds !== undefined && isAlso(scenario.options.worlds)),
    );
  };
}

/** Chooses what is not played in another place. */
function without(kind: WorldKind, select: Select): Select {
  const there = new Set(
    chosen(kind, select).flatMap(({ group, scenarios }) => scenarios.map(({ title }) => `${group}: ${title}`)),
  );
  return (scenarios, group) => scenarios.filter(({ title }) => PLAYS_ALL || !there.has(`${group}: ${title}`));
}
