import type { Secrets } from "../ports/system.ts";
import type { Backend } from "./backend.ts";
import type { Environment } from "./environment.ts";
import type { Streams } from "./write.ts";

/** One call of the program: everything that comes from outside, so that a test can give it. */
export interface Invocation {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly streams: Streams;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Short and unique per run; in every log line. */
  readonly runID: string;
  /** Names this process on the Lease. */
  readonly identity: string;
  /** Local wall clock, milliseconds; times of log lines. */
  readonly wallMs: () => number;
  /** Knows the secrets of the process. Absent = the call starts with those of its own environment. */
  readonly secrets?: Secrets;
  /** Called only by commands that need a cluster. */
  readonly loadBackend: () => Promise<Backend>;
}
