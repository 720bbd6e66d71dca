import { expect, test } from "vitest";
import { providerError } from "../../src/adapters/digitalocean/api.ts";
import { assignIP, unassignIP } from "../../src/apply/assign-ip.ts";
import { type ApplyContext, applyContext } from "../../src/apply/context.ts";
import { type Preparation, UNPREPARED } from "../../src/apply/on-record.ts";
import type { AssignIP } from "../../src/model/action.ts";
import { KubeError } from "../../src/model/errors.ts";
import type { ProviderFacts } from "../../src/model/observation.ts";
import type { PoolStatus } from "../../src/model/resource.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { anObservation, aPool } from "../plan/builders.ts";

const IP = "203.0.113.1";

const MOVE: AssignIP = {
  kind: "move-ip",
  id: `move-ip pool/ingress/web ${IP}`,
  object: { kind: "pool", namespace: "ingress", name: "web" },
  reason: "HolderLost",
  requires: [],
  follows: [],
  provider: "digitalocean",
  ip: IP,
  before: { machineID: "101" },
  after: { machineID: "102", nodeName: "n2" },
  mustNotCarry: [],
  isHolderJudged: false,
};

/** Everything that must be on record is, when the work has ended. */
function onRecord(whole: Promise<unknown>): Preparation {
  return { whole, vital: whole, named: whole, kept: whole };
}

/** An address on droplet 101, which is to go to droplet 102; status does not know where it is, unless told so. */
function scene(status: Partial<PoolStatus> = {}): {
  readonly clock: FakeClock;
  readonly provider: MemoryIPProvider;
  readonly context: ApplyContext;
} {
  const clock = new FakeClock();
  const state = {
    settings: { action_delay_ms: 0 },
    droplets: [101, 102, 103].map((id) => ({ id, region: "nyc3" })),
    reserved_ips: [{ ip: IP, droplet_id: 101 }],
  };
  const provider = new MemoryIPProvider({
    cloud: digitaloceanSandbox({ now: () => clock.wallMs(), state }).cloud(),
    clock,
  });
  const lock = {
    isHeld: () => true,
    lost: new AbortController().signal,
    annotations: () => ({}),
    noteAcquisition: async () => true,
    annotate: async () => undefined,
  };
  const access = {
    cluster: { now: () => clock.wallMs() } as ClusterWriter,
    providers: new Map([["digitalocean", { kind: "usable", provider } as const]]),
    dnsProviders: new Map(),
    firewallProviders: new Map(),
    clock,
    lock,
  };
  const bounds = { deadlineMs: 60_000, signal: new AbortController().signal };
  return { clock, provider, context: applyContext(access, anObservation({ pools: [aPool({ status })] }), bounds) };
}

const operations = ({ recorded }: MemoryIPProvider): readonly string[] => recorded.map(({ operation }) => operation);

test("the address is read while what must be on record is being written, and moved only then", async () => {
  const { clock, provider, context } = scene();
  const moved = assignIP(MOVE, context, onRecord(clock.sleep(300)));
  await clock.advance(299);
  expect(operations(provider)).toEqual(["get"]);
  expect(await clock.settle(moved)).toMatchObject({ outcome: "applied" });
  expect(operations(provider)).toEqual(["get", "assign", "get"]);
});

test("a move from a machine on record waits for what would be lost for good, and not for the next machine to be on record", async () => {
  const { clock, provider, context } = scene({ ips: { [IP]: { state: "active", providerID: "digitalocean://101" } } });
  const moved = assignIP(MOVE, context, {
    ...UNPREPARED,
    vital: clock.sleep(300),
    whole: new Promise(() => undefined),
  });
  await clock.advance(299);
  expect(operations(provider)).toEqual(["get"]);
  expect(await clock.settle(moved)).toMatchObject({ outcome: "applied" });
  expect(operations(provider)).toEqual(["get", "assign", "get"]);
});

