import { oneLine } from "../../model/text.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import type { Fetch } from "../http/request.ts";
import { groupPath, type PushGroup } from "./group-path.ts";

/** Where metrics are pushed to. */
export interface PushTarget extends PushGroup {
  /** http or https, without user, query and trailing slash; a path prefix is kept. */
  readonly url: string;
  /** The `Authorization` header, asked for at each push. @throws ConfigError when it cannot be had */
  readonly authorization: () => string | undefined;
  /** Takes secrets out of the Pushgateway's texts. */
  readonly secrets: Pick<Secrets, "redactQuoted">;
  /** Sends the push, through the proxy if there is one. */
  readonly fetch: Fetch;
}

/** `PUT` replaces the whole group, `POST` only the metrics in the text. */
export interface Push {
  readonly method: "PUT" | "POST";
  /** Text format 0.0.4. */
  readonly text: string;
}

/** What came of a push; `message` says what failed and what to do, without secrets. */
export type PushResult = { readonly kind: "pushed" } | { readonly kind: "failed"; readonly message: string };

/** Everything together may take this long, milliseconds. */
const LIMIT_MS = 5000;
const REPEAT_AFTER_MS = 300;

/**
 * Pushes metrics: one request, repeated once after a broken connection or a 5xx, all within 5 s, whatever the server does. Redirects are not followed; they count as
 * failures, as does every other answer that is no 2xx. TLS as Node has it (`NODE_EXTRA_CA_CERTS`).
 * @throws never
 */
export async function pushMetrics(
  target: PushTarget,
  push: Push,
  clock: Clock,
  limitMs: number = LIMIT_MS,
): Promise<PushResult> {
  const over = AbortSignal.timeout(limitMs);
  const failed = (why: string, advice: string): PushResult => ({
    kind: "failed",
    message: `Could not push metrics to the Pushgateway at ${target.url}: ${why}. The run itself is not affected. ${advice}`,
  });
  let headers: Record<string, string>;
  try {
    const authorization = target.authorization();
    headers = {
      "content-type": "text/plain; version=0.0.4",
      ...(authorization === undefined ? {} : { authorization }),
    };
  } catch (error) {
    return { ...failed("its credentials cannot be read", messageOf(error)) };
  }
  const first = await attempt(target, push, headers, over);
  if (!isPassing(first) || over.aborted) return resultOf(first);
  await clock.sleep(REPEAT_AFTER_MS, over);
  return resultOf(over.aborted ? first : await attempt(target, push, headers, over));

  function resultOf(attempted: Attempt): PushResult {
    if (attempted.kind === "broken") {
      const why = over.aborted ? `no answer within ${limitMs / 1000} s` : attempted.why;
      return failed(why, "Check that it runs and that the URL is right.");
    }
    const { status, text } = attempted;
    if (status >= 200 && status <= 299) return { kind: "pushed" };
    return failed(`it answered ${status}${text === "" ? "" : `: ${text}`}`, adviceFor(status));
  }
}

type Attempt =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  | { readonly kind: "broken"; readonly why: string };

async function attempt(
  target: PushTarget,
  { method, text }: Push,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const url = `${target.url}${groupPath(target)}`;
    const answer = await target.fetch(url, { method, headers, body: text, redirect: "manual", signal });
    const body = await answer.text();
    // Redacted before it is cut: a part of a secret is one, too.
    return { kind: "answered", status: answer.status, text: oneLine(target.secrets.redactQuoted(body)).slice(0, 300) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = oneLine(target.secrets.redactQuoted(messageOf(cause))).slice(0, 300);
    return { kind: "broken", why: why || "the connection failed" };
  }
}

function isPassing(attempted: Attempt): boolean {
  return attempted.kind === "broken" || attempted.status >= 500;
}

function adviceFor(status: number): string {
  if (status >= 300 && status <= 399) return "It redirects, which is not followed: use the URL it redirects to.";
  if (status === 401 || status === 403)
    return "Check PUSHGATEWAY_USERNAME and PUSHGATEWAY_PASSWORD, or PUSHGATEWAY_TOKEN.";
  if (status === 400)
    return "Another group holds the same metrics in another form: find it on the Pushgateway's page and delete it.";
  return "Check the Pushgateway's own log.";
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  return error.message || code;
}
