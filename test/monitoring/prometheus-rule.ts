import { readFileSync, writeFileSync } from "node:fs";

const FOLDER: URL = new URL("../../cronjob/monitoring/", import.meta.url);

const HEAD = `# rules.yaml for the Prometheus operator.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: flipop
  namespace: flipop
  labels:
    app.kubernetes.io/name: flipop
    app.kubernetes.io/component: monitoring
    app.kubernetes.io/part-of: flipop
spec:
`;

/** The plain rules as they should be: each `runbook_url` leads to the alert's section of `cronjob/monitoring/README.md` at package.json's `homepage`. */
export function freshRules(): string {
  const { homepage } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return readFileSync(new URL("rules.yaml", FOLDER), "utf8").replace(
    /(?<=^ +runbook_url: )\S+(?=#)/gm,
    `${homepage}/blob/main/cronjob/monitoring/README.md`,
  );
}

/** The PrometheusRule that the plain rules make: `node test/monitoring/prometheus-rule.ts` writes both. */
export function prometheusRule(): string {
  const rules = freshRules();
  const groups = rules.slice(rules.indexOf("groups:"));
  return `${HEAD}${groups.replace(/^(?=.)/gm, "  ")}`;
}

if (import.meta.main) {
  writeFileSync(new URL("rules.yaml", FOLDER), freshRules());
  writeFileSync(new URL("prometheusrule.yaml", FOLDER), prometheusRule());
}
