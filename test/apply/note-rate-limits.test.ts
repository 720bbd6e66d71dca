import { expect, test } from "vitest";
import { noteRateLimits } from "../../src/apply/note-rate-limits.ts";
import { KubeError } from "../../src/model/errors.ts";
import { anObservation } from "../plan/builders.ts";

/** Notes a rate limit on a Lease that answers nothing more; `isHeld` = what the lock says once that has failed. */
function noteWith(isHeld: boolean): Promise<void> {
  let hasFailed = false;
  const lock = {
    isHeld: () => !hasFailed || isHeld,
    lost: new AbortController().signal,
    annotations: () => ({}),
    annotate: () => {
      hasFailed = true;
      const facts = { failure: "timeout", operation: "update", subject: "flipop/flipop", status: 0 } as const;
      return Promise.reject(new KubeError({ ...facts, message: "Lost Lease flipop/flipop." }));
    },
  };
  const cluster = { now: () => 0 } as Parameters<typeof noteRateLimits>[1]["cluster"];
  const clock = { monotonicMs: () => 0, wallMs: () => 0, sleep: () => Promise.resolve() };
  return noteRateLimits(anObservation({}), { lock, limits: new Map([["digitalocean", 5000]]), cluster, clock });
}

test("a Lease that is lost while a rate limit is noted takes nothing away from what the pass did", async () => {
  await expect(noteWith(false)).resolves.toBeUndefined();
});

test("a rate limit that may not be noted on a Lease that is held is an error", async () => {
  await expect(noteWith(true)).rejects.toThrow("Lost Lease");
});
