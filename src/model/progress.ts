import type { Action } from "./action.ts";
import type { Hold } from "./plan.ts";

/** Something that a command waits for. */
export type Wait =
  /** An answer of a provider, by its name, or of the API server. */
  | { readonly kind: "provider"; readonly name: string }
  | { readonly kind: "cluster" }
  /** The end of an action that has begun. */
  | { readonly kind: "action"; readonly action: Action }
  /** The end of a hold; undefined = something that is left over and has no time of its own. */
  | { readonly kind: "hold"; readonly hold: Hold | undefined }
  /** The rest of a file, or of standard input, by its name. */
  | { readonly kind: "file"; readonly name: string }
  /** A Lease that somebody else holds. `lease` = `NAMESPACE/NAME`; `holder` may be `""`. */
  | { readonly kind: "lease"; readonly lease: string; readonly holder: string };

/** Is told what a command waits for, so that a person can be told who wonders. */
export interface Progress {
  /** Notes that something is waited for from now on. Returns what ends that. */
  begin(wait: Wait): () => void;
}

/** Does work that has to wait for something, and notes that as long as it lasts. Without a progress it only does the work. */
export async function waitingFor<T>(progress: Progress | undefined, wait: Wait, work: () => Promise<T>): Promise<T> {
  const end = progress?.begin(wait);
  try {
    return await work();
  } finally {
    end?.();
  }
}
