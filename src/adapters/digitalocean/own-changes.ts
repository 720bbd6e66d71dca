// What this process has begun with addresses that do not show by themselves that a change of them is under way.

import type { Address } from "../../model/address.ts";
import { ProviderError } from "../../model/errors.ts";
import type { AcceptedAction, ActionState } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";

/** So long an address counts as on its way where nobody can say how its change stands, milliseconds. Then the address is believed. */
const LONGEST_DOUBT_MS = 10_000;

/** A change that was accepted, and has not been seen to end. */
interface Change {
  readonly action: AcceptedAction;
  /** Where the address is to come; absent = nowhere. */
  readonly to: string | undefined;
  readonly sinceMs: number;
}

/** How the change of an address is asked about, and the address itself. */
interface Questions {
  readonly actionState: (action: AcceptedAction) => Promise<ActionState>;
  readonly read: (ip: string) => Promise<Address | undefined>;
}

/**
 * The changes that this process has begun. While one runs, its address is locked until it is where it was sent. So nobody sends it once more,
 * or to another machine.
 */
export class OwnChanges {
  readonly #changes = new Map<string, Change>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers a change that was accepted, in the place of an earlier one. Returns its action. */
  begun(action: AcceptedAction, to?: string): AcceptedAction {
    this.#changes.set(action.ip, { action, to, sinceMs: this.#clock.monotonicMs() });
    return action;
  }

  /** The address as it was read, locked while its change runs. It is read once more where the change has ended since; undefined where it is gone then. */
  async settled(address: Address, { actionState, read }: Questions): Promise<Address | undefined> {
    const change = this.#changes.get(address.ip);
    if (change === undefined) return address;
    const state = address.holderID === change.to ? "arrived" : await stateOf(change, actionState);
    const isRunning =
      state === "pending" || (state === "unknown" && this.#clock.monotonicMs() - change.sinceMs < LONGEST_DOUBT_MS);
    if (isRunning) return { ...address, isLocked: true };
    if (this.#changes.get(address.ip) === change) this.#changes.delete(address.ip);
    return state === "done" ? await read(address.ip) : address;
  }
}

async function stateOf({ action }: Change, actionState: Questions["actionState"]): Promise<ActionState> {
  try {
    return await actionState(action);
  } catch (error) {
    if (error instanceof ProviderError) return "unknown";
    throw error;
  }
}
