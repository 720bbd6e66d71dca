import type { ActionState } from "../../ports/providers.ts";
import { map, object, type Schema, TEXT } from "../http/answer.ts";
import { type Client, expectedAs, ID, reading, readPage, withQuery } from "./api.ts";

/** How many actions one call asks for. Hetzner's own client asks for as many. */
const MOST_ACTIONS = 25;

/** Somebody who waits for the state of an action. */
interface Asker {
  readonly id: string;
  readonly answer: PromiseWithResolvers<ActionState>;
}

/** Asks how accepted actions stand. One call asks for many. A question that comes while a call is under way waits, and goes with others into the next call. */
export class ActionPoll {
  readonly #client: Client;
  readonly #askers: Asker[] = [];
  #asking: Promise<void> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** How an action stands. One that the answer does not have is `unknown`, as one without an id is. @throws ProviderError */
  stateOf(actionID: string): Promise<ActionState> {
    if (!/^[1-9]\d*$/.test(actionID)) return Promise.resolve("unknown");
    const answer = Promise.withResolvers<ActionState>();
    this.#askers.push({ id: actionID, answer });
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return answer.promise;
  }

  async #askAll(): Promise<void> {
    while (this.#askers.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const asked = this.#askers.splice(0, MOST_ACTIONS);
      try {
        const states = await this.#ask([...new Set(asked.map(({ id }) => id))]);
        for (const { id, answer } of asked) answer.resolve(states.get(id) ?? "unknown");
      } catch (error) {
        for (const { answer } of asked) answer.reject(error);
      }
    }
  }

  async #ask(ids: readonly string[]): Promise<ReadonlyMap<string, ActionState>> {
    return await this.#client.call({
      ...reading("action", ids.length === 1 ? (ids[0] ?? "") : "", `read the actions ${ids.join(", ")}`),
      send: (request) => request("GET", withQuery("/actions", { id: ids, per_page: MOST_ACTIONS })),
      read: (body) => new Map(readPage(body, "actions", ACTION).items),
      expected: expectedAs("not-found", new Map<string, ActionState>()),
    });
  }
}

/** Only the status counts: the documented example of an action that succeeded has an `error`, too (read 2026-11-22). */
const ACTION: Schema<readonly [string, ActionState]> = map(
  object({ id: ID, status: TEXT }),
  ({ id, status }) => [id, status === "success" ? "done" : status === "error" ? "errored" : "pending"] as const,
);
