import { expect, test } from "vitest";
import type { AddressFact } from "../../src/model/address.ts";
import type { Observation } from "../../src/model/observation.ts";
import { DueLooks } from "../../src/observe/due-looks.ts";
import { Looking, type Piece, pieceKey, Readings } from "../../src/observe/looking.ts";
import { enterAll } from "../../src/observe/observe.ts";
import { ReusableFacts } from "../../src/observe/reusable-facts.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { anObservation, aPool, known } from "../plan/builders.ts";

const [MOVING, AT_REST] = ["203.0.113.1", "203.0.113.2"] as const;
const ADDRESSES = { kind: "addresses", provider: "digitalocean" } as const;

/** A world whose first address is moving from one machine, and whose second is at rest on another. */
function aWorld(): Observation {
  const addresses = [known(MOVING, { holderID: "101", isLocked: true }), known(AT_REST, { holderID: "102" })];
  return anObservation({ pools: [aPool({ spec: { ips: [MOVING, AT_REST] } })], addresses });
}

function withAddress(world: Observation, ip: string, fact: AddressFact): Observation {
  const facts = world.providers.get("digitalocean");
  if (facts === undefined) throw new Error("no facts");
  const addresses = new Map([...facts.addresses, [ip, fact]]);
  return { ...world, providers: new Map([["digitalocean", { ...facts, addresses }]]) };
}

function holders({ providers }: Observation): readonly (readonly [string, string])[] {
  return [...(providers.get("digitalocean")?.addresses ?? [])].map(([ip, fact]) => [
    ip,
    fact.kind === "known" ? `${fact.address.holderID ?? "-"}${fact.address.isLocked ? " locked" : ""}` : fact.kind,
  ]);
}

function aLook(read: (world: Observation) => Promise<Observation>): {
  readonly clock: FakeClock;
  readonly reusable: ReusableFacts;
  readonly looking: Looking;
  readonly looks: DueLooks;
} {
  const clock = new FakeClock();
  const reusable = new ReusableFacts(clock);
  const looking = new Looking([], new Readings(), clock);
  const pieces = (world: Observation): readonly Piece[] => [
    {
      ...ADDRESSES,
      asked: "",
      read: async () => {
        reusable.look(ADDRESSES);
        const { providers } = await read(world);
        return (observation) => ({ ...observation, providers });
      },
    },
  ];
  return { clock, reusable, looking, looks: new DueLooks(looking, reusable, pieces) };
}

test("what is moving is looked at when its wait is over, and nobody waits for the look", async () => {
  const { clock, reusable, looking, looks } = aLook(async (world) =>
    withAddress(world, MOVING, known(MOVING, { holderID: "102" })[1]),
  );
  const world = aWorld();
  reusable.look(ADDRESSES);
  reusable.keep(world);
  expect(looks.nextInMs()).toBe(250);
  looks.begin(world);
  expect(looking.isLookingAt(pieceKey(ADDRESSES))).toBe(false);
  await clock.settle(clock.sleep(250));
  expect(looks.nextInMs()).toBe(0);
  looks.begin(world);
  expect([looking.isLookingAt(pieceKey(ADDRESSES)), looking.untaken, looks.nextInMs()]).toEqual([true, [], undefined]);
  await looking.whole();
  expect(holders(enterAll(world, looking.take()))).toEqual([
    [MOVING, "102"],
    [AT_REST, "102"],
  ]);
});

test("what was learned of an address while the look was under way stands: it may be newer", async () => {
  const { clock, reusable, looking, looks } = aLook(async (world) => world);
  const world = aWorld();
  reusable.look(ADDRESSES);
  reusable.keep(world);
  await clock.settle(clock.sleep(250));
  looks.begin(world);
  await looking.whole();
  const later = withAddress(world, AT_REST, known(AT_REST, { holderID: "103" })[1]);
  const entered = enterAll(later, looking.take());
  expect(holders(entered)).toEqual([
    [MOVING, "101 locked"],
    [AT_REST, "103"],
  ]);
  reusable.keep(entered, looking);
  expect(looks.nextInMs()).toBe(500);
});

test("what became due since it was looked at last stays due, however often a pass takes over what it knows", async () => {
  const { clock, reusable, looking, looks } = aLook(async (world) => world);
  reusable.look(ADDRESSES);
  reusable.keep(aWorld(), looking);
  await clock.settle(clock.sleep(300));
  const world = aWorld();
  for (let count = 0; count < 3; count += 1) {
    reusable.keep(world, looking);
    await clock.settle(clock.sleep(10));
  }
  expect(looks.nextInMs()).toBe(470);
  await clock.settle(clock.sleep(600));
  reusable.keep(world, looking);
  expect(looks.nextInMs()).toBe(0);
});
