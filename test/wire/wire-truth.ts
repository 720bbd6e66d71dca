import { ADDRESS_ANNOTATION } from "../../src/model/node-annotations.ts";
import { externalIP, internalIP, ip } from "../scenario/scenario-names.ts";
import { MOST_BOUGHT, POOLS, type WireStory } from "./wire-story.ts";
import type { WireWorld } from "./wire-world.ts";

/** The names that are published, each with its addresses, sorted. */
export function published({ digitalocean, cloudflare }: WireWorld): Readonly<Record<string, readonly string[]>> {
  const domain = digitalocean.cloud().state.domains[0]?.records ?? [];
  const zone = cloudflare.account().state.zones[0]?.dns_records ?? [];
  const named = (name: string): readonly string[] =>
    domain.flatMap((record) => (record.type === "A" && record.name === name ? [record.data] : [])).toSorted();
  return {
    www: named("www"),
    inside: named("inside"),
    outside: zone.flatMap(({ type, content }) => (type === "A" ? [content] : [])).toSorted(),
  };
}

/** The addresses of the account, each with the droplet that has it. */
export function holders({ digitalocean }: WireWorld): ReadonlyMap<string, number | null> {
  return new Map(digitalocean.cloud().state.reserved_ips.map(({ ip: address, droplet_id }) => [address, droplet_id]));
}

/** What is not as the story should end; empty when everything is right. */
export async function wrongs(world: WireWorld, story: WireStory): Promise<readonly string[]> {
  return story.isEnd === true ? await leftovers(world) : await lacks(world, story);
}

async function leftovers(world: WireWorld): Promise<readonly string[]> {
  const objects = await world.rest("GET", POOLS.replace("/namespaces/shop", "")).then(itemsOf);
  const sets = await world
    .rest("GET", POOLS.replace("/namespaces/shop", "").replace("floatingippools", "nodednsrecordsets"))
    .then(itemsOf);
  return [
    ...[...objects, ...sets].map(({ metadata }) => `${metadata.name} still exists`),
    ...[...holders(world).keys()].filter((address) => address !== ip(1)).map((address) => `${address} was not deleted`),
    ...Object.entries(published(world)).flatMap(([name, addresses]) =>
      addresses.length === 0 ? [] : [`${name} still shows ${addresses.join(", ")}`],
    ),
    ...(holders(world).has(ip(1)) ? [] : ["an address that was not flipop's is gone"]),
    ...(await annotations(world)).map(([node, address]) => `${node} still carries ${address}`),
  ];
}

async function lacks(world: WireWorld, { serving }: WireStory): Promise<readonly string[]> {
  const held = holders(world);
  const droplets = [...held.values()].toSorted();
  const addresses = [...held.keys()].toSorted();
  const { status = NO_STATUS } = (await world.rest("GET", `${POOLS}/web`)) as { status?: PoolStatus };
  const nodeOf = (address: string): string => `n${(held.get(address) ?? 0) - 100}`;
  const facts: Readonly<Record<string, readonly [unknown, unknown]>> = {
    "number of addresses": [addresses.length, 1 + MOST_BOUGHT],
    "droplets with an address": [droplets, serving.map((number) => 100 + number)],
    "acquired by status": [status.acquired.map((one) => one.ip).toSorted(), addresses.filter((one) => one !== ip(1))],
    "pending by status": [status.pendingAcquisitions ?? [], []],
    "active by status": [
      Object.entries(status.ips)
        .flatMap(([address, { state }]) => (state === "active" ? [address] : []))
        .toSorted(),
      addresses,
    ],
    annotations: [await annotations(world), addresses.map((one) => [nodeOf(one), one]).toSorted()],
    www: [published(world)["www"], addresses],
    inside: [published(world)["inside"], serving.map(internalIP)],
    outside: [published(world)["outside"], serving.map(externalIP)],
  };
  return Object.entries(facts).flatMap(([what, [is, shouldBe]]) =>
    JSON.stringify(is) === JSON.stringify(shouldBe)
      ? []
      : [`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(shouldBe)}`],
  );
}

interface PoolStatus {
  readonly acquired: readonly { readonly ip: string }[];
  readonly pendingAcquisitions?: readonly unknown[];
  readonly ips: Readonly<Record<string, { readonly state: string }>>;
}

const NO_STATUS: PoolStatus = { acquired: [], ips: {} };

interface Item {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

function itemsOf(list: unknown): readonly Item[] {
  return (list as { readonly items: readonly Item[] }).items;
}

async function annotations({ rest }: WireWorld): Promise<readonly (readonly [string, string])[]> {
  return itemsOf(await rest("GET", "/api/v1/nodes")).flatMap(({ metadata }) => {
    const address = metadata.annotations?.[ADDRESS_ANNOTATION];
    return address === undefined ? [] : [[metadata.name, address] as const];
  });
}
