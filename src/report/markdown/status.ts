import { plainValue } from "../../model/text.ts";
import type { Overview } from "../overview.ts";
import { countText, PLAIN } from "../text/layout.ts";
import { reconcilerLines, type StatusTable, statusTables } from "../text/status.ts";
import { missingGrants, problemsOf, type StatusProblem } from "../text/status-problems.ts";
import { rfc3339 } from "../text/times.ts";
import { code, folded, item, listPart, markdownText, type Part, shown, tablePart } from "./markdown.ts";

/**
 * Returns the stored state as a comment on a pull request: how much is wrong as its heading, and what; then the tables of objects. Addresses, what waits and the
 * reconciler are folded.
 *
 * @param none - what to say where no object is selected
 */
export function statusMarkdown(overview: Overview, none: string = "No pools."): string {
  const found = plainValue(overview);
  const { cluster, nowMs } = found;
  const { problem: reconcilerProblem } = found.reconciler;
  const read = rfc3339(nowMs).replace("T", " ").replace("Z", " UTC");
  const tables = statusTables(found, { palette: PLAIN, wide: false });
  const told = problemsOf(found);
  const items = (symbol: StatusProblem["symbol"]): readonly string[] =>
    told
      .filter((problem) => problem.symbol === symbol)
      .map(({ what, since, next }) => item(what, [since, next].filter(Boolean).join("; ")));
  const wrong = [...items("!"), ...(reconcilerProblem === "" ? [] : [item(reconcilerProblem, "")])];
  const ungranted = missingGrants(found);
  const reconciler = reconcilerLines(found).map((line) => item(line.replace(/ {2,}/g, " "), ""));
  return markdownText({
    marker: "flipop status",
    heading: `flipop status: ${wrong.length === 0 ? "nothing is wrong" : countText(wrong.length, "problem")}`,
    lead: [`Cluster ${code(cluster)}, read ${read}.`, ...(tables.length === 0 ? ["", shown(none)] : [])],
    parts: [
      listPart("Wrong", wrong, ["problem", "problems"]),
      ...tables.map(partOf),
      listPart(
        "Not granted",
        ungranted.map(({ what }) => item(what, "")),
        ["missing grant", "missing grants"],
      ),
      folded("Waits", listPart("", items("."), ["wait", "waits"])),
      folded("Reconciler", listPart("", reconciler, ["fact", "facts"])),
    ],
    whole: "flipop status",
  });
}

/** Of few addresses everybody wants to see where they are. */
const MOST_UNFOLDED = 10;

function partOf({ title, headers, rows }: StatusTable): Part {
  const [one = "row", many = "rows"] = NOUNS.get(title) ?? [];
  const cells = rows.map(({ cells: texts }) => texts.map(shown));
  const table = tablePart(headers, cells, [one, many]);
  return rows.length > MOST_UNFOLDED ? folded(countText(rows.length, one, many), table) : table;
}

/** What the rows of a table are called, by its title. */
const NOUNS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ["POOL", ["pool", "pools"]],
  ["ADDRESS", ["address", "addresses"]],
  ["ROUTED IP", ["routed IP", "routed IPs"]],
  ["RECORD SET", ["record set", "record sets"]],
  ["RELEASED", ["released address", "released addresses"]],
]);
