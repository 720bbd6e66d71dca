import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import type { Observation } from "../../src/model/observation.ts";
import { ProviderRegistry, type ProviderTraits } from "../../src/model/provider.ts";
import type { Simulation } from "../../src/model/simulation.ts";
import { editWorld } from "../../src/rehearse/edited-world.ts";
import { ASSUMED, forward } from "../../src/rehearse/forward.ts";
import { simulate } from "../../src/rehearse/simulate.ts";
import { anObservation, aPool, known, nodes } from "../plan/builders.ts";
import { dnsFacts, WWW } from "../plan/dns-builders.ts";

const SIX = "digitalocean IPv6";
const IPS_SIX = Array.from({ length: 6 }, (_, at) => `2001:db8::${at + 1}`);
const IPS = Array.from({ length: 6 }, (_, at) => `203.0.113.${at + 1}`);
const TERMS = { horizonMs: 2 * 60 * 60_000, assumed: ASSUMED };
/** The first six nodes by name, which carry the addresses. */
const LOST = ["n1", "n10", "n11", "n12", "n2", "n3"];

type Limits = Pick<ProviderTraits, "allowance" | "hourlyCalls">;

function withoutLimits({ allowance: _, hourlyCalls: _hourly, ...traits }: ProviderTraits): ProviderTraits {
  return traits;
}

/** DigitalOcean as it is, but for its limits. */
function limited(limits: Limits): ProviderRegistry {
  const traits = PROVIDERS.get("digitalocean");
  if (traits === undefined) throw new Error("no traits");
  return new ProviderRegistry([{ ...withoutLimits(traits), ...limits }], PROVIDERS.placeLabels);
}

/** Six addresses at rest on six of twelve nodes, which are lost at once. A move takes two calls, and one read confirms all of them. */
function told(limits: Limits, hasName = false): Simulation {
  const before: Observation = {
    ...anObservation({
      pools: [aPool({ spec: { ips: IPS, ...(hasName ? { dnsRecordSet: WWW } : {}) } })],
      nodes: nodes(12),
      addresses: IPS.map((ip) => known(ip)),
      dns: hasName ? [dnsFacts({ "www.example.com": [] })] : [],
    }),
  };
  return lost(before, limits);
}

/** The same for any observation that is at rest in the end. */
function lost(observation: Observation, limits: Limits): Simulation {
  const before = { ...observation, registry: limited(limits) };
  const { world } = forward(before, {}, TERMS);
  const happen = (now: Observation): Observation =>
    editWorld(
      now,
      LOST.map((node) => ({ kind: "node-state", text: "", node, state: "NotReady" })),
    );
  const happenings = [{ afterMs: 0, text: "six nodes are lost", happen }];
  return simulate(world, {}, { ...TERMS, scenario: { text: "six nodes are lost", happenings, assumed: {} } });
}

/** Seconds → how many addresses are sent to another node then. */
function movesAt({ steps, observedAtMs }: Simulation): Readonly<Record<string, number>> {
  return Object.fromEntries(
    steps.flatMap(({ atMs, actions }) => {
      const moves = actions.filter(({ kind }) => kind === "move-ip").length;
      return moves === 0 ? [] : [[String((atMs - observedAtMs) / 1000), moves]];
    }),
  );
}

describe("a limit of calls", () => {
  test("that is not reached holds nothing up", () => {
    expect(movesAt(told({ allowance: { calls: 250, ms: 60_000 } }))).toEqual({ 0: 6 });
    expect(movesAt(told({}))).toEqual({ 0: 6 });
  });

  test("holds up what it does not allow, and says until when", () => {
    const simulation = told({ allowance: { calls: 7, ms: 60_000 } });
    expect(movesAt(simulation)).toEqual({ 0: 3, 60: 3 });
    expect(simulation.calls).toMatchObject([{ calls: 14, limit: { calls: 7, ms: 60_000 } }]);
    expect(simulation.calls[0]?.perMinutePeak).toBeLessThanOrEqual(7);
    const holds = simulation.steps.flatMap((step) => step.holds);
    expect(holds.some(({ reason, notBeforeMs }) => reason === "RateLimited" && notBeforeMs !== undefined)).toBe(true);
    expect(simulation.isCutOff).toBe(false);
  });

  test("of an hour counts beside that of a minute", () => {
    const simulation = told({ allowance: { calls: 7, ms: 60_000 }, hourlyCalls: 13 });
    expect(movesAt(simulation)).toEqual({ 0: 3, 60: 2, 3600: 1 });
  });

  test("leaves a part to addresses: a name waits sooner", () => {
    // Six moves take 13 calls. The name would take less than what is left, but a tenth of the limit is not for names.
    const simulation = told({ allowance: { calls: 14, ms: 60_000 } }, true);
    expect(movesAt(simulation)).toEqual({ 0: 6 });
    expect(simulation.isCutOff).toBe(false);
    expect(simulation.names.every(({ isUnservedAtEnd }) => !isUnservedAtEnd)).toBe(true);
  });

  test("that a single change exceeds does not stop it for ever", () => {
    const simulation = told({ allowance: { calls: 1, ms: 60_000 } });
    expect(Object.values(movesAt(simulation)).reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  test("makes the time without service longer", () => {
    const [name] = told({ allowance: { calls: 7, ms: 60_000 } }, true).names;
    const [free] = told({ allowance: { calls: 250, ms: 60_000 } }, true).names;
    expect(free?.unservedMs).toBe(10_000);
    expect(name?.dead?.ms ?? 0).toBeGreaterThan(free?.dead?.ms ?? 0);
  });

  test("counts the calls for both families of a provider together, and moves the addresses of each", () => {
    const base = anObservation({
      pools: [
        aPool({ name: "four", spec: { ips: IPS } }),
        aPool({ name: "six", spec: { provider: SIX, ips: IPS_SIX } }),
      ],
      nodes: nodes(12),
      addresses: IPS.map((ip) => known(ip)),
    });
    const six = {
      name: SIX,
      addresses: new Map(IPS_SIX.map((ip) => known(ip))),
      isComplete: true,
      readAtMs: base.observedAtMs,
      addressCount: IPS_SIX.length,
    };
    const simulation = lost(
      { ...base, providers: new Map([...base.providers, [SIX, six]]) },
      { allowance: { calls: 7, ms: 60_000 } },
    );
    const moves = Object.values(movesAt(simulation));
    expect(moves.reduce((sum, count) => sum + count, 0)).toBe(12);
    expect(moves.length).toBeGreaterThan(2);
    expect(simulation.calls.map(({ provider }) => provider)).toEqual(["digitalocean"]);
    expect(simulation.calls[0]?.perMinutePeak).toBeLessThanOrEqual(7);
    const moved = simulation.steps.flatMap(({ actions }) =>
      actions.flatMap((action) => (action.kind === "move-ip" ? [action.ip.includes(":")] : [])),
    );
    expect([moved.filter((isSix) => isSix).length, moved.filter((isSix) => !isSix).length]).toEqual([6, 6]);
  });
});
