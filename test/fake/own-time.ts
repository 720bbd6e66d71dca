/** How often {@link waitedMs} looks, milliseconds. */
const TICK_MS = 10;

/** The time that `work` takes of this thread's processor, in milliseconds: what else the machine does has no part in it. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How long `work` waits, in milliseconds to the nearest 10, as this process saw it: a moment in which the whole process stands still counts as
 * one look. So a limit on it is a limit on what the code waits for, not on how busy the machine is.
 */
export async function waitedMs(work: () => Promise<unknown>): Promise<number> {
  let looks = 0;
  const looking = setInterval(() => {
    looks += 1;
  }, TICK_MS);
  try {
    await work();
  } finally {
    clearInterval(looking);
  }
  return looks * TICK_MS;
}
