import type { Histogram } from "../../model/meter.ts";
import type { LabelName, METRICS, MetricName } from "./metrics.ts";

/** A value of a metric with its labels. */
export interface Sample {
  readonly metric: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  /** A histogram comes with the upper bounds of its buckets, in the metric's unit. */
  readonly value: number | { readonly histogram: Histogram; readonly bounds: readonly number[] };
}

type Value<N extends MetricName> = (typeof METRICS)[N]["type"] extends "histogram"
  ? Exclude<Sample["value"], number>
  : number;

/** Returns a sample; the compiler holds that it has exactly the labels of its metric, and its kind of value. */
export function sample<N extends MetricName>(
  metric: N,
  labels: Readonly<Record<LabelName<N>, string>>,
  value: Value<N>,
): Sample {
  return { metric, labels, value };
}
