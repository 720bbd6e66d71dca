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

/** How many letters have to be added, left out or replaced, or neighbours exchanged. */
function distanceOf(a: string, b: string): number {
  const [from, to] = [[...a], [...b]];
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      const replaced = at(row, j) + (letter === other ? 0 : 1);
      const exchanged = letter === to[j - 1] && from[i - 1] === other ? at(before, j - 1) + 1 : replaced;
      next.push(Math.min(at(next, j) + 1, at(row, j + 1) + 1, replaced, exchanged));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

type Labels = Readonly<Record<string, string>>;

/** A part of a selector: `key=value` or `key==value`, as a key and a value. */
export const EQUALITY: RegExp = /^\s*([^\s=!,<>()]+)\s*==?\s*([^\s=!,<>()]*)\s*$/;

/** Returns the labels that a selector of nothing but `key=value` asks for; undefined for any other selector. Pure. */
export function labelsAskedFor(selector: string): Labels | undefined {
  const parts = selector.split(",").map((part) => EQUALITY.exec(part));
  const asked = parts.flatMap((part) => (part === null ? [] : [[part[1] ?? "", part[2] ?? ""] as const]));
  return asked.length === parts.length ? Object.fromEntries(asked) : undefined;
}

/**
 * Returns the selector that was meant by one that selects none of these: each part of it that nothing has gets the nearest value of its key, else the nearest key of its
 * value, at most two letters away, and at most half of them. Undefined where there is none, where nothing has all parts together, and for a selector of anything but `key=value`. Pure.
 */
export function nearestSelector(selector: string, things: readonly Labels[]): string | undefined {
  const asked = labelsAskedFor(selector);
  if (asked === undefined) return undefined;
  const meant = Object.entries(asked).map(([key, value]) => meantLabel(key, value, things));
  const known = meant.flatMap((label) => (label === undefined ? [] : [label]));
  const fits = (labels: Labels): boolean => known.every(([key, value]) => valueAt(labels, key) === value);
  if (known.length < meant.length || !things.some(fits)) return undefined;
  const isNear = known.some(([key, value]) => asked[key] !== value);
  return isNear ? known.map(([key, value]) => `${key}=${value}`).join(",") : undefined;
}

function meantLabel(key: string, value: string, things: readonly Labels[]): readonly [string, string] | undefined {
  if (things.some((labels) => valueAt(labels, key) === value)) return [key, value];
  const values = things.flatMap((labels) => valueAt(labels, key) ?? []);
  const near = nearWord(value, values);
  if (near !== undefined) return [key, near];
  const keys = things.flatMap((labels) => Object.keys(labels).filter((other) => labels[other] === value));
  const other = nearWord(key, keys);
  return other === undefined ? undefined : [other, value];
}

function valueAt(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function nearWord(wanted: string, words: readonly string[]): string | undefined {
  return nearest(wanted, [...new Set(words)].toSorted(), Math.min(2, Math.floor(wanted.length / 2)));
}
