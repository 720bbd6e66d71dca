// How a text is sent to a server that is only told something: the Pushgateway, and receivers of notices.
import type { IncomingMessage } from "node:http";
import { oneLine } from "../../model/text.ts";
import { TRIES } from "../../model/waits.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import { connectionFault } from "./failures.ts";
import type { Send } from "./request.ts";

/** A text to send. */
export interface Post {
  readonly url: string;
  readonly method: "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What sends it, and until when. */
export interface PostTerms {
  /** Through the proxy if there is one. */
  readonly send: Send;
  /** Takes secrets out of what the server says. */
  readonly secrets: Pick<Secrets, "redactQuoted">;
  readonly clock: Clock;
  /** Ends everything. */
  readonly over: AbortSignal;
}

/** The answer, or why there is none; texts without secrets, in one line, and cut. `isPage`: it is a web page, as those of logins and proxies are. */
export type PostAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly text: string; readonly isPage: boolean }
  | { readonly kind: "broken"; readonly why: string };

/** The most that is read of an answer, bytes: it is shown in one line. */
const MOST_BYTES = 16_384;
const MOST_SHOWN = 300;

/** Sends a text, and once more after a broken connection or a 5xx. Redirects are not followed: they are answers as any other. TLS as Node has it (`NODE_EXTRA_CA_CERTS`). @throws never */
export async function post(request: Post, terms: PostTerms): Promise<PostAnswer> {
  const { clock, over } = terms;
  let answer = await attempt(request, terms);
  for (const waitMs of TRIES.push.ms) {
    if (!isPassing(answer) || over.aborted) break;
    await clock.sleep(waitMs, over);
    if (!over.aborted) answer = await attempt(request, terms);
  }
  return answer;
}

async function attempt({ url, ...request }: Post, { send, secrets, over: signal }: PostTerms): Promise<PostAnswer> {
  // Redacted before it is cut: a part of a secret is one, too.
  const shown = (text: string): string => oneLine(secrets.redactQuoted(text)).slice(0, MOST_SHOWN);
  try {
    const answer = await send(url, { ...request, signal });
    const start = await startOf(answer);
    const isPage = /^text\/html\b/i.test(answer.headers["content-type"] ?? "") || start.trimStart().startsWith("<");
    return { kind: "answered", status: answer.statusCode ?? 0, text: shown(start), isPage };
  } catch (error) {
    return { kind: "broken", why: shown(connectionFault(error).message) };
  }
}

/** True for an answer by which the server says that it has taken the text. */
export function isTaken(answer: PostAnswer): boolean {
  return answer.kind === "answered" && answer.status >= 200 && answer.status <= 299;
}

/** Reads the start of a body, and lets go of the rest. */
async function startOf(answer: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.byteLength;
    if (bytes >= MOST_BYTES) break;
  }
  return text;
}

function isPassing(answer: PostAnswer): boolean {
  return answer.kind === "broken" || answer.status >= 500;
}
