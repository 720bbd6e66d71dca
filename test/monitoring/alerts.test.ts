import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { shippedText } from "../manifests/shipped.ts";
import { readPage } from "../readme/tables.ts";
import { METRIC_LABELS } from "./metric-names.ts";
import { freshRules, prometheusRule } from "./prometheus-rule.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Case {
  readonly input_series: readonly { readonly series: string }[];
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}

const RULES = parse(shippedText("monitoring/rules.yaml")).groups[0].rules as readonly Rule[];
const CASES = parse(readFileSync(new URL("alerts.promtool.yaml", import.meta.url), "utf8")).tests as readonly Case[];
const DASHBOARD = JSON.parse(shippedText("monitoring/dashboard.json")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: unknown }[] };
};
const PANELS = DASHBOARD.panels.filter(({ type }) => type !== "row");
/** Added by scraping, by the grouping of pushes, and by --shard. */
const TARGET_LABELS = ["cluster", "instance", "job", "le", "shard"];

/** Words of an expression that Prometheus itself gives a meaning. */
const WORDS = new Set(
  "time max min sum count group absent increase rate clamp_min bool by on ignoring and or unless offset max_over_time histogram_quantile".split(
    " ",
  ),
);

/** Names of an expression that are not known: no metric, no label of its metric. */
function unknownNames(expr: string): readonly string[] {
  const metrics = [...expr.matchAll(/\b(?:flipop|push)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ""),
  );
  const labels = [...TARGET_LABELS, ...metrics.flatMap((name) => METRIC_LABELS[name] ?? [])];
  const known = [...Object.keys(METRIC_LABELS), ...labels, ...WORDS];
  const withoutValues = expr
    .replace(/"[^"]*"/g, "")
    .replace(/\[\w+\]|(?<=offset )\w+/g, "")
    .replace(/\$\w+/g, "");
  const names = [...withoutValues.matchAll(/[a-zA-Z_]\w*/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ""),
  );
  return names.filter((name) => !known.includes(name));
}

test.for(RULES)("$alert names only metrics that exist, and their labels", ({ expr }) => {
  expect(unknownNames(expr)).toEqual([]);
});

test("a metric or label that does not exist is noticed", () => {
  expect(unknownNames('sum by (pool) (flipop_blocked{reson="x"}) > flipop_nothing')).toEqual([
    "pool",
    "reson",
    "flipop_nothing",
  ]);
});

test.for(RULES)("$alert has a severity, says what is wrong, and has a section in the manual", (rule) => {
  const { alert, labels, annotations } = rule;
  expect(["critical", "warning", "info"]).toContain(labels["severity"]);
  expect(Object.keys(annotations).sort()).toEqual(["description", "runbook_url", "summary"]);
  expect(annotations["runbook_url"]).toMatch(new RegExp(`^https://[^#?]+#${alert.toLowerCase()}$`));
  expect(readPage("cronjob/monitoring/README.md")).toContain(`\n### ${alert}\n`);
});

test.for(RULES)("$alert has a case in which it fires and one in which it does not, with real metrics", ({ alert }) => {
  const own = CASES.filter((one) => one.alert_rule_test.some(({ alertname }) => alertname === alert));
  const counts = own.flatMap((one) => one.alert_rule_test.map(({ exp_alerts }) => exp_alerts.length));
  expect([counts.includes(0), counts.some((count) => count > 0)]).toEqual([true, true]);
  const names = own.flatMap((one) => one.input_series.map(({ series }) => /^\w+/.exec(series)?.[0] ?? ""));
  expect(names.filter((name) => METRIC_LABELS[name] === undefined)).toEqual([]);
});

test("the manual has a section for no other alert", () => {
  const sections = [...readPage("cronjob/monitoring/README.md").matchAll(/^### (Flipop\w+)$/gm)].map(
    ([, name]) => name,
  );
  expect(sections).toEqual(RULES.map(({ alert }) => alert));
});

test("the runbooks are where package.json says that flipop is at home (node test/monitoring/prometheus-rule.ts enters it)", () => {
  expect(shippedText("monitoring/rules.yaml")).toBe(freshRules());
});

test("the PrometheusRule holds the same rules (node test/monitoring/prometheus-rule.ts makes it)", () => {
  expect(shippedText("monitoring/prometheusrule.yaml")).toBe(prometheusRule());
  expect(parse(prometheusRule()).spec).toEqual(parse(shippedText("monitoring/rules.yaml")));
});

test.for(PANELS)(
  "the panel '$title' of the dashboard names only metrics that exist, and their labels",
  ({ targets }) => {
    expect(targets?.length).toBeGreaterThan(0);
    expect((targets ?? []).flatMap(({ expr }) => unknownNames(expr))).toEqual([]);
  },
);

test("no two panels of the dashboard overlap, and each is within its 24 columns", () => {
  const cells = DASHBOARD.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(DASHBOARD.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

test("every metric is in the dashboard or in an alert", () => {
  const text = JSON.stringify([DASHBOARD, RULES]);
  const shown = Object.keys(METRIC_LABELS).filter((name) => !text.includes(name));
  expect(shown).toEqual([]);
});
