import { type Answer, jsonOf } from "../provider-http/answer.ts";
import { AnswerFault, type AnswerValue } from "../provider-http/answer-value.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { providerError } from "./provider-failure.ts";

/** How many items {@link listAll} asks for in one call: the most that the API gives. */
export const pageSize = 200;

/** One item of a list; without a value when the list holds more than was asked for. */
interface ListItem<T> {
  readonly id: string;
  readonly value: T | undefined;
}

/** One page of a list. */
export interface ListPage<T> {
  /** All of the page, whatever they are. */
  readonly items: readonly ListItem<T>[];
  /** How many the list has over all pages. */
  readonly total: number;
}

/**
 * The values of a whole list, by id, in the order they came; one call per 200 items. `noun` names them for people.
 * @throws ProviderError `malformed` when the pages do not hold as many items as they say, so that nothing is ever taken for
 * missing because an answer was incomplete
 */
export async function listAll<T>(
  caller: Caller,
  noun: string,
  pageCall: (page: number) => Call<ListPage<T>>,
): Promise<readonly T[]> {
  const items = new Map<string, T | undefined>();
  for (let page = 1; ; page += 1) {
    const call = pageCall(page);
    const answer = await caller.call(call);
    for (const { id, value } of answer.items) items.set(id, value);
    if (page * pageSize < answer.total) continue;
    if (items.size >= answer.total) return [...items.values()].filter((value) => value !== undefined);
    const reason = `the pages hold ${items.size} ${noun} although meta.total is ${answer.total}`;
    throw providerError(call, { failure: "malformed", status: 200, reason });
  }
}

/**
 * A page in an answer, its items under `key`.
 * @throws AnswerFault
 */
export function decodePage<T>(
  answer: Answer,
  { key, page }: { readonly key: string; readonly page: number },
  decode: (item: AnswerValue) => ListItem<T>,
): ListPage<T> {
  const body = jsonOf(answer);
  const items = body.at(key).items();
  const total = body.at("meta").at("total").count();
  // Without this, a total that is never reached would make the caller ask for page after page.
  if (items.length === 0 && total > (page - 1) * pageSize) {
    throw new AnswerFault(`${key} is empty although meta.total is ${total}`);
  }
  return { items: items.map(decode), total };
}
