import { refKey } from "../../model/action.ts";
import { plain, plainValue } from "../../model/text.ts";
import { answeredBy, type Difference, type Live, type LiveAddress, type LiveObject, MOST_SUBJECTS } from "../live.ts";
import { namedRows, type Overview } from "../overview.ts";
import { type Cell, entryLines, type Layout, listText, renderTable, wrap } from "./layout.ts";
import { problemLines, unkeptProblems } from "./status-problems.ts";
import { rfc3339 } from "./times.ts";

/** Returns what is stored beside what everybody says now: a table for each object that has addresses, then each difference, then what could not be read. `=` agrees. */
export function renderLive(
  overview: Pick<Overview, "cluster" | "nowMs" | "live" | "hostsError" | "pools" | "routedIPs" | "recordSets">,
  layout: Layout & { readonly none?: string },
): string {
  const { objects, differences, unread } = plainValue(overview.live ?? NOTHING);
  const { none = "No pools.", width } = layout;
  const read = rfc3339(overview.nowMs).replace("T", " ").replace("Z", " UTC");
  const lines = [
    ...differences.flatMap((one) => differenceLines(one, layout)),
    ...unkeptProblems(plainValue(namedRows(overview)), overview.nowMs).flatMap((one) => problemLines(one, layout)),
    ...unread.flatMap(({ subjects, why }) => entryLines("?", listText(subjects, MOST_SUBJECTS), why, layout)),
    ...(overview.hostsError === undefined ? [] : entryLines("?", "flipop host", plain(overview.hostsError), layout)),
  ];
  const fine = "Everything is as status says.";
  return [
    linesText(wrap(`Cluster ${plain(overview.cluster)}, read ${read}`, "", width)),
    ...(objects.length === 0 ? [linesText(wrap(plain(none), "", width))] : objects.map((one) => section(one, layout))),
    ...(objects.length === 0 ? [] : [linesText(lines.length === 0 ? [fine] : lines)]),
  ].join("\n");
}

const NOTHING: Live = { objects: [], differences: [], unread: [] };

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** What the next run does not put right is `!`; what it does is `.`. */
function differenceLines({ message, why, isDue }: Difference, layout: Layout): readonly string[] {
  return entryLines(isDue ? "." : "!", message, why, layout);
}

function section(live: LiveObject, layout: Layout): string {
  const { object, name, addresses } = live;
  const { palette, width } = layout;
  const at = name === undefined ? "" : `, ${name.fqdn} at ${name.provider}`;
  const head = wrap(`${palette.strong(refKey(object))}${at}`, "", width);
  if (addresses.length === 0) return linesText([...head, "No address is on record."]);
  const hasPlace = object.kind !== "dns";
  const header = ["ADDRESS", "STATUS", ...(hasPlace ? ["PROVIDER", "ANNOTATION"] : []), "RECORD", "ANSWERED"];
  const rows = addresses.map((address): readonly Cell[] => [
    { text: address.ip },
    { text: address.status },
    ...(hasPlace ? [providerCell(address, layout), annotationCell(address, layout)] : []),
    recordCell(address, live, layout),
    answeredCell(address, live, layout),
  ]);
  return linesText(head) + renderTable(header, rows, { width });
}

function providerCell({ provider }: LiveAddress, layout: Layout): Cell {
  if (provider === undefined) return { text: "-" };
  const { seen, agrees } = provider;
  if (agrees === true) return { text: "=" };
  const text =
    seen.kind === "attached"
      ? (seen.nodeName ?? `machine ${seen.machineID}`)
      : { free: "free", gone: "gone", unread: "?" }[seen.kind];
  return painted(text, agrees, layout);
}

function annotationCell({ annotation }: LiveAddress, layout: Layout): Cell {
  if (annotation === undefined) return { text: "-" };
  if (annotation.agrees === true) return { text: "=" };
  return painted(annotation.nodeName ?? "no", annotation.agrees, layout);
}

function recordCell({ record }: LiveAddress, { name }: LiveObject, layout: Layout): Cell {
  if (record === undefined) return { text: name === undefined ? "-" : "?" };
  return painted(record.isShown ? "yes" : "no", record.agrees, layout);
}

function answeredCell({ ip, record }: LiveAddress, { name }: LiveObject, layout: Layout): Cell {
  if (name === undefined) return { text: "-" };
  if (name.kind === "read" && name.isProxied) return { text: "proxied" };
  const answered = answeredBy(ip, name);
  if (answered === undefined) return { text: "?" };
  const { having, of } = answered;
  const text = having === 0 ? "no" : `${having} of ${of} ${of === 1 ? "server" : "servers"}`;
  return painted(text, record?.isShown === having > 0 ? null : false, layout);
}

function painted(text: string, agrees: boolean | null, { palette }: Layout): Cell {
  return agrees === false ? { text, paint: palette.bad } : { text };
}
