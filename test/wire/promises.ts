import { externalIP, internalIP, ip } from "../scenario/scenario-names.ts";
import { isWrite, type WireCall } from "./wire.ts";
import { MOST_BOUGHT, type WireStory } from "./wire-story.ts";
import { holders, published } from "./wire-truth.ts";
import type { WireWorld } from "./wire-world.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop";

/** Looks at the world after every effect of a request, and returns what was found broken so far: one sentence each. */
export function watchPromises(world: WireWorld, story: WireStory): readonly string[] {
  const broken: string[] = [];
  let before = { names: published(world), held: holders(world) };
  world.onEffect = (call, status) => {
    const now = { names: published(world), held: holders(world) };
    const found = [
      ...(story.isEnd === true ? [] : [...lost(before.held, now.held), ...emptied(before.names, now.names)]),
      ...(now.held.has(ip(1)) ? [] : ["an address that was not flipop's was given back"]),
      ...(now.held.size > 1 + MOST_BOUGHT ? [`${now.held.size} addresses are held`] : []),
      ...unserved(before.names, now, story),
    ];
    broken.push(...found.map((what) => `${what}, by ${call.key}`));
    before = now;
    if (isWrite(call) && call.server !== "kubernetes" && status < 400) checkLock(world, call, broken);
  };
  return broken;
}

type Names = Readonly<Record<string, readonly string[]>>;
type Held = ReadonlyMap<string, number | null>;

function lost(before: Held, now: Held): readonly string[] {
  return [...before.keys()].filter((address) => !now.has(address)).map((address) => `${address} was given back`);
}

function emptied(before: Names, now: Names): readonly string[] {
  return Object.keys(before)
    .filter((name) => before[name]?.length !== 0 && now[name]?.length === 0)
    .map((name) => `${name} was emptied`);
}

/** What a name shows for the first time is served at that moment. */
function unserved(
  before: Names,
  now: { readonly names: Names; readonly held: Held },
  story: WireStory,
): readonly string[] {
  const served: Names = {
    www: [...now.held].flatMap(([address, droplet]) => (story.serving.includes((droplet ?? 0) - 100) ? [address] : [])),
    inside: story.serving.map(internalIP),
    outside: story.serving.map(externalIP),
  };
  return Object.entries(now.names).flatMap(([name, addresses]) =>
    addresses
      .filter((address) => before[name]?.includes(address) !== true && served[name]?.includes(address) !== true)
      .map((address) => `${name} began to show ${address}, which nobody serves`),
  );
}

function checkLock(world: WireWorld, call: WireCall, broken: string[]): void {
  const identity = call.headers["user-agent"] ?? "nobody";
  void world
    .rest("GET", LEASE)
    .then((lease) => (lease as { spec: { holderIdentity?: string } }).spec.holderIdentity ?? "nobody")
    .then((holder) => {
      if (holder !== identity) broken.push(`${call.key} was sent by ${identity} while ${holder} held the Lease`);
    });
}
