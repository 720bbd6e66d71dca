/** Measurements of one thing, in the order they were taken; at least one. */
export type Samples = readonly number[];

/** The middle of the samples, the mean of the two middle ones when their number is even. Pure. */
export function median(samples: Samples): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/** What to expect at worst: the 99th percentile of a hundred samples or more, else the largest. Pure. */
export function worst(samples: Samples): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = sorted.length < 100 ? sorted.length : Math.ceil(sorted.length * 0.99);
  return sorted[rank - 1] ?? Number.NaN;
}
