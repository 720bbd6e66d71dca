import type { Listing } from "../../../../src/adapters/kube/lists.ts";
import type { Follower, WatchEvent, WatchSource } from "../../../../src/adapters/kube/watch/reflector.ts";
import type { ObservedVersion, StoreRules } from "../../../../src/adapters/kube/watch/watched-store.ts";
import { KubeError, type KubeFailure } from "../../../../src/model/errors.ts";
import type { Clock } from "../../../../src/ports/system.ts";

// A list of a cluster without a cluster: a history of objects, and watches of it that break as a test says.

/** An object of the model: what a plan sees, what flipop writes, and what nobody cares about. */
export interface Thing {
  readonly name: string;
  readonly spec: string;
  readonly own: string;
  readonly heartbeat: number;
}

/** A thing's heartbeat is invisible, and `own` is flipop's. */
export const THING_RULES: StoreRules<Thing> = {
  visible: ({ name, spec, own }) => ({ name, spec, own }),
  foreign: ({ name, spec }) => ({ name, spec }),
};

type ThingEvent = Extract<WatchEvent<Thing>, { readonly observed: unknown }>;

/** The error a source throws. */
export function failing(failure: KubeFailure): KubeError {
  return new KubeError({ failure, operation: "watch things", subject: "", status: 0, message: failure });
}

/** The cluster's side: things under one counter, with history. */
export class ModelList implements WatchSource<Thing> {
  readonly things: Map<string, ObservedVersion<Thing>> = new Map();
  /** What was told of answers that do not fit what was known. */
  readonly refusals: string[] = [];
  /** What lists and watches are refused with while it is set. */
  refusal: KubeError | undefined;
  /** What watches alone are refused with while it is set. */
  watchRefusal: KubeError | undefined;
  /** While true, watches are told nothing. */
  isDeaf: boolean = false;
  /** What it answers with while it is set when it is asked how far the cluster is. */
  lookRefusal: KubeError | undefined;
  /** True: a watch from a version that is yet to come begins, and tells nothing up to that version (kube-apiserver 1.35, verified 2026-11). Else it is refused. */
  acceptsLaterVersions: boolean = false;
  /** How long a list takes, read at its beginning. */
  listMs: number = 0;
  /** How long it takes until a watch begins or is refused. */
  watchMs: number = 0;
  lists: number = 0;
  /** How often it was asked how far the cluster is. */
  looks: number = 0;
  /** The versions from which watches began. */
  readonly watches: string[] = [];
  version: number = 100;
  #history: ThingEvent[] = [];
  #compacted = 0;
  readonly #streams = new Set<Stream>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  put(name: string, change: Partial<Omit<Thing, "name">>): ObservedVersion<Thing> {
    const before = this.things.get(name)?.facts ?? { name, spec: "", own: "", heartbeat: 0 };
    const observed = { key: `\0${name}`, version: this.#next(), facts: { ...before, ...change } };
    this.things.set(name, observed);
    this.#tell({ kind: "changed", observed });
    return observed;
  }

  delete(name: string): void {
    if (!this.things.delete(name)) return;
    this.#tell({ kind: "deleted", observed: { key: `\0${name}`, version: this.#next(), facts: undefined } });
  }

  /** Forgets history: watches from before are too old. */
  compact(): void {
    this.#compacted = this.version;
    this.#history = [];
  }

  /** Puts everything back to an earlier state, as a backup of etcd does. */
  setBack(version: number, things: readonly ObservedVersion<Thing>[]): void {
    this.version = version;
    this.things.clear();
    for (const thing of things) this.things.set(thing.facts?.name ?? "", thing);
    this.compact();
    this.end(failing("unavailable"));
  }

