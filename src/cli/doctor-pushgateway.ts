import { connectionFault } from "../adapters/http/failures.ts";
import { readBody } from "../adapters/http/request.ts";
import type { Pushgateway } from "../doctor/facts.ts";
import { ConfigError } from "../model/errors.ts";
import { oneLine } from "../model/text.ts";
import type { Outlets } from "./config.ts";
import type { Environment } from "./environment.ts";
import { pushTarget } from "./push.ts";

const PUSHED = /^push_time_seconds\{[^}]*\bjob="flipop"[^}]*\} (\S+)/gm;

/** Reads when runs last pushed metrics; one GET, and none where no Pushgateway is set. */
export async function readPushgateway(
  { warn, secrets }: Outlets,
  env: Environment,
  limitMs: number,
): Promise<Pushgateway> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    const target = pushTarget({ pushJob: "flipop", pushGrouping: [] }, env, { warn, secrets });
    if (target === undefined) return { kind: "unset" };
    const { url } = target;
    const authorization = target.authorization();
    const response = await target.send(`${url}/metrics`, {
      method: "GET",
      headers: authorization === undefined ? {} : { authorization },
      signal,
    });
    const { statusCode: status = 0 } = response;
    const text = (await readBody(response)).toString();
    if (status < 200 || status > 299) return { kind: "failed", message: `${url} answers with status ${status}` };
    return { kind: "answers", url, ...newestPush(text) };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "failed", message: error.message.replace(/\.$/, "") };
    const why = signal.aborted ? `nothing within ${limitMs / 1000} s` : oneLine(connectionFault(error).message);
    return { kind: "failed", message: `the Pushgateway does not answer: ${why}` };
  }
}

/** Returns when metrics of flipop were last pushed, as the Pushgateway's own metrics say. */
function newestPush(metrics: string): { readonly pushedAtMs?: number } {
  const times = [...metrics.matchAll(PUSHED)].map(([, seconds]) => Number(seconds) * 1000).filter(Number.isFinite);
  return times.length === 0 ? {} : { pushedAtMs: Math.max(...times) };
}
