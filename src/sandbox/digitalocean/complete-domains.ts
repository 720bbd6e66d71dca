import { canonicalIPv4 } from "../../model/address.ts";
import type { CloudState } from "./cloud-state.ts";
import type { DomainState, RecordState } from "./domain-state.ts";

/** A record that a person wrote may have no id yet. */
type WrittenRecord = Omit<RecordState, "id"> & { readonly id?: number };

/**
 * Gives the records of a state that have no id the next free ones. Changes the state.
 * @throws Error whose message begins with the path of the bad value: `domains[0].records[1].data must be an IPv4 address, not x`.
 */
export function completeDomains(state: CloudState): void {
  for (const [at, domain] of state.domains.entries()) refuseBadData(domain, `domains[${at}]`);
  const names = state.domains.map((domain) => domain.name.toLowerCase());
  refuseTwice("name", names);
  const written = state.domains.flatMap((domain): readonly WrittenRecord[] => domain.records);
  const ids = written.flatMap((record) => record.id ?? []);
  refuseTwice("record id", ids);
  for (const domain of state.domains) {
    domain.records = domain.records.map(({ id, ...record }: WrittenRecord) => ({
      id: id ?? nextRecordID(state, ids),
      ...record,
    }));
  }
}

function refuseBadData({ records }: DomainState, at: string): void {
  for (const [position, { type, data }] of records.entries()) {
    if (type !== "A" || canonicalIPv4(data) !== undefined) continue;
    throw new Error(`${at}.records[${position}].data must be an IPv4 address, not ${data}`);
  }
}

function refuseTwice(what: string, values: readonly (string | number)[]): void {
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined) throw new Error(`domains must not have ${what} ${twice} twice`);
}

/** An id that no record has; each is given once. */
function nextRecordID(state: CloudState, taken: readonly number[]): number {
  while (taken.includes(state.next.record_id)) state.next.record_id += 1;
  const id = state.next.record_id;
  state.next.record_id += 1;
  return id;
}
