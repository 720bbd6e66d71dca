import { KubeError, type KubeFailure } from "../model/errors.ts";
import type { Clock } from "../ports/system.ts";

/** Failures that say nothing about the Lease itself: the call may have taken effect, and may succeed when repeated. */
const TRANSIENT: ReadonlySet<KubeFailure> = new Set(["rate-limited", "unavailable", "timeout", "malformed"]);
/** Failures that say the record was changed, created or deleted by someone since it was read. */
const OVERTAKEN: ReadonlySet<KubeFailure> = new Set(["conflict", "already-exists", "not-found"]);

/** True when the same call may succeed a moment later, or has succeeded and only its answer was lost. */
export function isTransient(error: unknown): boolean {
  return error instanceof KubeError && TRANSIENT.has(error.failure);
}

/** True when the Lease must be read again because somebody else wrote it, or an earlier write of ours did arrive. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof KubeError && OVERTAKEN.has(error.failure);
}

/**
 * The answer of one call about the Lease, given up after `limitMs` or when the signal is aborted. A call that was given
 * up may still take effect.
 * @throws KubeError `timeout` when it was given up; else what the call throws.
 */
export async function leaseCall<T>(
  limits: { readonly clock: Clock; readonly limitMs: number; readonly signal?: AbortSignal },
  lease: { readonly verb: string; readonly namespace: string; readonly name: string },
  call: () => Promise<T>,
): Promise<T> {
  const { clock, limitMs, signal } = limits;
  const over = new AbortController();
  const stop = (): void => over.abort();
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const giveUp = async (): Promise<never> => {
    await clock.sleep(limitMs, over.signal);
    const subject = `${lease.namespace}/${lease.name}`;
    throw new KubeError({
      failure: "timeout",
      operation: `${lease.verb} leases.coordination.k8s.io`,
      subject,
      status: 0,
      message: `Could not ${lease.verb} Lease ${subject}: no answer within ${Math.ceil(limitMs)} ms. Check the connection to the API server.`,
    });
  };
  try {
    return await Promise.race([call(), giveUp()]);
  } finally {
    signal?.removeEventListener("abort", stop);
    over.abort();
  }
}
