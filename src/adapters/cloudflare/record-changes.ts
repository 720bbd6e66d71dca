import { acceptedTTL, type DesiredRecordSet } from "../../model/dns.ts";
import type { DNSRecord } from "./dns-record.ts";
import { CLOUDFLARE_TTL_RULES } from "./ttl-rules.ts";

/** A change of fields of an existing record; what it does not name stays as it is. */
export interface RecordPatch {
  readonly id: string;
  readonly content?: string;
  readonly ttl?: number;
}

/** A record to create. */
export interface RecordPost {
  readonly type: "A";
  readonly name: string;
  readonly content: string;
  readonly ttl: number;
  readonly proxied: boolean;
}

/** The changes of one batch request. */
export interface RecordBatch {
  readonly deletes: readonly { readonly id: string }[];
  readonly patches: readonly RecordPatch[];
  readonly posts: readonly RecordPost[];
}

/** The most changes one batch takes on the Free plan. */
const mostInBatch = 200;

type Change =
  | { readonly patch: RecordPatch }
  | { readonly post: RecordPost }
  | { readonly drop: { readonly id: string } };

/**
 * The batches, in order, that make the A records of a name exactly the desired ones; none when nothing differs. Pure.
 *
 * A record whose address is not wanted gets a wanted one rather than being deleted, so that its id, comment, tags and
 * `proxied` live on; annotated records go first. Only what is left over is created or deleted. Cloudflare runs the deletes
 * of a batch first but in one transaction, and deletes stand in the last batch that has any addition, or later: the name is
 * never without address in between.
 */
export function recordBatches(
  fqdn: string,
  records: readonly DNSRecord[],
  desired: DesiredRecordSet,
): readonly RecordBatch[] {
  const changes = changesOf(fqdn, records, desired);
  const batches: RecordBatch[] = [];
  for (let at = 0; at < changes.length; at += mostInBatch) batches.push(batchOf(changes.slice(at, at + mostInBatch)));
  return batches;
}

function changesOf(fqdn: string, records: readonly DNSRecord[], desired: DesiredRecordSet): readonly Change[] {
  const isProxied = records.some((record) => record.isProxied);
  const wanted = new Set(desired.addresses);
  const ttl = isProxied ? CLOUDFLARE_TTL_RULES.automaticSeconds : acceptedTTL(desired.ttlSeconds, CLOUDFLARE_TTL_RULES);
  const kept = new Map<string, DNSRecord>();
  const surplus: DNSRecord[] = [];
  for (const record of records.toSorted(byWorth)) {
    if (wanted.has(record.address) && !kept.has(record.address)) kept.set(record.address, record);
    else surplus.push(record);
  }
  const missing = [...wanted].filter((address) => !kept.has(address));
  const reused = surplus.splice(0, missing.length);
  const ttlOf = (record: DNSRecord) => (isProxied || record.ttlSeconds === ttl ? {} : { ttl });
  return [
    ...reused.map((record, at) => ({ patch: { id: record.id, content: missing[at] ?? "", ...ttlOf(record) } })),
    ...[...kept.values()].filter((record) => "ttl" in ttlOf(record)).map(({ id }) => ({ patch: { id, ttl } })),
    ...missing
      .slice(reused.length)
      .map((content) => ({ post: { type: "A", name: fqdn, content, ttl, proxied: isProxied } as const })),
    ...surplus.map(({ id }) => ({ drop: { id } })),
  ];
}

/** Annotated records first, then by id: the first of several with one address stays, the first of the unwanted are reused. */
function byWorth(a: DNSRecord, b: DNSRecord): number {
  return Number(b.isAnnotated) - Number(a.isAnnotated) || (a.id < b.id ? -1 : 1);
}

function batchOf(changes: readonly Change[]): RecordBatch {
  return {
    deletes: changes.flatMap((change) => ("drop" in change ? [change.drop] : [])),
    patches: changes.flatMap((change) => ("patch" in change ? [change.patch] : [])),
    posts: changes.flatMap((change) => ("post" in change ? [change.post] : [])),
  };
}
