import type { Pool } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import { type FirewallView, onRecord, viewFirewalls } from "./firewall-truth.ts";
import type { World } from "./world.ts";

/** What really happened to firewalls, as no process remembers it. A part is `ID PORTS` or `ID MACHINE`. */
export class FirewallRecords {
  /** Every part that an accepted call of the program brought and none has taken away since. */
  readonly added: Set<string> = new Set();
  /** Those among them that nobody can know of any more, or that somebody else took away meanwhile: they may stay for ever. */
  readonly abandoned: Set<string> = new Set();
  /** Parts that somebody else added to a firewall that was there. */
  readonly byHand: Set<string> = new Set();
  /** Ids of firewalls that an object asked for at any time. */
  readonly everNamed: Set<string> = new Set();
  /** When somebody else last changed a firewall, by its id, and when any was, milliseconds. */
  readonly changedMs: Map<string, number> = new Map();
  lastChangedMs = 0;
  readonly #world: World;
  #before: { readonly views: readonly FirewallView[]; readonly known: ReadonlySet<string> } = {
    views: [],
    known: new Set(),
  };

  constructor(world: World) {
    this.#world = world;
  }

  /** What is there and on record; to be called before an event. */
  beforeEvent(): void {
    this.#before = { views: viewFirewalls(this.#world), known: this.recorded() };
  }

  /** What an event changed. */
  afterEvent(): void {
    const now = new Map(viewFirewalls(this.#world).map((view) => [view.id, view]));
    const known = this.recorded();
    const nowMs = this.#world.nowMs();
    for (const before of this.#before.views) this.#changed(before, now.get(before.id));
    if (now.size !== this.#before.views.length) this.lastChangedMs = nowMs;
    for (const part of this.#before.known) if (!known.has(part)) this.abandoned.add(part);
    this.noteNames();
  }

  #changed(before: FirewallView, after: FirewallView | undefined): void {
    const parts = after?.parts ?? new Set<string>();
    for (const part of before.parts) if (!parts.has(part)) this.abandoned.add(`${before.id} ${part}`);
    for (const part of parts) if (!before.parts.has(part)) this.byHand.add(`${before.id} ${part}`);
    if (JSON.stringify(plain(before)) === JSON.stringify(after && plain(after))) return;
    this.changedMs.set(before.id, this.#world.nowMs());
    this.lastChangedMs = this.#world.nowMs();
  }

  /** Takes in which firewalls are asked for now. */
  noteNames(): void {
    const wanted = new Set(this.#world.pools().flatMap(({ firewall }) => firewall?.firewall ?? []));
    for (const { id, name } of viewFirewalls(this.#world))
      if (wanted.has(id) || wanted.has(name)) this.everNamed.add(id);
  }

  /** A call that had its effect. */
  accepted({ operation, subject, args }: SimCall, before: FirewallView, after: FirewallView): void {
    for (const part of before.parts) if (!after.parts.has(part)) this.added.delete(`${subject} ${part}`);
    if (operation !== "open-ports" && operation !== "add-machines") return;
    for (const part of (args as readonly string[]).filter((one) => after.parts.has(one))) {
      const key = `${subject} ${part}`;
      const isOthers = before.parts.has(part) && !this.added.has(key);
      this.added.add(key);
      if (isOthers) this.abandoned.add(key);
      else this.abandoned.delete(key);
    }
  }

  /** Every part that the status of some object has on record; of others than the given one. */
  recorded(except?: Pool): ReadonlySet<string> {
    return new Set(
      this.#world
        .pools()
        .filter(({ meta }) => meta.uid !== except?.meta.uid)
        .flatMap(onRecord),
    );
  }

  /** Parts that the program added, that are there, and that somebody must know of. */
  owed(): readonly { readonly id: string; readonly part: string }[] {
    return viewFirewalls(this.#world).flatMap(({ id, parts }) =>
      [...parts]
        .filter((part) => this.added.has(`${id} ${part}`) && !this.abandoned.has(`${id} ${part}`))
        .map((part) => ({ id, part })),
    );
  }
}

function plain({ name, open, parts, covered, ruleCount }: FirewallView): unknown {
  return [name, open, [...parts], [...covered], ruleCount];
}
