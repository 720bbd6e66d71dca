import type { WriteDNS } from "../model/action.ts";
import { recordAddresses } from "../model/dns.ts";
import { KubeError } from "../model/errors.ts";
import { type DNSMemory, objectKey } from "../model/resource.ts";
import { type ApplyContext, ownerJournal } from "./context.ts";

/**
 * Puts on record what a change of a name may have added whose records could not be read after it failed: only addresses on record are ever taken out of a name that
 * was left. One status write, where status does not show them yet; as far as possible: a failure stops nothing.
 */
export async function rememberAttempt(action: WriteDNS, { journals }: ApplyContext): Promise<void> {
  const key = objectKey(action.object);
  const owners = ownerJournal(action.object, journals);
  const isOwner = action.object.kind !== "dns";
  const memory = (isOwner ? owners : journals.dns).object(key)?.status;
  if (memory === undefined || attempted(memory, action) === undefined) return;
  const remembered = <S extends DNSMemory>(status: S): S => ({ ...status, ...attempted(status, action) });
  const work = isOwner ? owners.record(key, remembered) : journals.dns.record(key, remembered);
  await work.catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
  });
}

/** The published name with what was to be added; undefined when that is known, or the name is another one. */
function attempted(
  { publishedDNS }: DNSMemory,
  { dnsProvider, fqdn, after }: WriteDNS,
): Partial<DNSMemory> | undefined {
  if (publishedDNS?.provider !== dnsProvider || publishedDNS.name !== fqdn) return undefined;
  if (after.addresses.every((address) => publishedDNS.addresses.includes(address))) return undefined;
  return {
    publishedDNS: { ...publishedDNS, addresses: recordAddresses([...publishedDNS.addresses, ...after.addresses]) },
  };
}
