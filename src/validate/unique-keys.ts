import { type Document, isScalar, visit } from "yaml";

/**
 * Returns where each key stands that its object has already, as offsets in the text in its order. The parser can tell, too; but it compares each key with all before it, and ten thousand
 * keys take it seconds. Pure.
 */
export function keysThatStandTwice(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        names.add(key.value);
      }
    },
  });
  return offsets.sort((a, b) => a - b);
}
