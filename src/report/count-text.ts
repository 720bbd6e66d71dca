/** Returns `1 node`, `2 nodes`, `0 nodes`; `plural` where adding an s is wrong. */
export function countText(count: number, singular: string, plural: string = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Returns `a`, `a and b`, `a, b and c`; beyond `most` entries `a, b and 5 more`. */
export function listText(items: readonly string[], most: number = Number.POSITIVE_INFINITY): string {
  const shown = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}
