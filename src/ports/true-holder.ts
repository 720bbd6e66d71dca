import type { Address, AddressFact } from "../model/address.ts";
import { ProviderError } from "../model/errors.ts";
import type { Firewall } from "../model/firewall.ts";
import type { IPProviderReader } from "./providers.ts";

/** Returns the machine that has an address by what is known of it, or to which it was sent; undefined when it is on none. Pure. */
export function knownHolder(fact: AddressFact | undefined): string | undefined {
  if (fact?.kind !== "known") return undefined;
  const { movesTo = "", address } = fact;
  return movesTo === "" ? address.holderID : movesTo;
}

/**
 * Returns an address as it was read. An answer that shows it on no machine is believed only after `machine`, which has it by what is known, was asked.
 * @throws ProviderError as {@link proveFree}
 */
export async function withTrueHolder(
  provider: Pick<IPProviderReader, "name" | "machineAddresses">,
  address: Address | undefined,
  machine: string | undefined,
): Promise<Address | undefined> {
  if (looksFree(address) && machine !== undefined) await proveFree(provider, address.ip, machine);
  return address;
}

/** True for an address that an answer shows on no machine, and not on its way to one. Pure. */
export function looksFree(address: Address | undefined): address is Address {
  return address !== undefined && address.holderID === undefined && !address.isLocked;
}

/**
 * Returns a firewall as it was read. An answer that shows it without any machine is believed only after `machine`, which is behind it by what is known, was asked: a token that may not
 * read machines sees none there.
 * @throws ProviderError where the machine may not, or cannot, be read
 */
export async function withTrueMachines<T extends Pick<Firewall, "machineIDs"> | undefined>(
  machines: Pick<IPProviderReader, "machineAddresses"> | undefined,
  firewall: T,
  machine: string | undefined,
): Promise<T> {
  if (firewall?.machineIDs.length === 0 && machine !== undefined) await machines?.machineAddresses(machine);
  return firewall;
}

/**
 * Asks a machine whether it has an address that looks free. A token without the right to read droplets makes every address look free (DigitalOcean, verified 2026-08), and a token
 * may lose that right while flipop runs. One call.
 *
 *   refused                              the holder is hidden
 *   there is no such machine             free
 *   the machine has other addresses      free
 *   the machine has the address          the provider contradicts itself
 *
 * @throws ProviderError where the holder is hidden, which names the missing permission; where the provider contradicts itself; and where the machine cannot be read
 */
export async function proveFree(
  provider: Pick<IPProviderReader, "name" | "machineAddresses">,
  ip: string,
  machine: string,
): Promise<void> {
  const carried = await provider.machineAddresses(machine);
  if (carried?.includes(ip) === true) contradiction(provider, machine, `shows ${ip} on no machine`);
}

/**
 * Returns an address that neither the account's list nor a single read shows; undefined when it is gone. A list can be empty by mistake and say that it is whole, and a provider may know addresses
 * from its list alone. So the machine that has the address by what is known is asked: a provider that finds it there may know the address then. One call; another where the machine has it.
 *
 * @throws ProviderError where the provider contradicts itself, and where the machine cannot be read
 */
export async function readGone(
  provider: Pick<IPProviderReader, "name" | "machineAddresses" | "getAddress">,
  ip: string,
  machine: string,
): Promise<Address | undefined> {
  const carried = await provider.machineAddresses(machine);
  if (carried?.includes(ip) !== true) return undefined;
  return (await provider.getAddress(ip)) ?? contradiction(provider, machine, `shows no address ${ip}`);
}

function contradiction({ name }: Pick<IPProviderReader, "name">, machine: string, shown: string): never {
  throw new ProviderError({
    provider: name,
    failure: "unavailable",
    operation: "machine",
    subject: machine,
    status: 0,
    message: `${name} ${shown}, and machine ${machine} has it.`,
  });
}
