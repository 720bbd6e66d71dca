import {
  type DNSMemory,
  type IPState,
  type ObjectMeta,
  objectKey,
  type RecordSetStatus,
  type RetryStatus,
  shownAddresses,
} from "../../model/resource.ts";
import { type Suspended, whySuspended } from "../../model/suspension.ts";
import { plain, plainValue } from "../../model/text.ts";
import {
  type NamedRow,
  type NodeTrouble,
  namedRows,
  type Overview,
  type PoolRow,
  type Readiness,
  type ReconcilerRow,
  type RecordSetRow,
  type RoutedIPRow,
  whyReady,
} from "../overview.ts";
import { type Cell, countText, entryLines, type Layout, listText, type Palette, renderTable, wrap } from "./layout.ts";
import { aheadText, durationText, rfc3339, untilText } from "./times.ts";
import { formerNames, nameText, wantedName } from "./written-name.ts";

/** How much of the stored state is shown, and how. */
interface StatusLayout extends Layout {
  /** Ids, times and retries, and what a ready object says, too. */
  readonly wide: boolean;
  /** What to say where no object is shown. */
  readonly none?: string;
}

/** Returns the stored state for people: a table of pools, one of their addresses, one of routed IPs, one of record sets, and the reconciler. `wide` adds ids, times, retries and what a ready object says. */
export function renderStatus(overview: Overview, layout: StatusLayout): string {
  const shown = plainValue(overview);
  const { pools, routedIPs, recordSets, nowMs } = shown;
  const { none = "No pools.", width } = layout;
  const look = { ...layout, nowMs };
  const parts = [
    pools.length + routedIPs.length + recordSets.length === 0 ? `${wrap(plain(none), "", width).join("\n")}\n` : "",
    objectTable(pools, poolTable(pools), look),
    addressTable(pools, look),
    objectTable(routedIPs, routedIPTable(routedIPs, look), look),
    objectTable(recordSets, recordSetTable(look), look),
    problemText(shown, layout),
    grantText(shown, layout),
  ];
  const head = wrap(`Cluster ${plain(shown.cluster)}, read ${readText(nowMs)}`, "", width);
  return [`${head.join("\n")}\n`, ...parts, reconcilerText(shown, layout)].filter((part) => part !== "").join("\n");
}

/** What waits for a person or is tried again, what a run should do now, and why; wrapped and never cut: below the tables, whose last column may be. */
function problemText(overview: Overview, layout: Layout): string {
  const { nowMs, pools, routedIPs } = overview;
  const objects = namedRows(overview).flatMap((row) => objectProblems(row, nowMs, layout));
  const addresses = [...pools.flatMap((row) => row.addresses), ...routedIPs];
  const lost = addresses.filter(({ trouble }) => trouble !== undefined).length;
  const where = lost === 1 ? "is on a node that cannot" : "are on nodes that cannot";
  const due = `${countText(lost, "address", "addresses")} ${where} serve now. flipop plan shows what a run does about it.`;
  return [...objects, ...(lost === 0 ? [] : entryLines(".", due, "", layout))].map((line) => `${line}\n`).join("");
}

function objectProblems(
  { row: { stalled, notGranted }, name, retries }: NamedRow,
  nowMs: number,
  layout: Layout,
): string[] {
  // What waits for a grant alone is told below, with all that is missing.
  const waiting =
    stalled === undefined || stalled.reason === notGranted?.reason
      ? []
      : entryLines("!", `${name}: ${stalled.message || stalled.reason}`, "", layout);
  // One cause is told once, however much of the object waits for it.
  const untold = retries.filter(({ error }) => stalled?.message.includes(error) !== true);
  const causes = [...Map.groupBy(untold, ({ error }) => error)].flatMap(([error, of]) => {
    const [next] = of.toSorted((a, b) => (a.nextAttemptTime < b.nextAttemptTime ? -1 : 1));
    const what = listText(
      of.map(({ subject }) => subjectText(subject)),
      MOST_ADDRESSES,
    );
    return entryLines("!", `${name}: ${what}: ${error}`, retryText(next, nowMs), layout);
  });
  return [...waiting, ...causes];
}

