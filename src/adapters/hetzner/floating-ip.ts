// What a floating IP is, and which of them have been seen.
//
//   IPv4   It is one address.
//   IPv6   It is a network, `2001:db8:1:2::/64`, that moves as one. Every address in it can be used, so an object names one of them, which is found by the network it lies in.
//          Until somebody asks for another address of it, it is shown as the first one, `…::1`: Hetzner's cloud controller manager shows the networks of servers so.

import { type Address, CANONICAL, canonicalIPv6 } from "../../model/address.ts";
import type { IPFamily } from "../../model/address-source.ts";
import { canonicalIPv6Network, firstAddressOf, ipv6NetworkOf, networkBits } from "../../model/ipv6-network.ts";
import {
  ANY,
  choose,
  FLAG,
  fieldsOf,
  IPV4,
  map,
  maybe,
  object,
  readable,
  type Schema,
  TEXT,
  textLike,
} from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { ID, refused } from "./api.ts";

/** A floating IP of the project, as the API knows it. */
export interface FloatingIP {
  readonly id: string;
  readonly name: string;
  /** What there is to know of it if it is of the family that is asked about. */
  readonly own?: OwnFacts;
}

/** A floating IP whose family is the one that is asked about. */
export type OwnFloatingIP = Required<FloatingIP>;

interface OwnFacts {
  /** The address, or the IPv6 network. */
  readonly text: string;
  readonly facts: Omit<Address, "ip" | "network">;
}

/** The label with the uid of the object that flipop bought a floating IP for. */
export const OWNER_LABEL = "flipop.digitalocean.com/owner";

/** Returns how a floating IP is read by those who ask about one family: of the other one it is not looked at further. */
export function floatingIPSchema(family: IPFamily): Schema<FloatingIP> {
  const other = family === "IPv6" ? "ipv4" : "ipv6";
  return choose<FloatingIP>(({ type }) => (type === other ? OTHER : OWN[family]));
}

const OTHER: Schema<FloatingIP> = object({ id: ID, name: TEXT });

/** One entry of the project's list. One that cannot be understood is shown as a text, so that it hides no other: it may be any address. */
export type ListedFloatingIP = { readonly item: FloatingIP } | { readonly unclear: string };

/** Returns how an entry of a list is read by those who ask about one family. */
export function listedSchema(family: IPFamily): Schema<ListedFloatingIP> {
  const schema = floatingIPSchema(family);
  return map(ANY, (value): ListedFloatingIP => {
    const item = readable(schema, value);
    return item === undefined ? { unclear: JSON.stringify(value).slice(0, MOST_SHOWN) } : { item };
  });
}

/** Tells apart what cannot be understood. */
const MOST_SHOWN = 200;

/** Reads an IPv6 network, however it is written, as its canonical text. */
export const NETWORK: Schema<string> = map(
  textLike((text) => canonicalIPv6Network(text) !== undefined, "an IPv6 network"),
  (text) => canonicalIPv6Network(text) ?? text,
);

const OWN: Readonly<Record<IPFamily, Schema<FloatingIP>>> = { IPv4: ownSchema(IPV4), IPv6: ownSchema(NETWORK) };

/** Reads a floating IP. `server` null = unassigned. */
function ownSchema(ip: Schema<string>): Schema<FloatingIP> {
  const shape = object({
    id: ID,
    name: TEXT,
    ip,
    server: maybe(ID),
    home_location: object({ name: TEXT }),
    blocked: FLAG,
    protection: maybe(object({ delete: FLAG })),
    labels: maybe(ANY),
  });
  return map(shape, ({ id, name, ip: text, server, home_location: home, blocked, protection, labels }): FloatingIP => {
    const boughtFor = ownerIn(labels);
    const facts = {
      region: home.name,
      isLocked: false,
      ...(server === undefined ? {} : { holderID: server }),
      ...(blocked ? { isBlocked: true as const } : {}),
      ...(protection?.delete === true ? { isProtected: true as const } : {}),
      ...(boughtFor === undefined ? {} : { boughtFor }),
    };
    return { id, name, own: { text, facts } };
  });
}

function ownerIn(labels: unknown): string | undefined {
  const owner = fieldsOf(labels)[OWNER_LABEL];
  return typeof owner === "string" ? owner : undefined;
}

/** True where this floating IP is the address, or its network holds it. */
export function holds({ own: { text } }: OwnFloatingIP, ip: string): boolean {
  return (
    text === ip || (text.includes("/") && canonicalIPv6(ip) === ip && ipv6NetworkOf(ip, networkBits(text)) === text)
  );
}

/** @throws ProviderError `refused` when the subject of the call is not a canonical address of the family */
export function aboutAddress(call: CallInfo, family: IPFamily): CallInfo {
  const { subject } = call;
  if (CANONICAL[family](subject) === subject) return call;
  throw refused(call, `${JSON.stringify(subject)} is not an ${family} address`);
}

/** The floating IPs of one family that have been seen: their ids and names never change by flipop's doing. */
export class SeenFloatingIPs {
  readonly #byText = new Map<string, OwnFloatingIP>();
  readonly #byID = new Map<string, FloatingIP>();
  readonly #names = new Set<string>();
  /** How long the networks are: 64 bits, unless Hetzner changes it. */
  readonly #bits = new Set<number>();
  /** By network the address of it that was asked for last. */
  readonly #asked = new Map<string, string>();

  /** Remembers a floating IP, of whichever family. */
  see(item: FloatingIP): void {
    this.#names.add(item.name);
    this.#byID.set(item.id, item);
    if (!isOwn(item)) return;
    this.#byText.set(item.own.text, item);
    if (item.own.text.includes("/")) this.#bits.add(networkBits(item.own.text));
  }

  /** Forgets one that is gone. */
  forget({ id, own }: FloatingIP): void {
    this.#byID.delete(id);
    if (own === undefined) return;
    this.#byText.delete(own.text);
    this.#asked.delete(own.text);
  }

  /** The floating IP that is, or holds, an address; undefined if none was seen. */
  find(ip: string): OwnFloatingIP | undefined {
    const same = this.#byText.get(ip);
    if (same !== undefined || this.#bits.size === 0) return same;
    return [...this.#bits].flatMap((bits) => this.#byText.get(ipv6NetworkOf(ip, bits)) ?? [])[0];
  }

  /** The floating IP with an id; undefined if it was not seen. */
  withID(id: string): FloatingIP | undefined {
    return this.#byID.get(id);
  }

  /** From now on its network is shown as this address. */
  askedFor(ip: string, { own: { text } }: OwnFloatingIP): void {
    if (text.includes("/")) this.#asked.set(text, ip);
  }

  /** A floating IP as an address. */
  show({ own: { text, facts } }: OwnFloatingIP): Address {
    if (!text.includes("/")) return { ip: text, ...facts };
    return { ip: this.#asked.get(text) ?? firstAddressOf(text), ...facts, network: text };
  }

  /** True if a floating IP has this name. */
  hasName(name: string): boolean {
    return this.#names.has(name);
  }
}

/** True if a floating IP is of the family that is asked about. */
export function isOwn(item: FloatingIP): item is OwnFloatingIP {
  return item.own !== undefined;
}
