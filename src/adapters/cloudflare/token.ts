// The token itself: `/user/tokens/verify`, and `/accounts/ID/tokens/verify` for one that belongs to an account.

import { parseTime } from "../../model/time.ts";
import { list, map, maybe, object, read, type Schema, textLike } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, type CloudflareCall, ID } from "./api.ts";

/** Nobody needs a permission for it. */
const CALL: CallInfo = { operation: "token", subject: "", doing: "ask about the token", scope: "", isWrite: false };

/** The fewest zones that Cloudflare lists on one page. */
const FEWEST = 5;

/**
 * Returns when the token ends, milliseconds; undefined if it does not, and if Cloudflare does not tell. Asks for the token of a user first. A token of an account is refused there: its
 * account is that of any zone which it sees. One call, else at most three.
 * @throws ProviderError where nobody answers
 * @see https://developers.cloudflare.com/api/resources/user/subresources/tokens/methods/verify/ and …/accounts/subresources/tokens/methods/verify/ (verified 2026-11-23)
 */
export async function readTokenEnd(client: Client): Promise<number | undefined> {
  const ofUser = await client.call(verifyCall("/user/tokens/verify"));
  if (ofUser !== "refused") return ofUser.endsAtMs;
  const account = await client.call(ACCOUNT);
  if (account === undefined) return undefined;
  const ofAccount = await client.call(verifyCall(`/accounts/${account}/tokens/verify`));
  return ofAccount === "refused" ? undefined : ofAccount.endsAtMs;
}

/** When a token ends; undefined if it does not. */
interface TokenEnd {
  readonly endsAtMs: number | undefined;
}

const TIME: Schema<number> = map(
  textLike((text) => parseTime(text) !== undefined, "a time"),
  (text) => parseTime(text) ?? 0,
);

function verifyCall(path: string): CloudflareCall<TokenEnd | "refused"> {
  return {
    ...CALL,
    send: (sdk) => sdk.get(path).asResponse(),
    read: (envelope) => {
      const { result } = read(object({ result: object({ expires_on: maybe(TIME) }) }), envelope);
      return { endsAtMs: result.expires_on };
    },
    expected: refusedAs("refused" as const),
  };
}

/** The account of any zone that the token sees. */
const ACCOUNT: CloudflareCall<string | undefined> = {
  ...CALL,
  send: ({ zones }) => zones.list({ per_page: FEWEST }).asResponse(),
  read: (envelope) => {
    const zone = object({ account: maybe(object({ id: ID })) });
    const { result } = read(object({ result: list(zone) }), envelope);
    return result.flatMap(({ account }) => account?.id ?? [])[0];
  },
  expected: refusedAs(undefined),
};

/** A refusal says nothing of the token: what it may do, others have asked. */
function refusedAs<T>(value: T): NonNullable<CloudflareCall<T>["expected"]> {
  return ({ error: { failure }, isFromAPI }) => {
    const isRefused = ["unauthorized", "forbidden", "refused", "not-found"].includes(failure);
    return isRefused && isFromAPI ? { value } : undefined;
  };
}
