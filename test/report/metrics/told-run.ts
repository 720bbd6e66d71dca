import type { ObjectRef } from "../../../src/model/action.ts";
import type { AddressFact } from "../../../src/model/address.ts";
import { LAST_SUCCESS_ANNOTATION } from "../../../src/model/lease-annotations.ts";
import { CALL_BOUNDS, histogramOf, type MeterReading } from "../../../src/model/meter.ts";
import type { Observation } from "../../../src/model/observation.ts";
import type { Gap, Plan } from "../../../src/model/plan.ts";
import type { PassResult, RunEnd } from "../../../src/model/run.ts";
import { afterFailureWithDNS } from "../dns-world.ts";
import { anIssuer, aRoutedIP, aService, onWorker, withRoutedIPs } from "../routed-world.ts";
import { applied, aRun, failed } from "../runs.ts";
import { NOW_MS } from "../world.ts";

/** What DigitalOcean's meter shows after a list and a failed assignment. */
const METER: MeterReading = {
  provider: "digitalocean",
  calls: [
    { operation: "assign", outcome: "error", count: 1 },
    { operation: "list", outcome: "success", count: 2 },
  ],
  durations: [
    { operation: "assign", seconds: histogramOf([1.5], CALL_BOUNDS) },
    { operation: "list", seconds: histogramOf([0.02, 12], CALL_BOUNDS) },
  ],
  rateLimit: { limit: 5000, remaining: 4990 },
};

/**
 * A run in a world with names: one address could not be moved, the rest was done; one pool is suspended, one record set cools off and one has grace. A routed IP has the
 * name of a pool, and its address was assigned.
 */
export function aToldRun(changes: Partial<RunEnd> = {}): RunEnd {
  return {
    result: aResult(),
    endedAtMs: NOW_MS + 2500,
    durationMs: 2500,
    meters: [METER],
    notes: { [LAST_SUCCESS_ANNOTATION]: "2026-08-01T11:00:00Z" },
    ...changes,
  };
}

function aResult(): PassResult {
  const world = withRoutedWeb(afterFailureWithDNS());
  const timing = { observeMs: 120, planMs: 5, applyMs: 900, reportMs: 30, failoverSeconds: [61.5] };
  const run = aRun(
    world,
    world,
    (action) => {
      if (action.kind === "move-ip") return { ...failed(action), acceptedAtMs: NOW_MS };
      return action.kind === "assign-ip" ? { ...applied(action), acceptedAtMs: NOW_MS } : applied(action);
    },
    { timing },
  );
  const [object] = run.remaining.pools.map((pool) => pool.object);
  if (object === undefined) throw new Error("the world has no pool");
  const hold = { object, subject: "203.0.113.30", detail: "", needsPerson: false, kind: "assign-ip" } as const;
  const holds = [
    ...run.remaining.holds,
    { ...hold, reason: "Grace", notBeforeMs: NOW_MS + 30_000 },
    { ...hold, reason: "Grace", notBeforeMs: NOW_MS + 10_000 },
    { ...hold, reason: "CoolOff", notBeforeMs: NOW_MS + 45_000 },
  ] as const;
  const gaps: readonly Gap[] = [
    { provider: "cloudflare", about: ["name"], subject: "www.example.net", error: "timeout" },
  ];
  const suspended = { source: "object", by: "ana", why: "maintenance 4711", untilMs: NOW_MS + 7_200_000 } as const;
  const pools = run.remaining.pools.map((pool) => (pool.object.name === "mail" ? { ...pool, suspended } : pool));
  return { ...run, remaining: { ...run.remaining, pools, holds, gaps, ...ungranted(object) } };
}

/** Puts a routed IP ingress/web beside the pool of that name; its address is free, and worker-4 can have it. That of another one is on worker-5. */
function withRoutedWeb(world: Observation): Observation {
  const { digitalocean } = Object.fromEntries(world.providers);
  if (digitalocean === undefined) throw new Error("the world has no provider");
  const ip = "203.0.113.50";
  const address = { ip, region: "ams3", isLocked: false };
  const placed = { ...address, ip: "203.0.113.51", holderID: "5" };
  const more = [address, placed].map((one): [string, AddressFact] => [one.ip, { kind: "known", address: one }]);
  const addresses = new Map([...digitalocean.addresses, ...more]);
  const facts = {
    routedIPs: [
      aRoutedIP("web", { spec: { address: ip } }),
      aRoutedIP("smtp", { spec: { address: placed.ip }, status: onWorker(placed.ip, 5) }),
    ],
    issuers: [anIssuer("public")],
    services: [aService("web", [30080]), aService("smtp", [30025])],
    podsOn: { "ingress/web": ["worker-4"], "ingress/smtp": ["worker-5"] },
  };
  return withRoutedIPs({ ...world, providers: new Map([["digitalocean", { ...digitalocean, addresses }]]) }, facts);
}

/** A name that is not granted, and an entry of an annotation that cannot be read. */
function ungranted(object: ObjectRef): Pick<Plan, "grants"> {
  const sentence = `namespace ${object.namespace} is not granted the name www.example.com`;
  const missing = { object, grant: "names", effect: "kept", reason: "NotGranted", sentence } as const;
  const annotation = "flipop.digitalocean.com/names";
  const problem = { namespace: object.namespace, annotation, entry: "WWW", why: "write it in lower case" };
  return { grants: { mode: "require", missing: [missing, missing], problems: [problem] } };
}
