import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "../../bin/bundle.ts";
import { CHART, chartFiles } from "../../bin/chart.ts";
import { licenceTable, thirdParties } from "../../bin/third-party.ts";
import { processMetrics } from "../../src/adapters/pushgateway/pushgateway.ts";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { ACTIONS } from "../../src/model/action-kinds.ts";
import { type IPFamily, sourceText } from "../../src/model/address-source.ts";
import { CHECK_CODES, CHECKS } from "../../src/model/check.ts";
import type { TTLRules } from "../../src/model/dns.ts";
import { FINDING_CODES, FINDINGS } from "../../src/model/finding.ts";
import type { AddressTraits } from "../../src/model/provider.ts";
import { REASONS } from "../../src/model/reason.ts";
import { RECORD_TYPES } from "../../src/model/record-types.ts";
import { exitCodes } from "../../src/report/exit-code.ts";
import { METRICS, type MetricName, metricFacts } from "../../src/report/metrics/metrics.ts";
import { rememberedTable } from "../campaign/remembered-state.ts";
import { ON_CALL } from "../stories/on-call.ts";

const ROOT: URL = new URL("../../", import.meta.url);

/** The manual, from the root of the project: the door, and what stands in the folder that it is about. */
export const MANUAL: readonly string[] = [
  "README.md",
  "cronjob/README.md",
  "cronjob/crds/README.md",
  "cronjob/monitoring/README.md",
  "src/README.md",
  "src/doctor/README.md",
  "test/README.md",
];

/** The generated tables of the manual, by the name between their markers. */
export function manualTables(): Readonly<Record<string, string>> {
  const codes = exitCodes().map(({ code, meaning, retry }) => `| ${code} | ${meaning} | ${retry} |`);
  const reasons = Object.entries(REASONS).map(([reason, { text }]) => `| \`${reason}\` | ${text} |`);
  const findings = FINDING_CODES.map((code) => {
    const { severity, text } = FINDINGS[code];
    return `| \`${code}\`${severity === "warning" ? " ~" : ""} | ${text} |`;
  });
  const checks = CHECK_CODES.map((code) => {
    const { group, text, consequence, hint, command } = CHECKS[code];
    const shown = command === undefined ? "" : `\n\`\`\`sh\n${command}\n\`\`\`\n`;
    return `#### ${code}\n\n${group}: ${text}\n\n${consequence} ${hint}\n${shown}`;
  });
  const metrics = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { type, labels, help } = metricFacts(name);
    return `| \`${name}\` | ${type} | ${labels.replaceAll(" ", ", ")} | ${help} |`;
  });
  return {
    metrics: ["| metric | type | labels | meaning |", "|---|---|---|---|", ...metrics].join("\n"),
    "exit-codes": ["| code | meaning | retry |", "|---|---|---|", ...codes].join("\n"),
    "remembered-state": rememberedTable(),
    checks: `\n${checks.join("\n")}`,
    providers: providerTable(),
    findings: ["| code | finding |", "|---|---|", ...findings].join("\n"),
    reasons: ["| reason | meaning |", "|---|---|", ...reasons].join("\n"),
  };
}

/** What works where, from the registry. */
function providerTable(): string {
  const rows = PROVIDERS.names.map((name) => {
    const { dns, firewalls, family } = PROVIDERS.get(name) ?? {};
    const addresses = addressesOf(name);
    const named = family === undefined ? `\`${name}\`` : `\`${name}\`, \`${name}-…\``;
    const ttl = dns?.ttlRules === undefined ? "as it says" : ttlText(dns.ttlRules);
    const names = dns === undefined ? "no" : dns.isDefault === true ? "yes, where no provider is named" : "yes";
    const zone = dns?.zoneIDPattern ? "name or id" : "name";
    const cells = [named, familiesText(addresses), perNodeText(addresses), hostText(addresses), names, ttl, zone];
    return `| ${[...cells, yesNo(firewalls)].join(" | ")} |`;
  });
  const types = Object.keys(RECORD_TYPES).join(" and ");
  const heads = ["provider", "addresses", "of them on a node", "on its host, too", `names (${types} records)`];
  const head = [...heads, "TTL", "zone", "firewalls"];
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}

/** What a provider can do with the addresses of a family that it has. */
type OfFamily = readonly [family: IPFamily, traits: AddressTraits];

