// Address records, as they are written: `/zones/{id}/dns_records/batch`.

import type { BatchPatchParam } from "cloudflare/resources/dns/records";
import { acceptedTTL, type DesiredRecordSet, type Zone } from "../../model/dns.ts";
import { NotSent, type ProviderError } from "../../model/errors.ts";
import { type RecordSetName, type RecordType, setNamed, setText } from "../../model/record-types.ts";
import type { RecordSetChange, RecordSetResult } from "../../ports/providers.ts";
import {
  type ChangeAttempt,
  changeRecordSet,
  type ReadRecords,
  senderInParts,
  type Wanted,
} from "../dns/record-sets.ts";
import { anyList, list, object, readable } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, type CloudflareCall, ID, refused } from "./api.ts";
import { type DNSRecord, listRecords, recordOf } from "./records.ts";
import { TTL_RULES } from "./ttl.ts";
import { NAME, type NameSubject, nameSubject } from "./zones.ts";

/**
 * Makes one set of records the desired one when they are those that the change was planned on: one list, and one batch for
 * each 200 changes. A batch that finds the records changed meanwhile is settled by {@link changeRecordSet}.
 * @throws ProviderError
 */
export async function writeRecords(
  client: Client,
  zone: Zone,
  fqdn: string,
  change: RecordSetChange,
): Promise<RecordSetResult> {
  const subject = nameSubject(writingOf(fqdn), zone, fqdn);
  return changeRecordSet(change, {
    fqdn: setText(subject),
    ttlRules: TTL_RULES,
    refuse: (reason) => refused(writingOf(fqdn), reason),
    read: (purpose) => listRecords(client.for(purpose), subject),
    attempt: (wanted, records) => attempt({ client: client.for("rest"), subject }, wanted, records),
  });
}

/** What the batches of one change are sent with. */
interface Writing {
  readonly client: Client;
  readonly subject: NameSubject;
}

async function attempt(
  writing: Writing,
  wanted: Wanted,
  { own, others, isOwn }: ReadRecords<DNSRecord>,
): Promise<ChangeAttempt<DNSRecord>> {
  const { client, subject } = writing;
  const send = senderInParts(client);
  let current = own;
  for (const batch of recordBatches(subject, own, wanted, others)) {
    const outcome = await send(writeBatch(subject, batch));
    if (outcome.kind === "stale") {
      const expected = current.map((record) => record.address);
      return { kind: "conflict", expected, error: outcome.error, isRepeatable: true };
    }
    if (outcome.kind === "misplaced") throw await removeStrays(writing, outcome);
    const { changed } = outcome;
    current =
      changed === undefined ? (await listRecords(client, subject)).filter(isOwn) : after(current, batch, changed);
  }
  return { kind: "written", own: current };
}

function after(records: readonly DNSRecord[], batch: RecordBatch, changed: readonly DNSRecord[]): readonly DNSRecord[] {
  const byID = new Map(records.map((record) => [record.id, record]));
  for (const { id } of batch.deletes) byID.delete(id);
  for (const record of changed) byID.set(record.id, record);
  return [...byID.values()];
}

/** Takes back what landed under another name, which only the answer shows when the zone's name is not known. Returns the error to throw. */
async function removeStrays(
  { client, subject }: Writing,
  { name, strays }: { readonly name: string; readonly strays: readonly string[] },
): Promise<Error> {
  const deletes = strays.map((id) => ({ id }));
  const removal = client.call(writeBatch(subject, { deletes, patches: [], posts: [] }));
  const end = await removal.then(
    () => "was removed again",
    (error: unknown) => {
      if (error instanceof NotSent) return "stands there, because this run may change nothing more: remove it";
      throw error;
    },
  );
  const reason = `it is not in that zone (Cloudflare made it ${name}, which ${end})`;
  return refused(writingOf(setText(subject)), reason);
}

/** What became of a batch. */
type BatchOutcome =
  /** Carried out; `changed` are the patched and created records as answered, absent when the answer does not say. */
  | { readonly kind: "done"; readonly changed?: readonly DNSRecord[] }
  /** Carried out, but Cloudflare put the created records under another name: `strays` are their ids. */
  | { readonly kind: "misplaced"; readonly name: string; readonly strays: readonly string[] }
  /** Not carried out, because the records are not what they were when read. */
  | { readonly kind: "stale"; readonly error: ProviderError };

/** The record exists already, the identical record exists already, the record does not exist. */
const STALE_CODES: readonly (number | string)[] = [81_057, 81_058, 81_044];

/** What to say about a change of a set of records. */
function writingOf(text: string): CallInfo {
  const { fqdn, type } = setNamed(text);
  const doing = `change the ${type} records of ${fqdn}`;
  return { operation: "write", subject: text, doing, scope: "Zone / DNS / Edit", isWrite: true };
}