/** What a retry is about, for people: `203.0.113.10`, `the firewall 9aa1…`. */
function subjectText(subject: string): string {
  const [kind = "", ...rest] = subject.split("/");
  const name = rest.join("/");
  const texts: ReadonlyMap<string, string> = new Map([
    ["node", `node ${name}`],
    ["firewall", `firewall ${name}`],
    ["acquire", "a new address"],
    ["annotate", "annotations"],
    ["finalizer", "the finalizer"],
  ]);
  return texts.get(kind) ?? name;
}

/** Returns `2026-11-22 08:36:00 UTC`. */
function readText(ms: number): string {
  return rfc3339(ms).replace("T", " ").replace("Z", " UTC");
}

/** What objects ask for and are not granted, since when, and who can grant it. */
function grantText(overview: Overview, layout: Layout): string {
  const lines = namedRows(overview).flatMap(({ row: { notGranted }, name }) => {
    if (notGranted === undefined) return [];
    const { since, message, reason } = notGranted;
    return entryLines("!", `${name}, since ${ago(since, overview.nowMs)}: ${message || reason}`, "", layout);
  });
  return lines.length === 0 ? "" : ["Not granted", ...lines].map((line) => `${line}\n`).join("");
}

/** A layout and the time that ages are counted to. */
interface Look extends StatusLayout {
  readonly nowMs: number;
}

/** A column of a table: its header, and what stands there for a row. */
type Column<Row> = readonly [header: string, cell: (row: Row) => Cell | string];

function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number | undefined): string {
  if (rows.length === 0) return "";
  const cells = rows.map((row) =>
    columns.map(([, cellOf]): Cell => {
      const cell = cellOf(row);
      return typeof cell === "string" ? { text: cell } : cell;
    }),
  );
  return renderTable(
    columns.map(([header]) => header),
    cells,
    width,
  );
}

/** What is particular to the table of one kind of object. */
interface ObjectTable<Row> {
  readonly title: string;
  readonly objectOf: (row: Row) => { readonly meta: ObjectMeta };
  /** Before the age. */
  readonly columns: readonly Column<Row>[];
  /** Behind the age, with `wide`. */
  readonly wideColumns?: readonly Column<Row>[];
}

/** Returns a table of objects; empty where there are none. What waits for a person has a column only where something does. */
function objectTable<Row extends Readiness>(
  rows: readonly Row[],
  { title, objectOf, columns, wideColumns = [] }: ObjectTable<Row>,
  { nowMs, palette, wide, width }: Look,
): string {
  const problem: Column<Row> = [
    "PROBLEM",
    ({ stalled }) => (stalled === undefined ? "-" : { text: stalled.reason, paint: palette.bad }),
  ];
  const all: readonly Column<Row>[] = [
    [title, (row) => objectKey(objectOf(row).meta)],
    ["READY", ({ ready }) => ({ text: ready, paint: ready === "True" ? palette.good : palette.bad })],
    ...(rows.some(({ stalled }) => stalled !== undefined) ? [problem] : []),
    ...columns,
    ["AGE", (row) => ageText(objectOf(row).meta, nowMs)],
    ...(wide ? wideColumns : []),
    [
      "REASON",
      (row) => {
        const why = row.ready === "True" && !wide ? row.reason : whyReady(row);
        return row.suspended === undefined ? why : `${suspendedText(row.suspended, nowMs)}; ${why}`;
      },
    ],
  ];
  return tableOf(all, rows, width);
}

/** Returns `suspended until 10:00:00 UTC (in 2h) by ana (maintenance 4711)`; only `suspended` where the spec says it. */
function suspendedText(suspended: Suspended, nowMs: number): string {
  const { source, untilMs } = suspended;
  if (source === "spec") return "suspended";
  const until = untilMs === undefined ? "" : ` ${untilText(untilMs, nowMs)}`;
  return `suspended${until} ${whySuspended(suspended)}`;
}

function ageText({ createdAtMs }: ObjectMeta, nowMs: number): string {
  return createdAtMs === 0 ? "-" : durationText(nowMs - createdAtMs);
}

function poolTable(rows: readonly PoolRow[]): ObjectTable<PoolRow> {
  return {
    title: "POOL",
    objectOf: ({ pool }) => pool,
    columns: [
      [
        "ACTIVE/DESIRED",
        ({ active, desired, unread }) => `${active}/${desired}${unread === 0 ? "" : ` (${unread} unread)`}`,
      ],
      ["WAITING NODES", ({ pool }) => String(pool.status.assignableNodes.length)],
      ...nameColumn(rows),
    ],
  };
}