/** Of each family of addresses that a provider has, what it can do with them. */
function addressesOf(provider: string): readonly OfFamily[] {
  return (["IPv4", "IPv6"] as const).flatMap((family) => {
    const traits = PROVIDERS.get(sourceText({ provider, family }))?.addresses;
    return traits === undefined ? [] : [[family, traits] as const];
  });
}

function familiesText(addresses: readonly OfFamily[]): string {
  return addresses.length === 0 ? "no" : addresses.map(([family]) => family).join(", ");
}

function perNodeText(addresses: readonly OfFamily[]): string {
  const text = sameOrEach(addresses, ({ addressesPerMachine: most }) =>
    Number.isFinite(most) ? `${most}` : "as `maxPerNode` says",
  );
  return addresses.length > 1 ? `${text}, of each family` : text;
}

function hostText(addresses: readonly OfFamily[]): string {
  return sameOrEach(addresses, ({ needsHost }) => (needsHost === true ? "must be" : "need not be"));
}

/** What holds of all families; else of each what holds of it. */
function sameOrEach(addresses: readonly OfFamily[], text: (traits: AddressTraits) => string): string {
  const texts = new Set(addresses.map(([, traits]) => text(traits)));
  if (texts.size < 2) return [...texts].join("");
  return addresses.map(([family, traits]) => `${family} ${text(traits)}`).join(", ");
}

function yesNo(traits: object | undefined): string {
  return traits === undefined ? "no" : "yes";
}

function ttlText({ minimumSeconds, maximumSeconds, automaticSeconds }: TTLRules): string {
  const automatic = automaticSeconds === undefined ? "" : `; ${automaticSeconds} = automatic`;
  return `${minimumSeconds} to ${maximumSeconds} s${automatic}`;
}

/** A page of the manual with its tables made anew; `more` are tables that take longer to make. */
export function freshPage(text: string, more: Readonly<Record<string, string>> = {}): string {
  return Object.entries({ ...manualTables(), ...more }).reduce(
    (page, [name, table]) =>
      page.replace(
        new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- /generated -->)`),
        (_, open: string, close: string) => `${open}${table}\n${close}`,
      ),
    text,
  );
}

/** Where the published schema of a plan lists the kinds of actions and the reasons. */
const PLAN_SCHEMA = "src/report/schema/plan.json";

/** The schema of a plan with its lists of kinds and reasons made anew. */
export function freshSchema(text: string): string {
  return text.replace(/^( *)"enum": \[\n([^\]]*)\]/gm, (list, indent: string, items: string) => {
    const [kinds, reasons] = [Object.keys(ACTIONS).toSorted(), Object.keys(REASONS)];
    const more = items.includes('"reconcile"') ? [...kinds, "reconcile"] : kinds;
    const names = items.includes('"NodeDeleting"') ? reasons : items.includes('"assign-ip"') ? more : undefined;
    if (names === undefined) return list;
    return `${indent}"enum": [\n${names.map((name) => `${indent}  "${name}"`).join(",\n")}\n${indent}]`;
  });
}

/** A page of the manual as it is. */
export function readPage(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** The table of the metrics of a process, from what it writes. */
export async function processTable(): Promise<string> {
  const text = await processMetrics()();
  const rows = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`,
  );
  return ["| metric | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

/** The door's table of licences, from the bundle itself: some 2 s. */
async function licencesOfBundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "flipop-licences-"));
  try {
    return licenceTable(thirdParties(await bundle("src/cli/main.ts", folder)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const PLAY = fileURLToPath(new URL("test/stories/play.ts", ROOT));

/** The incident of the chapter "On call", as it is played on the embedded world: some 2 s. */
async function playedIncident(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PLAY, ON_CALL.title]);
  return incidentOf(JSON.parse(stdout));
}

/** The same of an incident that was played among others; the transcripts are by title. */
export function incidentOf(transcripts: Readonly<Record<string, string>>): string {
  return `\n${(transcripts[ON_CALL.title] ?? "").replace(/^# .*\n\n/, "")}`;
}

if (import.meta.main) {
  const more = {
    "process-metrics": await processTable(),
    licences: await licencesOfBundle(),
    "on-call": await playedIncident(),
  };
  for (const path of MANUAL) writeFileSync(new URL(path, ROOT), freshPage(readPage(path), more));
  writeFileSync(new URL(PLAN_SCHEMA, ROOT), freshSchema(readPage(PLAN_SCHEMA)));
  for (const [path, text] of chartFiles()) writeFileSync(new URL(`${CHART}/${path}`, ROOT), text);
}
