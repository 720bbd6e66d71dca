import { type AddressSource, sourceText } from "../../src/model/address-source.ts";
import type { Backend } from "../scenario/backend.ts";
import { hetznerWorld, memoryWorld } from "../scenario/memory-world.ts";
import { type Bases, basesOf, type Recipes, recipesOf } from "./recipes.ts";

/** Where the pools of a campaign have their addresses, and what their specs say there. */
export interface Setting {
  /** As people are shown the source: `hetzner IPv6`. */
  readonly source: string;
  /** A new world in memory. */
  readonly open: () => Backend;
  readonly recipes: Recipes;
  readonly bases: Bases;
}

/** Pools of IPv4 at DigitalOcean, beside record sets of IPv4. */
export const USUAL: Setting = settingOf({ provider: "digitalocean", family: "IPv4" });

/** Pools of IPv6 beside record sets of both families, and IPv4 where an IPv6 floating IP is a network. */
export const OTHERS: readonly Setting[] = [
  settingOf({ provider: "digitalocean", family: "IPv6" }),
  settingOf({ provider: "hetzner", family: "IPv4" }),
  settingOf({ provider: "hetzner", family: "IPv6" }),
];

/** The setting of a source. @throws Error for any other text */
export function settingNamed(source: string): Setting {
  const found = [USUAL, ...OTHERS].find((setting) => setting.source === source);
  if (found === undefined) throw new Error(`no campaign is played at ${source}`);
  return found;
}

/** What names a setting in the command that repeats a campaign. */
export function settingFlag({ source }: Setting): string {
  return source === USUAL.source ? "" : ` --of "${source}"`;
}

function settingOf(source: AddressSource): Setting {
  return {
    source: sourceText(source),
    open: source.provider === "hetzner" ? hetznerWorld : memoryWorld,
    recipes: recipesOf(source),
    bases: basesOf(source),
  };
}