/** Names have a column only where an object asks for one. */
function nameColumn<Row extends Pick<PoolRow, "name">>(rows: readonly Row[]): readonly Column<Row>[] {
  return rows.some(({ name }) => name !== undefined) ? [["DNS NAME", ({ name }) => wantedName(name)]] : [];
}

function addressTable(pools: readonly PoolRow[], { nowMs, palette, wide, width }: Look): string {
  const rows = pools.flatMap(({ addresses, pool }) => addresses.map((address) => ({ ...address, pool })));
  type Row = (typeof rows)[number];
  const wideColumns: readonly Column<Row>[] = [
    ["PROVIDER ID", ({ status }) => status.providerID ?? "-"],
    [
      "NOT MATCHING",
      ({ status }) => (status.notMatchingSince === undefined ? "-" : ago(status.notMatchingSince, nowMs)),
    ],
    ["RETRY", ({ retry }) => retryText(retry, nowMs)],
  ];
  const columns: readonly Column<Row>[] = [
    ["ADDRESS", ({ ip }) => ip],
    ["POOL", ({ pool }) => objectKey(pool.meta)],
    ["STATE", ({ status }) => ({ text: status.state, paint: palette[STATE_PAINT[status.state]] })],
    ["NODE", (row) => nodeCell(row, nowMs, palette)],
    ...(wide ? wideColumns : []),
    ["REASON", ({ status }) => [status.reason, status.error].filter(Boolean).join(": ") || "-"],
  ];
  return tableOf(columns, rows, width);
}

/** Where the address of each routed IP is, and whom it follows; with `wide` the machine, the firewalls with the ports that flipop opened for it, and what is tried again first. */
function routedIPTable(rows: readonly RoutedIPRow[], { nowMs, palette }: Look): ObjectTable<RoutedIPRow> {
  const firewallsOf = ({ routedIP }: RoutedIPRow): NonNullable<typeof routedIP.status.firewalls> =>
    routedIP.status.firewalls ?? [];
  return {
    title: "ROUTED IP",
    objectOf: ({ routedIP }) => routedIP,
    columns: [
      ["ADDRESS", ({ address }) => address || "-"],
      ["NODE", (row) => nodeCell(row, nowMs, palette)],
      ["STATE", (row) => stateCell(row, palette)],
      ["ISSUER", ({ routedIP }) => routedIP.spec.issuer || "-"],
      ["SERVICE", ({ routedIP }) => routedIP.spec.serviceName || "-"],
      ...nameColumn(rows),
    ],
    wideColumns: [
      ["PROVIDER ID", ({ status }) => status?.providerID ?? "-"],
      [
        "FIREWALL",
        (row) =>
          firewallsOf(row)
            .map(({ name }) => name)
            .join(", ") || "-",
      ],
      ["PORTS", (row) => [...new Set(firewallsOf(row).flatMap(({ ports }) => ports))].toSorted().join(", ") || "-"],
      [
        "RETRY",
        ({ retry }) => {
          const subject = retry === undefined || retry.subject.startsWith("ip/") ? "" : `${retry.subject}: `;
          return subject + retryText(retry, nowMs);
        },
      ],
    ],
  };
}

/** Returns `worker-1`, or `worker-1 (not ready 58s)` while it cannot serve. */
function nodeCell(
  { status, trouble }: Pick<RoutedIPRow, "status" | "trouble">,
  nowMs: number,
  palette: Palette,
): Cell | string {
  const name = status?.nodeName ?? "-";
  if (trouble === undefined) return name;
  const since = trouble.sinceMs === undefined ? "" : ` ${durationText(Math.max(nowMs - trouble.sinceMs, 0))}`;
  return { text: `${name} (${TROUBLES[trouble.kind]}${since})`, paint: palette.bad };
}

const TROUBLES: Readonly<Record<NodeTrouble["kind"], string>> = {
  gone: "gone",
  deleting: "being deleted",
  "not-ready": "not ready",
};

function stateCell({ status }: RoutedIPRow, palette: Palette): Cell | string {
  if (status === undefined) return "-";
  const unread = status.reason === "Unreadable" ? " (unread)" : "";
  return { text: status.state + unread, paint: palette[STATE_PAINT[status.state]] };
}

const RECORD_SET_PAINT: Readonly<Record<NonNullable<RecordSetStatus["state"]>, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
};