test.each([
  ["just now, where the provider has lately asked for no calls", 500, -30_000, ["assign", "get"]],
  ["some seconds ago", 2001, -30_000, ["get", "assign", "get"]],
  ["just now, where it asked for no calls long ago", 500, -60_001, ["get", "assign", "get"]],
] as const)("a move of an address that was read %s", async (_case, ageMs, limitMs, expected) => {
  const { clock, provider, context } = scene();
  context.readAtMs.set("digitalocean", clock.wallMs() - ageMs);
  context.limits.set("digitalocean", clock.wallMs() + limitMs);
  expect(await clock.settle(assignIP(MOVE, context, UNPREPARED))).toMatchObject({ outcome: "applied" });
  expect(operations(provider)).toEqual(expected);
});

test.each([
  ["not on record", {}],
  ["another one on record", { ips: { [IP]: { state: "active", providerID: "digitalocean://103" } } }],
] as const)("a move waits until the next machine is on record with the present one %s", async (_case, status) => {
  const { clock, provider, context } = scene(status);
  const moved = assignIP(MOVE, context, { ...UNPREPARED, whole: clock.sleep(300) });
  await clock.advance(299);
  expect(operations(provider)).toEqual(["get"]);
  expect(await clock.settle(moved)).toMatchObject({ outcome: "applied" });
});

test("what the provider accepted and then says failed is told in a sentence", async () => {
  const { clock, provider, context } = scene();
  provider.cloud.state.settings.fail_next_actions = 1;
  const outcome = await clock.settle(assignIP(MOVE, context, UNPREPARED));
  const message = `DigitalOcean accepted the change of ${IP} and then reported that it failed.`;
  expect(outcome).toMatchObject({ outcome: "failed", error: { message } });
});

/** The only address of the account, for a hand that changes it. */
function stored({ cloud }: MemoryIPProvider): { droplet_id: number | null; locked?: boolean } {
  const [address] = cloud.state.reserved_ips;
  if (address === undefined) throw new Error("there is no address");
  return address;
}

test("an address that somebody moved while the record took long is left alone, and known to be where it is", async () => {
  const { clock, provider, context } = scene();
  const moved = assignIP(MOVE, context, onRecord(clock.sleep(5000)));
  await clock.advance(1000);
  stored(provider).droplet_id = 103;
  const learned = [{ ip: IP, fact: { kind: "known", address: { holderID: "103" } } }];
  expect(await clock.settle(moved)).toMatchObject({ outcome: "skipped", reason: "Stale", learned });
  expect(operations(provider)).toEqual(["get", "get"]);
});

test("an address that somebody moved while an answer about it was under way is left alone", async () => {
  const { clock, provider, context } = scene();
  const { getAddress } = provider;
  let asked = 0;
  provider.getAddress = async (ip) => {
    const address = await getAddress.call(provider, ip);
    asked += 1;
    if (asked === 1) await clock.sleep(5000);
    return address;
  };
  const moved = assignIP(MOVE, context, onRecord(Promise.resolve()));
  await clock.advance(1000);
  stored(provider).droplet_id = 103;
  expect(await clock.settle(moved)).toMatchObject({ outcome: "skipped", reason: "Stale" });
  expect(operations(provider)).toEqual(["get", "get"]);
});

/** From now on the provider says of each assignment that the machine has a pending event. */
function makeBusy(provider: MemoryIPProvider): void {
  const busy = { operation: "assign", subject: IP, doing: "assign", scope: "reserved_ip:update", isWrite: true };
  const refusal = { failure: "busy", status: 422, reason: "pending event", isAmbiguous: false } as const;
  provider.beforeCall = (operation) => (operation === "assign" ? { throw: providerError(busy, refusal) } : undefined);
}

test("an address that somebody moved while the target was busy is left alone, and known to be where it is", async () => {
  const { clock, provider, context } = scene();
  makeBusy(provider);
  const moved = assignIP(MOVE, context, onRecord(Promise.resolve()));
  await clock.advance(100);
  stored(provider).droplet_id = 103;
  const learned = [{ ip: IP, fact: { kind: "known", address: { holderID: "103" } } }];
  expect(await clock.settle(moved)).toMatchObject({ outcome: "skipped", reason: "Stale", learned });
});

