const UNIT_MS: ReadonlyMap<string, number> = new Map<string, number>(
  Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }),
);
const LONGEST_MS = 24 * 3_600_000;

/**
 * Returns the milliseconds of `500ms`, `30s`, `5m`, `1h` or `1m30s`; undefined for anything else, for nothing (`0s`), and for
 * more than a day.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    sum += Number(number) * (UNIT_MS.get(unit ?? "") ?? 0);
  }
  return sum > 0 && sum <= LONGEST_MS ? sum : undefined;
}
