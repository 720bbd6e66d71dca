import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from "prom-client";
import { type MetricName, metricFacts } from "../../report/metrics/metrics.ts";
import type { Sample } from "../../report/metrics/sample.ts";

/** Returns samples in Prometheus' text format 0.0.4, ending with a line feed; metrics without samples are left out. */
export async function metricsText(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry();
  for (const [name, own] of Map.groupBy(samples, ({ metric }) => metric)) register(registry, name, own);
  return registry.metrics();
}

function register(registry: Registry, name: MetricName, samples: readonly Sample[]): void {
  const { type, labels, help } = metricFacts(name);
  const labelNames = labels === "" ? [] : labels.split(" ");
  const config = { name, help, labelNames, registers: [registry] };
  if (type === "histogram") {
    const histogram = new StoredHistogram({ ...config, registers: [] }, samples);
    registry.registerMetric(histogram);
    return;
  }
  const metric = type === "counter" ? new Counter(config) : new Gauge(config);
  for (const { labels: values, value } of samples) if (typeof value === "number") metric.inc(values, value);
}

/** A histogram of what earlier runs counted, too; prom-client's own can only observe one value after the other. */
class StoredHistogram extends Histogram<string> {
  private readonly facts: { readonly name: string; readonly help: string };
  private readonly stored: readonly Sample[];

  constructor(
    config: { name: string; help: string; labelNames: string[]; registers: Registry[] },
    stored: readonly Sample[],
  ) {
    super(config);
    this.facts = config;
    this.stored = stored;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help } = this.facts;
    const values = this.stored.flatMap((sample) => series(name, sample));
    // The typings have an enumeration where the text says `histogram`.
    return { name, help, type: "histogram" as never, aggregator: "sum", values, collect: () => undefined };
  }

  /** What the registry asks for instead of {@link get} when it writes text. */
  async getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }
}

function series(name: string, { labels, value }: Sample): MetricValueWithName<string>[] {
  if (typeof value === "number") return [];
  const { counts, sum } = value.histogram;
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    const le = value.bounds[at] === undefined ? "+Inf" : String(value.bounds[at]);
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