const OTHER = "203.0.113.2";

/** The other address of the account on a machine. */
function otherOn(holderID: string): ProviderFacts["addresses"] {
  const address = { ip: OTHER, region: "nyc3", holderID, isLocked: false };
  return new Map([[OTHER, { kind: "known", address }]]);
}

test("a target that gets another address while it is busy is asked for nothing more", async () => {
  const { clock, provider, context } = scene();
  let known: ProviderFacts["addresses"] = otherOn("103");
  makeBusy(provider);
  const moved = assignIP(MOVE, { ...context, addressesOf: () => known }, onRecord(Promise.resolve()));
  await clock.advance(100);
  known = otherOn("102");
  expect(await clock.settle(moved)).toMatchObject({ outcome: "skipped", reason: "NodeHasOtherIP", detail: OTHER });
  expect(operations(provider).filter((operation) => operation === "assign")).toHaveLength(1);
});

test("an address that is leaving the target as its own is planned to is no reason to wait", async () => {
  const { clock, provider, context } = scene();
  const moved = assignIP(MOVE, { ...context, addressesOf: () => otherOn("102") }, onRecord(Promise.resolve()));
  expect(await clock.settle(moved)).toMatchObject({ outcome: "applied" });
  expect(operations(provider)).toContain("assign");
});

test("an address that somebody else's change has locked is left alone, and known to be locked", async () => {
  const { clock, provider, context } = scene();
  stored(provider).locked = true;
  const learned = [{ ip: IP, fact: { kind: "known", address: { isLocked: true } } }];
  expect(await clock.settle(assignIP(MOVE, context, onRecord(Promise.resolve())))).toMatchObject({
    outcome: "skipped",
    reason: "InProgress",
    learned,
  });
});

const DOWN = providerError(
  { operation: "get", subject: IP, doing: "read", scope: "reserved_ip:read", isWrite: false },
  { failure: "malformed", status: 200, reason: "no JSON", isAmbiguous: false },
);

test.each(["move-ip", "unassign-ip"] as const)(
  "of an address that cannot be read before a %s nothing is known any more",
  async (kind) => {
    const { clock, provider, context } = scene();
    provider.beforeCall = (operation) => (operation === "get" ? { throw: DOWN } : undefined);
    const { after: _, mustNotCarry: __, ...common } = MOVE;
    const before = { machineID: "101" };
    const changed =
      kind === "move-ip"
        ? assignIP(MOVE, context, UNPREPARED)
        : unassignIP({ ...common, before, after: undefined, kind: "unassign-ip" }, context);
    expect(await clock.settle(changed)).toMatchObject({
      outcome: "failed",
      learned: [{ ip: IP, fact: { kind: "gap" } }],
    });
  },
);

test("where an address has gone is known although its holder cannot be read", async () => {
  const { clock, provider, context } = scene({ ips: { [IP]: { state: "active", nodeName: "n1" } } });
  stored(provider).droplet_id = 103;
  const unread = new KubeError({
    failure: "timeout",
    status: 500,
    operation: "read",
    subject: "n1",
    message: "no answer",
  });
  const cluster = { ...context.cluster, readNode: () => Promise.reject(unread) };
  const moved = assignIP({ ...MOVE, isHolderJudged: true }, { ...context, cluster }, UNPREPARED);
  const learned = [{ ip: IP, fact: { kind: "known", address: { holderID: "103" } } }];
  expect(await clock.settle(moved)).toMatchObject({ outcome: "failed", error: unread, learned });
});

test("nothing is moved when what must be on record cannot be written", async () => {
  const { provider, context } = scene();
  await expect(assignIP(MOVE, context, onRecord(Promise.reject(new Error("read-only"))))).rejects.toThrow("read-only");
  expect(operations(provider)).toEqual(["get"]);
});
