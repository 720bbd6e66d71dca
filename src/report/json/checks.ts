import { CHECK_GROUPS, CHECKS, type CheckFinding, type CheckReport, countResults } from "../../model/check.ts";
import { API_VERSION, type JSONObject } from "./document.ts";

/** Where the codes are explained, below the page of the program. */
const MANUAL = "blob/main/src/doctor/README.md";

/** Returns the document `Checks`. Schema: `schema/checks.json`. Pure. */
export function checksDocument(report: CheckReport, success: boolean, homepage: string): JSONObject {
  const groups = CHECK_GROUPS.map((name) => ({
    name,
    checks: report.findings.filter(({ code }) => CHECKS[code].group === name).map((one) => checkOf(one, homepage)),
  }));
  return {
    apiVersion: API_VERSION,
    kind: "Checks",
    success,
    summary: {
      fine: countResults(report, "success"),
      warnings: countResults(report, "warning"),
      failures: countResults(report, "error"),
      unknown: countResults(report, "unknown"),
      skipped: countResults(report, "skipped"),
    },
    groups: groups.filter(({ checks }) => checks.length > 0),
  };
}

function checkOf({ code, result, message, ms, ...own }: CheckFinding, homepage: string): JSONObject {
  const isWrong = result === "error" || result === "warning";
  const { text, consequence, hint, command } = CHECKS[code];
  const url = `${homepage}/${MANUAL}#${code.toLowerCase()}`;
  const advice = isWrong
    ? { consequence: own.consequence ?? consequence, hint: own.hint ?? hint, command: own.command ?? command }
    : {};
  return { code, description: text, result, message, ...advice, url, ms };
}
