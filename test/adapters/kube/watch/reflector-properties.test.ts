import { expect, test } from "vitest";
import { Reflector } from "../../../../src/adapters/kube/watch/reflector.ts";
import { FakeClock } from "../../../fake/fake-clock.ts";
import { Random } from "../../../simulation/random.ts";
import { failing, ModelList, THING_RULES } from "./model-list.ts";

const HISTORIES = 500;
const STEPS = 40;
const NAMES = ["a", "b", "c", "d"];

/** What a listener knows: told by nothing but announcements and its own writes. */
class Listener {
  readonly known = new Map<string, string>();
  readonly model: ModelList;
  readonly clock: FakeClock;
  readonly reflector: Reflector<{ name: string; spec: string; own: string; heartbeat: number }>;

  constructor(model: ModelList, clock: FakeClock, random: Random) {
    this.model = model;
    this.clock = clock;
    this.reflector = new Reflector({
      source: model,
      rules: THING_RULES,
      clock,
      random: () => random.next(),
      onChange: (keys) => {
        for (const key of keys) this.pending.add(key.slice(1));
      },
    });
  }

  readonly pending = new Set<string>();

  /** Looks up what was announced, and nothing else. */
  async look(): Promise<void> {
    const names = [...this.pending];
    this.pending.clear();
    const values = await this.clock.settle(this.reflector.values().catch(() => undefined));
    if (values === undefined) {
      for (const name of names) this.pending.add(name);
      return;
    }
    for (const name of names)
      this.learn(
        name,
        values.find((one) => one.name === name),
      );
  }

  learn(name: string, thing: { spec: string; own: string } | undefined): void {
    if (thing === undefined) this.known.delete(name);
    else this.known.set(name, `${thing.spec} ${thing.own}`);
  }
}

/** Something happens to the cluster, to the connection or to time. */
async function step(random: Random, listener: Listener, clock: FakeClock): Promise<void> {
  const { model } = listener;
  const name = random.pick(NAMES);
  const happenings: readonly (() => unknown)[] = [
    () => model.put(name, { spec: `s${random.between(1, 3)}` }),
    () => model.put(name, { spec: `s${random.between(1, 3)}` }),
    () => model.put(name, { heartbeat: random.between(1, 1000) }),
    () => model.delete(name),
    () => {
      model.delete(name);
      model.put(name, { spec: "new" });
    },
    () => ownWrite(random, listener, name, clock),
    () => model.repeat((events) => random.pick(events)),
    () => model.repeat((events) => random.pick(events)),
    () => model.bookmark(),
    () => model.end(random.chance(0.5) ? failing("unavailable") : undefined),
    () => model.end(failing("gone")),
    () => {
      model.compact();
      model.end();
    },
    () => {
      model.refusal = random.chance(0.3) ? failing(random.pick(["unavailable", "forbidden", "timeout"])) : undefined;
    },
    () => {
      model.listMs = random.pick([0, 0, 500, 5_000, 90_000]);
    },
    () => clock.advance(random.pick([1, 900, 3_000, 40_000, 640_000, 660_000])),
    () => clock.advance(0),
    () => overtakenResync(random, listener, clock),
  ];
  await random.pick(happenings)();
}

/** A resync is answered late: meanwhile an object ends, and history is lost or the connection breaks. */
async function overtakenResync(random: Random, { model }: Listener, clock: FakeClock): Promise<void> {
  model.listMs = 90_000;
  await clock.advance(650_000);
  model.listMs = 0;
  model.delete(random.pick(NAMES));
  if (random.chance(0.3)) model.bookmark();
  if (random.chance(0.5)) model.compact();
  if (random.chance(0.7)) model.end(random.chance(0.5) ? failing("gone") : undefined);
  await clock.advance(random.pick([0, 1_000, 40_000]));
}

/** A write whose answer comes before, with or after the event that echoes it, and sometimes never. */
async function ownWrite(random: Random, listener: Listener, name: string, clock: FakeClock): Promise<void> {
  const { model, reflector } = listener;
  if (!model.things.has(name)) return;
  const own = `o${random.between(1, 3)}`;
  const delayMs = random.pick([0, 0, 10]);
  const isLost = random.chance(0.2);
  const written = reflector.write(
    `\0${name}`,
    async () => {
      const stored = model.put(name, { own });
      await clock.sleep(delayMs);
      if (isLost) throw failing("timeout");
      return stored;
    },
    (stored) => stored,
  );
  const wasKnown = listener.known.get(name);
  await clock.settle(written.catch(() => undefined));
  // The writer knows what it wrote, and nothing else.
  if (!isLost && wasKnown !== undefined) listener.known.set(name, `${wasKnown.split(" ")[0]} ${own}`);
}

/** Plays a random history, and lets everything come to rest. */
async function play(random: Random, clock: FakeClock): Promise<Listener> {
  const model = new ModelList(clock);
  for (const name of NAMES.slice(0, random.between(0, NAMES.length))) model.put(name, { spec: "s0" });
  const listener = new Listener(model, clock, random);
  listener.reflector.start();
  for (const thing of await clock.settle(listener.reflector.values())) listener.learn(thing.name, thing);
  for (let count = 0; count < STEPS; count++) {
    await step(random, listener, clock);
    if (random.chance(0.5)) await listener.look();
  }
  model.refusal = undefined;
  await clock.advance(300_000);
  await listener.look();
  return listener;
}

test("a list kept by watches is in the end what the cluster has, and every difference was announced, over random histories", async () => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const clock = new FakeClock();
    const { model, reflector, known } = await play(new Random(seed), clock);
    const values = await reflector.values();
    const wanted = [...model.things.values()].flatMap(({ facts }) => facts ?? []);
    expect(values, `seed ${seed}`).toEqual(wanted.sort((a, b) => (a.name < b.name ? -1 : 1)));
    const learnt = values.map(({ name, spec, own }) => [name, `${spec} ${own}`]);
    expect(Object.fromEntries(known), `seed ${seed}`).toEqual(Object.fromEntries(learnt));
    reflector.close();
    // A list under way ends by itself.
    await clock.advance(90_000);
    expect(clock.sleeping(), `seed ${seed}`).toBe(0);
  }
});
