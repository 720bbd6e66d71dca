/** Returns the word that is most like a wanted one, where at most so many letters differ: two, or a third of it; undefined if none is so near. Pure. */
export function nearest(
  wanted: string,
  words: readonly string[],
  most: number = Math.max(2, Math.floor(wanted.length / 3)),
): string | undefined {
  const ranked = words
    .map((word) => ({ word, distance: distanceOf(wanted, word) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [first] = ranked;
  return first !== undefined && first.distance <= most ? first.word : undefined;
}

/** How many letters have to be added, left out or replaced. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
