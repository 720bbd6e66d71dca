const DECIMAL = /^[1-9]\d*$/;

/**
 * Which of two resourceVersions of one kind is newer: negative, zero or positive as of numbers; undefined when one of them is no number, so that nobody can tell.
 * They may have any length, which is why they are compared as text. Pure.
 * @see https://github.com/kubernetes/enhancements/issues/5504 (comparable resource versions), verified 2026-08
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the version to go on from: `next` if it is known to be newer, else `present`. Text that is no number replaces only text; `""` replaces nothing. Pure.
 */
export function laterVersion(present: string, next: string): string {
  const order = compareVersions(next, present);
  if (order !== undefined) return order > 0 ? next : present;
  return next === "" || DECIMAL.test(present) ? present : next;
}
