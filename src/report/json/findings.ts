import { countOf, FINDING_CODES, FINDINGS, type Finding, type Findings } from "../../model/finding.ts";
import { saidOf } from "../text/findings.ts";
import { API_VERSION, type JSONObject } from "./document.ts";

/** Returns the document `Findings`. Schema: `schema/findings.json`. Pure. */
export function findingsDocument(
  { findings, objects, others, files, suppressed }: Findings,
  success: boolean,
): JSONObject {
  return {
    apiVersion: API_VERSION,
    kind: "Findings",
    success,
    errors: countOf(findings, "error"),
    warnings: countOf(findings, "warning"),
    suppressed,
    objects,
    others,
    files,
    findings: findings.map(({ code, severity, file, line, column, object, path, message }) => ({
      code,
      severity,
      file,
      line,
      column,
      object,
      path,
      message,
    })),
  };
}

/** Where the codes are explained, below the page of the program. */
const HELP = "blob/main/cronjob/crds/README.md#check-manifests-before-they-are-applied";

/** The program that found something. */
interface Tool {
  readonly version: string;
  readonly homepage: string;
}

/**
 * Returns findings as a log in the format SARIF, which services for code reviews read. Pure.
 * @param uriOf - the path of a file, relative to the working directory
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
 */
export function sarifLog(
  { findings }: Findings,
  { version, homepage }: Tool,
  uriOf: (file: string) => string,
): JSONObject {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "flipop",
            version,
            informationUri: homepage,
            rules: FINDING_CODES.map((code) => ({
              id: code,
              shortDescription: { text: FINDINGS[code].text },
              helpUri: `${homepage}/${HELP}`,
              defaultConfiguration: { level: FINDINGS[code].severity },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => resultOf(finding, uriOf)),
      },
    ],
  };
}

function resultOf(finding: Finding, uriOf: (file: string) => string): JSONObject {
  const { code, severity, file, line: startLine, column: startColumn } = finding;
  return {
    ruleId: code,
    ruleIndex: FINDING_CODES.indexOf(code),
    level: severity,
    message: { text: saidOf(finding) },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine, startColumn } } }],
  };
}