  /** Ends all watches, in good order without an error. */
  end(error?: KubeError): void {
    for (const stream of this.#streams) stream.end(error);
    this.#streams.clear();
  }

  /** Says something on all watches. */
  say(...events: readonly WatchEvent<Thing>[]): void {
    for (const stream of this.#streams) stream.push(events);
  }

  bookmark(): void {
    this.say({ kind: "bookmark", version: String(this.version) });
    for (const stream of this.#streams) stream.from = this.version;
  }

  /** Says old news again on all watches: something that they may have said, in no order. */
  repeat(pick: (events: readonly ThingEvent[]) => ThingEvent): void {
    for (const stream of this.#streams) {
      const said = this.#history.filter(({ observed }) => Number(observed.version) > stream.from);
      if (said.length > 0) stream.push([pick(said)]);
    }
  }

  async list(known: (key: string, version: string) => Thing | undefined): Promise<Listing<ObservedVersion<Thing>>> {
    this.lists += 1;
    if (this.refusal !== undefined) throw this.refusal;
    const items = [...this.things.values()].map((one) => ({ ...one, facts: known(one.key, one.version) ?? one.facts }));
    const resourceVersion = String(this.version);
    await this.#clock.sleep(this.listMs);
    return { items, resourceVersion };
  }

  async newest(): Promise<string> {
    this.looks += 1;
    const refusal = this.refusal ?? this.lookRefusal;
    if (refusal !== undefined) throw refusal;
    return String(this.version);
  }

  async watch(version: string, { signal, take }: Follower<Thing>): Promise<void> {
    this.watches.push(version);
    if (this.watchMs > 0) await this.#clock.sleep(this.watchMs);
    const refusal = this.refusal ?? this.watchRefusal;
    if (refusal !== undefined) throw refusal;
    if (Number(version) < this.#compacted) throw failing("gone");
    if (Number(version) > this.version && !this.acceptsLaterVersions) throw failing("unavailable");
    const stream = new Stream(Number(version));
    stream.push(this.#history.filter(({ observed }) => Number(observed.version) > stream.from));
    const end = (): void => stream.end(undefined);
    signal.addEventListener("abort", end, { once: true });
    this.#streams.add(stream);
    try {
      take([]);
      for await (const events of stream.read()) take(events);
    } finally {
      signal.removeEventListener("abort", end);
      this.#streams.delete(stream);
    }
  }

  refuse(why: string, fix = ""): KubeError {
    const message = `${why}. ${fix}`;
    this.refusals.push(message);
    return new KubeError({ failure: "malformed", operation: "watch things", subject: "", status: 200, message });
  }

  #next(): string {
    this.version += 1;
    return String(this.version);
  }

  #tell(event: ThingEvent): void {
    this.#history.push(event);
    if (this.isDeaf) return;
    for (const stream of this.#streams) if (Number(event.observed.version) > stream.from) stream.push([event]);
  }
}

/** The same list as a server tells it whose versions are no numbers. */
export function withOpaqueVersions(model: ModelList): WatchSource<Thing> {
  const opaque = (version: string): string => `v${version}`;
  const hidden = (event: WatchEvent<Thing>): WatchEvent<Thing> => {
    if ("observed" in event) return { ...event, observed: renamed(event.observed) };
    return event.kind === "bookmark" ? { ...event, version: opaque(event.version) } : event;
  };
  const renamed = (one: ObservedVersion<Thing>): ObservedVersion<Thing> => ({ ...one, version: opaque(one.version) });
  return {
    list: async () => {
      const { items, resourceVersion } = await model.list(() => undefined);
      return { items: items.map(renamed), resourceVersion: opaque(resourceVersion) };
    },
    newest: async () => opaque(await model.newest()),
    watch: async (version, follower) =>
      await model.watch(version.slice(1), { ...follower, take: (events) => follower.take(events.map(hidden)) }),
    refuse: (...told) => model.refuse(...told),
  };
}

class Stream {
  /** Up to here this watch has told everything. */
  from: number;
  readonly #events: WatchEvent<Thing>[] = [];
  #news = Promise.withResolvers<void>();
  #error: KubeError | undefined;
  #isOver = false;

  constructor(from: number) {
    this.from = from;
  }

  push(events: readonly WatchEvent<Thing>[]): void {
    this.#events.push(...events);
    this.#news.resolve();
  }

  end(error: KubeError | undefined): void {
    this.#isOver = true;
    this.#error = error;
    this.#news.resolve();
  }

  async *read(): AsyncGenerator<readonly WatchEvent<Thing>[]> {
    while (!this.#isOver) {
      await this.#news.promise;
      this.#news = Promise.withResolvers();
      if (this.#events.length > 0) yield this.#events.splice(0);
    }
    if (this.#error !== undefined) throw this.#error;
  }
}
