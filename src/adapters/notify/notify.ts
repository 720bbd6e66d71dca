import { createHmac } from "node:crypto";
import type { Clock, Secrets } from "../../ports/system.ts";
import { isTaken, type PostAnswer, post } from "../http/post.ts";
import type { Send } from "../http/request.ts";

/** Who is notified. */
export interface Receiver {
  /** For texts: the origin of its URL, without what may be a secret. */
  readonly name: string;
  /** http or https, without user and password. */
  readonly url: string;
  /** The `Authorization` header. Absent = none. */
  readonly authorization?: string;
  /** Of the bodies that it takes. */
  readonly contentType: string;
  /** What is posted, one request each. */
  readonly bodies: readonly string[];
}

/** How notices are delivered. */
export interface Delivery {
  /** Signs each body. Absent = nothing is signed. */
  readonly secret?: string;
  readonly userAgent: string;
  readonly send: Send;
  readonly secrets: Pick<Secrets, "redactQuoted">;
  readonly clock: Clock;
  /** Ends everything before the time is over. */
  readonly signal: AbortSignal;
}

/** What one receiver did not get: `count` of its bodies, and why of the last of them. */
export interface Undelivered {
  readonly receiver: string;
  readonly count: number;
  readonly of: number;
  readonly why: string;
}

/** Everything together may take this long, milliseconds. */
const LIMIT_MS = 5000;

/** The header with the signature of a body: `sha256=` and the HMAC-SHA256 of its bytes in hexadecimal digits. */
const SIGNATURE_HEADER = "X-Flipop-Signature";

/**
 * Posts to every receiver what is for it, all within 5 s: to each one after the other, to different ones at a time. One that hangs or refuses costs the others nothing. Who
 * does not answer at all is not asked again. Redirects are not followed.
 * @returns who did not get everything
 * @throws never
 */
export async function deliver(
  receivers: readonly Receiver[],
  delivery: Delivery,
  limitMs: number = LIMIT_MS,
): Promise<readonly Undelivered[]> {
  const over = AbortSignal.any([AbortSignal.timeout(limitMs), delivery.signal]);
  const results = await Promise.all(receivers.map((receiver) => deliverTo(receiver, delivery, { over, limitMs })));
  return results.flat();
}

async function deliverTo(
  receiver: Receiver,
  delivery: Delivery,
  { over, limitMs }: { readonly over: AbortSignal; readonly limitMs: number },
): Promise<readonly Undelivered[]> {
  const { name, url, bodies } = receiver;
  let delivered = 0;
  let why = "";
  for (const body of bodies) {
    if (over.aborted) break;
    const headers = headersOf(body, receiver, delivery);
    const answer = await post({ url, method: "POST", headers, body }, { ...delivery, over });
    if (isTaken(answer)) delivered += 1;
    else if (!over.aborted) why = whyNot(answer);
    if (answer.kind === "broken") break;
  }
  const count = bodies.length - delivered;
  if (count === 0) return [];
  return [{ receiver: name, count, of: bodies.length, why: why || `it took longer than ${limitMs / 1000} s` }];
}

function headersOf(
  body: string,
  { authorization, contentType }: Receiver,
  { secret, userAgent }: Delivery,
): Readonly<Record<string, string>> {
  return {
    "content-type": contentType,
    "user-agent": userAgent,
    ...(authorization === undefined ? {} : { authorization }),
    ...(secret === undefined ? {} : { [SIGNATURE_HEADER]: signatureOf(body, secret) }),
  };
}

function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body, "utf8").digest("hex")}`;
}

function whyNot(answer: PostAnswer): string {
  if (answer.kind === "broken") return answer.why;
  const { status, text } = answer;
  const said = `it answered ${status}${text === "" ? "" : `: ${text}`}`;
  return status >= 300 && status <= 399 ? `${said}; it redirects, which is not followed` : said;
}
