import { type ListPage, readList } from "../../ports/listing.ts";
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

/** One page of a list: all items of it, whatever they are. */
export type ItemPage<T> = ListPage<ListItem<T>>;

/**
 * The values of a whole list, by id, in the order they came; one call per 200 items. `noun` names them for people.
 * @throws ProviderError `malformed` when the pages are not the whole list, see {@link readList}, so that nothing is ever taken for
 * missing because an answer was incomplete
 */
export async function listAll<T>(
  caller: Caller,
  noun: string,
  pageCall: (page: number) => Call<ItemPage<T>>,
): Promise<readonly T[]> {
  let call = pageCall(1);
  const readPage = (page: number): Promise<ItemPage<T>> => {
    call = pageCall(page);
    return caller.call(call);
  };
  const { items, problem } = await readList(readPage, { keyOf: ({ id }) => id, noun, totalField: "meta.total" });
  if (problem !== undefined) throw providerError(call, { failure: "malformed", status: 200, reason: problem });
  return items.flatMap(({ value }) => (value === undefined ? [] : [value]));
}

/**
 * A page in an answer, its items under `key`.
 * @throws AnswerFault
 */
export function decodePage<T>(
  answer: Answer,
  { key, page }: { readonly key: string; readonly page: number },
  decode: (item: AnswerValue) => ListItem<T>,
): ItemPage<T> {
  const body = jsonOf(answer);
  const items = body.at(key).items();
  const total = body.at("meta").at("total").count();
  if (items.length === 0 && total > (page - 1) * pageSize) {
    throw new AnswerFault(`${key} is empty although meta.total is ${total}`);
  }
  return { items: items.map(decode), hasMore: page * pageSize < total, total };
}
