import type { RecordState } from "./account-state.ts";

type Test = (value: string, wanted: string) => boolean;

/** The operators of a dotted filter like `name.startswith=`; a filter without operator is `exact`. All ignore case. */
const operators: ReadonlyMap<string, Test> = new Map<string, Test>(
  Object.entries({
    exact: (value, wanted) => value === wanted,
    contains: (value, wanted) => value.includes(wanted),
    startswith: (value, wanted) => value.startsWith(wanted),
    endswith: (value, wanted) => value.endsWith(wanted),
  }),
);

/** The values of a record that a filter looks at; one of them has to fit. */
const fields: ReadonlyMap<string, (record: RecordState) => readonly string[]> = new Map<
  string,
  (record: RecordState) => readonly string[]
>(
  Object.entries({
    name: (record) => [record.name],
    content: (record) => [record.content],
    comment: (record) => (record.comment === "" ? [] : [record.comment]),
    tag: (record) => record.tags,
    type: (record) => [record.type],
    proxied: (record) => [String(record.proxied)],
  }),
);

/** The records that fit the query of a list: all its filters, or any with `match=any`. Parameters that are no filter are ignored. */
export function filterRecords(records: readonly RecordState[], query: URLSearchParams): readonly RecordState[] {
  const tests = [...query].flatMap(([key, wanted]) => testOf(key, wanted.toLowerCase()) ?? []);
  if (tests.length === 0) return records;
  const isAny = query.get("match") === "any";
  return records.filter((record) => (isAny ? tests.some((test) => test(record)) : tests.every((test) => test(record))));
}

/** The records in the order a query asks for; without one as they are. */
export function orderRecords(records: readonly RecordState[], query: URLSearchParams): readonly RecordState[] {
  const key = query.get("order");
  if (key !== "type" && key !== "name" && key !== "content" && key !== "ttl" && key !== "proxied") return records;
  const sign = query.get("direction") === "desc" ? -1 : 1;
  return records.toSorted((a, b) => sign * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
}

function testOf(key: string, wanted: string): ((record: RecordState) => boolean) | undefined {
  const [field = "", operator = "exact"] = key.split(".");
  const values = fields.get(field);
  if (values === undefined) return undefined;
  if (operator === "present" || operator === "absent") return presence(field, values, operator, wanted);
  const fits = operators.get(operator);
  return fits === undefined ? undefined : (record) => values(record).some((value) => fits(value.toLowerCase(), wanted));
}

/** `comment.present` asks for any comment, `tag.present` for the tag of that name. */
function presence(
  field: string,
  values: (record: RecordState) => readonly string[],
  operator: "present" | "absent",
  wanted: string,
): (record: RecordState) => boolean {
  const isThere = (value: string): boolean => field !== "tag" || value.toLowerCase().split(":")[0] === wanted;
  return (record) => values(record).some(isThere) === (operator === "present");
}
