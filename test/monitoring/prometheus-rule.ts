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

/** The PrometheusRule that the plain rules make: `node test/monitoring/prometheus-rule.ts` writes it. */
export function prometheusRule(): string {
  const rules = readFileSync(new URL("rules.yaml", FOLDER), "utf8");
  const groups = rules.slice(rules.indexOf("groups:"));
  return `${HEAD}${groups.replace(/^(?=.)/gm, "  ")}`;
}

if (import.meta.main) writeFileSync(new URL("prometheusrule.yaml", FOLDER), prometheusRule());
