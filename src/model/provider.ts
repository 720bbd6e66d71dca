import { sourceNamed } from "./address-source.ts";
import type { TTLRules } from "./dns.ts";
import type { NodeFacts } from "./node.ts";
import { DEFAULT_MAX_PER_NODE } from "./resource.ts";

/**
 * What a provider can do, as the planner asks it. Each provider that flipop knows describes itself once, in `src/adapters/registry.ts`; nothing else in flipop
 * knows its name, its ids or its limits.
 */
export interface ProviderTraits {
  /** As objects write it in `spec.provider`: `digitalocean`. Of a family it is the first name of its members. */
  readonly name: string;
  /** Set for a family: each name that matches is a provider of its own, and has these traits. */
  readonly family?: ProviderFamily;
  /** How many calls it takes. Absent = nobody knows. */
  readonly allowance?: Allowance;
  /** How many of them in an hour, where that is less. */
  readonly hourlyCalls?: number;
  /** Absent if the provider has no IPv4 addresses that move between machines. */
  readonly addresses?: AddressTraits;
  /** The same of IPv6 addresses. */
  readonly addressesIPv6?: AddressTraits;
  /** Absent if the provider has no DNS. */
  readonly dns?: DNSTraits;
  /** Absent if the provider has no cloud firewalls. */
  readonly firewalls?: FirewallTraits;
}

/** Providers that nobody has listed: users name them. */
export interface ProviderFamily {
  /** Matches the whole name of a member. */
  readonly namePattern: RegExp;
  /** What says where a member is, for people. */
  readonly settings: readonly string[];
}

/** How many calls a provider takes in a span of time. */
export interface Allowance {
  readonly calls: number;
  readonly ms: number;
}

/** How a provider names machines and gives addresses of one IP family to them. */
export interface AddressTraits {
  /** True if the provider calls such addresses floating IPs, else reserved IPs. */
  readonly isFloating?: boolean;
  /** What stands before the machine id in a node's `spec.providerID`: `digitalocean://`. */
  readonly providerIDPrefix: string;
  /** Matches a whole machine id. */
  readonly machineIDPattern: RegExp;
  /** How many movable addresses a machine can have at once; how many it gets an object says. */
  readonly addressesPerMachine: number;
  /** The node label with the place that an address is bound to, or belongs near to: the region, or the zone. */
  readonly regionLabel: string;
  /** Region → the larger place within which an address can go to any machine. A region that is not there is such a place itself. Absent = an address cannot leave its region. */
  readonly areas?: ReadonlyMap<string, string>;
  /** How many addresses the account may acquire per minute. */
  readonly acquisitionsPerMinute: number;
  /** True if the provider keeps for which object an address was bought (`boughtFor` of the address), so that nothing is bought twice. */
  readonly keepsOwner?: boolean;
  /** True if the system of a machine must have its address, too, which the provider does not show. */
  readonly needsHost?: boolean;
  /** True if an address is bought for a region only, and assigned afterwards. Else it can be bought for a machine, too. */
  readonly buysUnattached?: boolean;
  /** True if one call moves an address from one machine to another. False if it has to be unassigned first. */
  readonly isMoveOneCall: boolean;
}

/** How a provider names zones. */
export interface DNSTraits {
  /** Matches the text of a zone that is an id and not the zone's name. Absent if zones are given by name only. */
  readonly zoneIDPattern?: RegExp;
  /** True for the provider that serves names whose object says no provider. One provider has it. */
  readonly isDefault?: boolean;
  /** The TTLs that the provider takes. Absent = any. */
  readonly ttlRules?: TTLRules;
}

/** What a provider reserves among its firewalls. */
export interface FirewallTraits {
  /** Firewalls whose name begins so belong to somebody who overwrites changes. Absent if there are none. */
  readonly reservedPrefix?: string;
}

/** The labels that say where a node is, whatever its provider. */
export interface PlaceLabels {
  readonly zone: string;
  readonly region: string;
}

/** The providers that flipop knows, by the name that objects give them. */
export class ProviderRegistry {
  readonly #byName: ReadonlyMap<string, ProviderTraits>;
  /** The DNS provider of names whose object says none; `""` if no provider is the default. */
  readonly defaultDNS: string;
  readonly placeLabels: PlaceLabels;

  constructor(providers: readonly ProviderTraits[], placeLabels: PlaceLabels = { zone: "", region: "" }) {
    this.placeLabels = placeLabels;
    this.#byName = new Map(providers.map((traits) => [traits.name, traits]));
    this.defaultDNS = providers.find(({ dns }) => dns?.isDefault)?.name ?? "";
  }

  /** As objects write them; of a family the first name. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /**
   * Returns what a provider can do; undefined if flipop does not know it. For the text of an address source it is what the provider can do with addresses of that family:
   * undefined if it has none. Wherever a method of this class takes the name of a provider for addresses, it takes such a text.
   */
  get(name: string): ProviderTraits | undefined {
    const source = sourceNamed(name);
    if (source.family === "IPv6") return this.#ofIPv6(name, source.provider);
    const known = this.#byName.get(name) ?? this.#familyOf(name);
    return known === undefined || known.name === name ? known : { ...known, name };
  }

  #ofIPv6(name: string, provider: string): ProviderTraits | undefined {
    const { addressesIPv6, allowance, hourlyCalls } = this.get(provider) ?? {};
    if (addressesIPv6 === undefined) return undefined;
    return {
      name,
      addresses: addressesIPv6,
      ...(allowance === undefined ? {} : { allowance }),
      ...(hourlyCalls === undefined ? {} : { hourlyCalls }),
    };
  }

  /** True for a name of a family's member: such a provider is there once somebody has said where. */
  isMember(name: string): boolean {
    return this.#familyOf(name) !== undefined;
  }

  #familyOf(name: string): ProviderTraits | undefined {
    return [...this.#byName.values()].find(({ family }) => family?.namePattern.test(name));
  }

  /** Returns the machine id in a `spec.providerID`: `123` of `digitalocean://123`. Undefined if the text is empty, or not of this provider. */
  machineID(provider: string, providerID: string): string | undefined {
    const traits = this.get(provider)?.addresses;
    if (traits === undefined || !providerID.startsWith(traits.providerIDPrefix)) return undefined;
    const id = providerID.slice(traits.providerIDPrefix.length);
    return traits.machineIDPattern.test(id) ? id : undefined;
  }

  /** Returns the `spec.providerID` of a machine: `digitalocean://123`. */
  providerID(provider: string, machineID: string): string {
    return `${this.get(provider)?.addresses?.providerIDPrefix ?? `${provider}://`}${machineID}`;
  }

  /** Returns how many addresses a node may have for an object that asks for so many: never more than the provider gives a machine. */
  maxPerNode(provider: string, asked: number = DEFAULT_MAX_PER_NODE): number {
    return Math.min(asked, this.get(provider)?.addresses?.addressesPerMachine ?? 1);
  }

  /** Returns the region or zone of a node, as its provider tells them apart; `""` if the node does not say. */
  regionOf(provider: string, { labels }: Pick<NodeFacts, "labels">): string {
    return labels[this.get(provider)?.addresses?.regionLabel ?? ""] ?? "";
  }

  /** Returns the place within which an address of a region can go to any machine. */
  areaOf(provider: string, region: string): string {
    return this.get(provider)?.addresses?.areas?.get(region) ?? region;
  }

  /** True if this text is the id of a zone, which says nothing of the zone's name. */
  isZoneID(provider: string, zone: string): boolean {
    return this.get(provider)?.dns?.zoneIDPattern?.test(zone) ?? false;
  }
}
