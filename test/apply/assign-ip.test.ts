import { expect, test } from "vitest";
import { assignIP } from "../../src/apply/assign-ip.ts";
import { type ApplyContext, applyContext } from "../../src/apply/context.ts";
import type { AssignIP } from "../../src/model/action.ts";
import type { ClusterWriter } from "../../src/ports/cluster.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import { anObservation } from "../plan/builders.ts";

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
};

/** An address on droplet 101, which is to go to droplet 102. */
function scene(): { readonly clock: FakeClock; readonly provider: MemoryIPProvider; readonly context: ApplyContext } {
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
  const bounds = { deadline: 60_000, signal: new AbortController().signal };
  return { clock, provider, context: applyContext(access, anObservation({}), bounds) };
}

const operations = ({ recorded }: MemoryIPProvider): readonly string[] => recorded.map(({ operation }) => operation);

test("the address is read while what must be on record is being written, and moved only then", async () => {
  const { clock, provider, context } = scene();
  const moved = assignIP(MOVE, context, clock.sleep(300));
  await clock.advance(299);
  expect(operations(provider)).toEqual(["get"]);
  expect(await clock.settle(moved)).toMatchObject({ outcome: "applied" });
  expect(operations(provider)).toEqual(["get", "assign", "get"]);
});

test("an address that somebody moved while the record took long is left alone", async () => {
  const { clock, provider, context } = scene();
  const moved = assignIP(MOVE, context, clock.sleep(5000));
  await clock.advance(1000);
  const [address] = provider.cloud.state.reserved_ips;
  if (address === undefined) expect.fail("there is no address");
  address.droplet_id = 103;
  expect(await clock.settle(moved)).toMatchObject({ outcome: "skipped", reason: "Stale" });
  expect(operations(provider)).toEqual(["get", "get"]);
});

test("nothing is moved when what must be on record cannot be written", async () => {
  const { provider, context } = scene();
  await expect(assignIP(MOVE, context, Promise.reject(new Error("read-only")))).rejects.toThrow("read-only");
  expect(operations(provider)).toEqual(["get"]);
});
