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
