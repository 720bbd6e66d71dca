// What reserved IPv4 and IPv6 addresses have in common: droplets, actions, regions.

import type { AcceptedAction, ActionState } from "../../ports/providers.ts";
import { AnswerFault, object, read, type Schema, TEXT, textLike } from "../http/answer.ts";
import { type Client, callTo, expectedFailure } from "./api.ts";
import { dropletNumber, ID } from "./ids.ts";

/**
 * Returns what is read from a droplet; undefined when there is no such droplet.
 * @throws ProviderError
 */
export async function readMachine<T>(
  client: Client,
  machineID: string,
  readAddresses: (body: unknown) => T,
): Promise<T | undefined> {
  const call = callTo("machine", machineID, `read droplet ${machineID}`, "droplet:read");
  const dropletID = dropletNumber(call, machineID);
  return await client.call<T | undefined>({
    ...call,
    send: (sdk) => sdk.droplet(dropletID).get(),
    read: (body) => {
      const { id } = read(object({ droplet: object({ id: ID }) }), body).droplet;
      if (id !== machineID) throw new AnswerFault(`droplet.id is ${id}, not ${machineID}`);
      return readAddresses(body);
    },
    expected: expectedFailure("not-found", undefined),
  });
}

/** Any 2xx means accepted. Without a readable action id it is `""`: the address itself is the truth. */
export function accepted(ip: string): {
  readonly read: (body: unknown) => AcceptedAction;
  readonly otherwise: { readonly value: AcceptedAction };
} {
  return {
    read: (body) => ({ ip, actionID: read(object({ action: object({ id: ID }) }), body).action.id }),
    otherwise: { value: { ip, actionID: "" } },
  };
}

/** Reads how an action stands. Documented are in-progress, completed and errored; `new` and `done` have been seen as well (verified 2026-08-07). */
export function readActionState(body: unknown): ActionState {
  const { status } = read(object({ action: object({ status: TEXT }) }), body).action;
  if (status === "completed" || status === "done") return "done";
  return status === "errored" ? "errored" : "pending";
}

/** Reads a region such as `nyc3`. */
export const SLUG: Schema<string> = textLike((text) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text), "a slug");
