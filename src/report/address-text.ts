/** What stands in a plan for the address that an acquisition of the same plan brings: `newAddress` of the action. */
const UNKNOWN = /^\(new \d+\)$/;

/** Returns an address as people read it; `(known once acquired)` for one that is not known yet. */
export function addressText(address: string): string {
  return UNKNOWN.test(address) ? "(known once acquired)" : address;
}

/** Returns addresses as people read them, in their order; those that are not known yet as one item at the end. */
export function addressTexts(addresses: readonly string[]): readonly string[] {
  const unknown = addresses.filter((address) => UNKNOWN.test(address));
  if (unknown.length < 2) return addresses.map(addressText);
  const known = addresses.filter((address) => !UNKNOWN.test(address));
  return [...known, `${unknown.length} addresses (known once acquired)`];
}
