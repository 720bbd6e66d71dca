import { expect, test } from "vitest";
import { Attempts } from "../../src/apply/attempts.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");
const POOL = { kind: "pool", namespace: "shop", name: "web" } as const;

/** A process whose write of a status ended late, at a time of the API server's clock. */
async function lateAt(nowMs: number): Promise<(laterMs: number) => boolean> {
  const attempts = new Attempts({ isLasting: true });
  const end = Promise.resolve({});
  attempts.awaitStatus("pool/shop/web", end, nowMs);
  await end;
  return (laterMs) => attempts.mayWriteStatus(POOL, nowMs + laterMs, () => false);
}

test("a status that did not land is written again a second later", async () => {
  const mayWrite = await lateAt(NOW_MS);
  expect(mayWrite(999)).toBe(false);
  expect(mayWrite(1000)).toBe(true);
});

test.for([3_600_000, 365 * 86_400_000])(
  "a clock that is set back by %i ms keeps no status from being written",
  async (backMs) => {
    const mayWrite = await lateAt(NOW_MS);
    expect(mayWrite(-backMs)).toBe(true);
  },
);
