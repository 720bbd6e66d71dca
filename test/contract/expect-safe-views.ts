import { expect } from "vitest";

/**
 * Expects that a resolver never saw a bad set while a name went from `before` to `after` (neither is empty): never an empty set,
 * never an address of neither, and nothing old gone before everything new was there.
 */
export function expectSafeViews(
  views: readonly (readonly string[])[],
  before: readonly string[],
  after: readonly string[],
): void {
  const known = new Set([...before, ...after]);
  for (const view of views) {
    expect(view).not.toEqual([]);
    expect(view.filter((ip) => !known.has(ip))).toEqual([]);
    const missingOld = before.filter((ip) => !view.includes(ip) && !after.includes(ip));
    const missingNew = after.filter((ip) => !view.includes(ip));
    if (missingOld.length > 0) expect(missingNew).toEqual([]);
    // What stands before and after stands all the time.
    expect(before.filter((ip) => after.includes(ip) && !view.includes(ip))).toEqual([]);
  }
}
