// The part of the schema of SARIF 2.1.0 that flipop's logs use, written after section 3 of the standard. As there, an object has no other property than
// those it lists.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html (read 2026-11)

const MESSAGE = closed({ text: { type: "string" } }, "text");

const LEVEL = { enum: ["none", "note", "warning", "error"] };

const RULE = closed(
  {
    id: { type: "string" },
    shortDescription: MESSAGE,
    helpUri: { type: "string", format: "uri" },
    defaultConfiguration: closed({ level: LEVEL }),
  },
  "id",
);

const LOCATION = closed({
  physicalLocation: closed({
    artifactLocation: closed({ uri: { type: "string", format: "uri-reference" } }),
    region: closed({
      startLine: { type: "integer", minimum: 1 },
      startColumn: { type: "integer", minimum: 1 },
    }),
  }),
});

const RESULT = closed(
  {
    ruleId: { type: "string" },
    ruleIndex: { type: "integer", minimum: -1 },
    level: LEVEL,
    message: MESSAGE,
    locations: { type: "array", items: LOCATION },
  },
  "message",
);

const DRIVER = closed(
  {
    name: { type: "string" },
    version: { type: "string" },
    informationUri: { type: "string", format: "uri" },
    rules: { type: "array", uniqueItems: true, items: RULE },
  },
  "name",
);

const RUN = closed(
  {
    tool: closed({ driver: DRIVER }, "driver"),
    columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
    results: { type: "array", items: RESULT },
  },
  "tool",
);

/** What a log must be. */
export const SARIF_LOG: object = closed(
  {
    $schema: { type: "string", format: "uri" },
    version: { enum: ["2.1.0"] },
    runs: { type: "array", items: RUN },
  },
  "version",
  "runs",
);

function closed(properties: Readonly<Record<string, object>>, ...required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}
