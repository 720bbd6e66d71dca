import type { ChangeAttempt, ChangeConflict } from "../../src/adapters/provider-http/record-sets.ts";
import type { RecordSetState } from "../../src/model/dns.ts";
import type { ProviderError } from "../../src/model/errors.ts";
import type { RecordSetResult } from "../../src/ports/providers.ts";
import type { HeldRecord, MemoryZone } from "./memory-zone.ts";

/** One write of the A records of a name, and the calls it may make. */
export interface MemoryWrite {
  readonly fqdn: string;
  readonly addresses: readonly string[];
  /** Seconds. */
  readonly ttl: number;
  /** Asked right before every request that changes something; false ends the change there. */
  readonly mayWrite: () => boolean;
  readonly list: () => Promise<readonly HeldRecord[]>;
  readonly stateOf: (records: readonly HeldRecord[]) => RecordSetState;
  /** One call; `refuse` makes the error of a refusal. */
  readonly call: <T>(
    operation: string,
    doing: string,
    effect: (held: MemoryZone, refuse: (reason: string) => ProviderError) => T,
  ) => Promise<T>;
  /** Makes a change of the set that a resolver sees at once. */
  readonly change: <T>(held: MemoryZone, effect: () => T) => T;
}

/** As Cloudflare does it: one call, all of it or nothing, which fails when a record of it is not as it was read. */
export async function writeInBatch(
  write: MemoryWrite,
  records: readonly HeldRecord[],
): Promise<ChangeAttempt<HeldRecord>> {
  const { fqdn, ttl, addresses } = write;
  const { kept, missing, surplus } = differences(write, records);
  if (!write.mayWrite()) return stopped(write, records);
  const error = await write.call("write", `change the A records of ${fqdn}`, (held, refuse) => {
    if (held.hasCNAME(fqdn) && missing.length > 0) throw refuse("a CNAME record has the name");
    const current = held.addressRecords(fqdn);
    const isTTLFree = held.isTTLAutomatic(fqdn);
    const touched = [...surplus, ...kept.filter((record) => !isTTLFree && record.ttlSeconds !== ttl)];
    if (touched.some(({ id }) => !current.some((record) => record.id === id))) return refuse("Record does not exist.");
    const isThere = missing.some((ip) => current.some((record) => record.content === ip));
    if (isThere) return refuse("An identical record already exists.");
    write.change(held, () => {
      held.remove(({ id }) => surplus.some((record) => record.id === id));
      for (const content of missing) held.add({ fqdn, type: "A", content, ttlSeconds: ttl });
      if (!isTTLFree) held.setTTL(fqdn, ttl, kept);
    });
    return held.addressRecords(fqdn).filter(({ content }) => addresses.includes(content));
  });
  if (error instanceof Error) return { ...conflict(records), error };
  return { kind: "written", records: write.stateOf(error) };
}

/** As DigitalOcean does it: one call per record, adds before removals; what it makes has one TTL with all others of the name. */
export async function writeSingly(
  write: MemoryWrite,
  records: readonly HeldRecord[],
): Promise<ChangeAttempt<HeldRecord>> {
  const { fqdn, ttl } = write;
  const { kept, missing, surplus } = differences(write, records);
  const added: HeldRecord[] = [];
  for (const content of missing) {
    if (!write.mayWrite()) return stopped(write, [...records, ...added]);
    const record = await write.call("add-record", `add ${content} to the A records of ${fqdn}`, (held, refuse) => {
      if (held.hasCNAME(fqdn)) throw refuse("CNAME records cannot share a name with other records");
      return write.change(held, () => {
        held.setTTL(fqdn, ttl);
        return held.add({ fqdn, type: "A", content, ttlSeconds: ttl });
      });
    });
    added.push(record);
  }
  const standing = await settleTTL(write, { kept, added, surplus });
  if ("kind" in standing) return standing;
  for (const [at, { id, content }] of surplus.entries()) {
    if (!write.mayWrite()) return stopped(write, [...standing, ...surplus.slice(at)]);
    const isGone = await write.call("remove-record", `remove ${content} from the A records of ${fqdn}`, (held) => {
      if (!held.records.some((record) => record.id === id)) return true;
      write.change(held, () => held.remove((record) => record.id === id));
      return false;
    });
    if (isGone) return conflict([...standing, ...surplus.slice(at)]);
  }
  return { kind: "written", records: write.stateOf(standing) };
}

async function settleTTL(
  write: MemoryWrite,
  { kept, added, surplus }: Readonly<Record<"kept" | "added" | "surplus", readonly HeldRecord[]>>,
): Promise<readonly HeldRecord[] | ChangeConflict<HeldRecord> | RecordSetResult> {
  const { fqdn, ttl, call, list, change } = write;
  const wanted = [...kept, ...added];
  const first = kept.find((record) => record.ttlSeconds !== ttl);
  if (first === undefined) return wanted;
  if (added.length === 0 && !write.mayWrite()) return stopped(write, [...wanted, ...surplus]);
  const isGone =
    added.length === 0 &&
    (await call("set-ttl", `set the TTL of ${fqdn} to ${ttl} s`, (held) => {
      if (!held.records.some((record) => record.id === first.id)) return true;
      change(held, () => held.setTTL(fqdn, ttl));
      return false;
    }));
  if (isGone) return conflict([...wanted, ...surplus]);
  const seen = await list();
  const current = wanted.flatMap(({ id }) => seen.find((record) => record.id === id) ?? []);
  const isSame = current.length === wanted.length && seen.length === wanted.length + surplus.length;
  return isSame ? current : { ...conflict([...wanted, ...surplus]), seen };
}

/** The change ends where it is. */
function stopped({ stateOf }: MemoryWrite, records: readonly HeldRecord[]): RecordSetResult {
  return { kind: "stopped", records: stateOf(records) };
}

function differences(
  { addresses }: MemoryWrite,
  records: readonly HeldRecord[],
): {
  readonly kept: readonly HeldRecord[];
  readonly missing: readonly string[];
  readonly surplus: readonly HeldRecord[];
} {
  const kept = addresses.flatMap((ip) => records.find((record) => record.content === ip) ?? []);
  const missing = addresses.filter((ip) => !kept.some((record) => record.content === ip));
  return { kept, missing, surplus: records.filter((record) => !kept.includes(record)) };
}

function conflict(expected: readonly HeldRecord[]): ChangeConflict<HeldRecord> {
  return { kind: "conflict", expected: expected.map((record) => record.content), isRepeatable: true };
}
