import { METRICS } from "../../src/report/metrics/metrics.ts";

/** The labels of every metric that flipop pushes, and of the one that the Pushgateway adds. */
export const METRIC_LABELS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(METRICS).map(([name, { labels }]) => [name, labels.split(" ")])),
  push_time_seconds: [],
};
