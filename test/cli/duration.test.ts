import { expect, test } from "vitest";
import { parseDuration } from "../../src/cli/flag-values.ts";

test.for([
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["1m30s", 90_000],
  ["1.5s", 1500],
  ["24h", 86_400_000],
  ["25h", undefined],
  ["0s", undefined],
  ["30", undefined],
  ["-5s", undefined],
  ["5 s", undefined],
  ["s", undefined],
  ["", undefined],
] as const)("the duration %s is %s milliseconds", ([text, ms]) => {
  expect(parseDuration(text)).toBe(ms);
});