/** The name that each record set asks for, and the addresses its records had when last seen. */
function recordSetTable({ nowMs, palette, wide }: Look): ObjectTable<RecordSetRow> {
  return {
    title: "RECORD SET",
    objectOf: ({ recordSet }) => recordSet,
    columns: [
      ["DNS NAME", ({ name }) => nameText(name)],
      ["PROVIDER", ({ name }) => name.provider],
      [
        "STATE",
        ({ recordSet: { status } }) =>
          status.state === undefined ? "-" : { text: status.state, paint: palette[RECORD_SET_PAINT[status.state]] },
      ],
      ["PUBLISHED", (row) => publishedText(row, wide)],
    ],
    wideColumns: [
      ["ZONE", ({ name }) => name.zone || "-"],
      ["FORMER NAMES", ({ name, recordSet }) => formerText(formerNames(name, recordSet.status))],
      ["RETRY", ({ retry }) => retryText(retry, nowMs)],
    ],
  };
}

function formerText(names: DNSMemory["formerDNS"]): string {
  return listText(names.map(({ name, provider }) => `${name} at ${provider}`)) || "-";
}

/** How many addresses are shown unless `wide`. */
const MOST_ADDRESSES = 3;

/** The addresses that the record set wrote, and how many others stand beside them. */
function publishedText({ name, recordSet }: RecordSetRow, wide: boolean): string {
  const { publishedDNS } = recordSet.status;
  if (!name.isPublished || publishedDNS === undefined) return "-";
  const own = listText(shownAddresses(publishedDNS), wide ? Number.POSITIVE_INFINITY : MOST_ADDRESSES) || "none";
  const { foreign = [] } = publishedDNS;
  return foreign.length === 0 ? own : `${own} (and ${foreign.length} foreign)`;
}

/** How the state of an address is painted. */
const STATE_PAINT: Readonly<Record<IPState, keyof Palette>> = {
  active: "good",
  "in-progress": "notable",
  error: "bad",
  "no-match": "bad",
  unassigned: "notable",
  disabled: "faint",
};

/** Returns `2 failed, next in 5s`, or `-` when nothing is to be tried again. */
function retryText(retry: RetryStatus | undefined, nowMs: number): string {
  return retry === undefined ? "-" : `${retry.attempts} failed, next ${aheadText(retry.nextAttemptTime, nowMs)}`;
}

function reconcilerText({ reconciler: row, nowMs, nodesError }: Overview, { palette }: Layout): string {
  if (row.error !== "") return `${palette.strong("Reconciler")}\n  unknown: ${row.error}\n`;
  const result = row.lastResult === "" ? "" : `, exit code ${row.lastResult.replace(/^(\d+) (.+)$/, "$1 ($2)")}`;
  const lines = [
    palette.strong("Reconciler"),
    `  last run:       ${row.lastRun === "" ? "never" : ago(row.lastRun, nowMs)}${result}`,
    `  last full look: ${row.lastSuccess === "" ? "never" : ago(row.lastSuccess, nowMs)}`,
    ...row.putOff.map(putOffText),
    ...(row.suspension === undefined
      ? []
      : [
          `  suspended:      all objects ${suspendedText({ ...row.suspension, source: "object" }, nowMs).replace("suspended ", "")}`,
        ]),
    ...grantsText(row),
    `  lock:           Lease ${row.lease}, ${heldText(row, nowMs)}`,
    ...(nodesError === undefined ? [] : [`  nodes:          not looked at: ${plain(nodesError)}`]),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** How grants counted. Without them only where somebody asked. */
function grantsText({ grants, asksForGrants }: ReconcilerRow): readonly string[] {
  if (grants === "warn") return ["  grants:         only warned of (--grants warn)"];
  if (grants === "require") return ["  grants:         required (--grants require)"];
  return asksForGrants
    ? ["  grants:         off in the last run; flipop plan --grants warn says what is not granted"]
    : [];
}

function putOffText({ provider, names, until }: ReconcilerRow["putOff"][number]): string {
  const many = countText(names, "look");
  return `  put off:        ${many} at names at ${provider}, until ${until}: calls are kept for what is more urgent`;
}

function heldText({ heldBy, renewed }: ReconcilerRow, nowMs: number): string {
  return heldBy === "" ? "free" : `held by ${heldBy}, renewed ${ago(renewed, nowMs)}`;
}

function ago(time: string, nowMs: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : `${durationText(Math.max(nowMs - at, 0))} ago`;
}
