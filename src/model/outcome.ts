import type { Action } from "./action.ts";
import type { Address } from "./address.ts";
import type { KubeError, ProviderError } from "./errors.ts";
import type { Reason } from "./reason.ts";

/** What came of one action. */
export type Outcome =
  | {
      readonly action: Action;
      readonly outcome: "applied";
      readonly ms: number;
      /** The address as read back, where the action was about one. */
      readonly address?: Address;
    }
  | {
      /** Accepted and not yet seen to be true; the next run looks again. */
      readonly action: Action;
      readonly outcome: "unconfirmed";
      readonly ms: number;
      readonly address?: Address;
    }
  | {
      readonly action: Action;
      readonly outcome: "skipped";
      readonly ms: number;
      readonly reason: Reason;
      readonly detail: string;
      readonly address?: Address;
    }
  | {
      readonly action: Action;
      readonly outcome: "failed";
      readonly ms: number;
      readonly error: ProviderError | KubeError | Error;
      readonly address?: Address;
    };
