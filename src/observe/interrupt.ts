/** Thrown by work that a signal ended while it only read. */
export class Interrupted extends Error {
  override readonly name: string = "Interrupted";
}

/** Resolves as the work does, or rejects with {@link Interrupted} as soon as the signal is aborted. For work that only reads. */
export async function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw new Interrupted();
  let stop: (() => void) | undefined;
  const interrupted = new Promise<never>((_, reject) => {
    stop = () => reject(new Interrupted());
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}
