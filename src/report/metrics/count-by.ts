/** Returns how often each combination of labels occurs, in the order of first occurrence. Pure. */
export function countBy<T, L extends Readonly<Record<string, string>>>(
  items: readonly T[],
  labelsOf: (item: T) => L,
): readonly { readonly labels: L; readonly count: number }[] {
  const counts = new Map<string, { readonly labels: L; readonly count: number }>();
  for (const item of items) {
    const labels = labelsOf(item);
    const key = JSON.stringify(labels);
    counts.set(key, { labels, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