/**
 * One batch as a call: all of it or nothing.
 * @see https://developers.cloudflare.com/dns/manage-dns-records/how-to/batch-record-changes/ (verified 2026-11-21)
 */
function writeBatch(subject: NameSubject, { deletes, patches, posts }: RecordBatch): CloudflareCall<BatchOutcome> {
  const { zoneID, fqdn } = subject;
  return {
    ...writingOf(setText(subject)),
    send: ({ dns }) =>
      dns.records
        .batch({
          zone_id: zoneID,
          ...(deletes.length === 0 ? {} : { deletes: [...deletes] }),
          // The SDK's type asks for name, type and ttl as well; a patch that names them would change more than it has to.
          ...(patches.length === 0 ? {} : { patches: patches.map((patch) => patch as BatchPatchParam.ARecord) }),
          ...(posts.length === 0 ? {} : { posts: [...posts] }),
        })
        .asResponse(),
    read: (envelope) =>
      misplaced(envelope, fqdn) ?? { kind: "done", ...changedBy(envelope, subject, { patches, posts }) },
    expected: ({ codes, error }) =>
      codes.some((code) => STALE_CODES.includes(code)) ? { value: { kind: "stale", error } } : undefined,
  };
}

/** The created records that are not where they were to be: a name outside the zone is taken for one relative to it. */
function misplaced(envelope: unknown, fqdn: string): BatchOutcome | undefined {
  const made = object({ result: object({ posts: list(object({ id: ID, name: NAME })) }) });
  const elsewhere = (readable(made, envelope)?.result.posts ?? []).filter(({ name }) => name !== fqdn);
  const [first] = elsewhere;
  return first && { kind: "misplaced", name: first.name, strays: elsewhere.map(({ id }) => id) };
}

/** `success: true` says that the batch is carried out; records that cannot be read from the answer are read again. */
function changedBy(
  envelope: unknown,
  set: RecordSetName,
  { patches, posts }: Pick<RecordBatch, "patches" | "posts">,
): { readonly changed?: readonly DNSRecord[] } {
  const records = anyList(recordOf(set));
  const result = readable(object({ result: object({ patches: records, posts: records }) }), envelope)?.result;
  const isWhole = result?.patches.length === patches.length && result.posts.length === posts.length;
  return isWhole ? { changed: [...result.patches, ...result.posts] } : {};
}

/** A change of fields of an existing record; what it does not name stays as it is. */
interface RecordPatch {
  readonly id: string;
  readonly content?: string;
  readonly ttl?: number;
}

/** A record to create. */
interface RecordPost {
  readonly type: RecordType;
  readonly name: string;
  readonly content: string;
  readonly ttl: number;
  readonly proxied: boolean;
}

/** The changes of one batch request. */
interface RecordBatch {
  readonly deletes: readonly { readonly id: string }[];
  readonly patches: readonly RecordPatch[];
  readonly posts: readonly RecordPost[];
}

/** The most changes one batch takes on the Free plan. */
const MOST_IN_BATCH = 200;

type Change =
  | { readonly patch: RecordPatch }
  | { readonly post: RecordPost }
  | { readonly drop: { readonly id: string } };

/**
 * The batches, in order, that make a set of records exactly the desired one; none when nothing differs.
 *
 * A record whose address is not wanted gets a wanted one rather than being deleted, so that its id, comment, tags and
 * `proxied` live on; annotated records go first. Only what is left over is created or deleted. Cloudflare runs the deletes
 * of a batch first but in one transaction, and deletes stand in the last batch that has any addition, or later: the name is
 * never without address in between.
 *
 * @param others - records of the name that no batch touches: the desired ones stand beside them
 */
export function recordBatches(
  set: RecordSetName,
  records: readonly DNSRecord[],
  desired: DesiredRecordSet,
  others: readonly DNSRecord[] = [],
): readonly RecordBatch[] {
  const isProxied = [...records, ...others].some((record) => record.isProxied);
  const changes = changesOf(set, records, desired, isProxied);
  const batches: RecordBatch[] = [];
  for (let at = 0; at < changes.length; at += MOST_IN_BATCH)
    batches.push(batchOf(changes.slice(at, at + MOST_IN_BATCH)));
  return batches;
}

function changesOf(
  { fqdn, type }: RecordSetName,
  records: readonly DNSRecord[],
  desired: DesiredRecordSet,
  isProxied: boolean,
): readonly Change[] {
  const wanted = new Set(desired.addresses);
  const ttl = isProxied ? TTL_RULES.automaticSeconds : acceptedTTL(desired.ttlSeconds, TTL_RULES);
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
      .map((content) => ({ post: { type, name: fqdn, content, ttl, proxied: isProxied } as const })),
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
