import type { Call } from "./call.ts";
import type { ReadAccess } from "./cluster-reader.ts";
import type { Answer } from "./exchange.ts";
import type { SeenObjects } from "./seen-objects.ts";
import type { Confirmation } from "./transport.ts";

/** What a writer is built from, beside what a reader is. */
export interface WriteAccess extends ReadAccess {
  /** The answer of any call that succeeded, see `Transport.send`. */
  readonly write: (call: Call, confirm?: Confirmation) => Promise<Answer>;
  readonly seen: SeenObjects;
}
