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
  try {
    const target = pushTarget({ pushJob: "flipop", pushGrouping: [] }, env, { warn, secrets });
    if (target === undefined) return { kind: "unset" };
    const { url } = target;
    const authorization = target.authorization();
    const response = await target.fetch(`${url}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
      signal: AbortSignal.timeout(limitMs),
      redirect: "manual",
    });
    if (!response.ok) return { kind: "failed", message: `${url} answers with status ${response.status}` };
    const times = [...(await response.text()).matchAll(PUSHED)].map(([, seconds]) => Number(seconds) * 1000);
    const known = times.filter(Number.isFinite);
    return { kind: "answers", url, ...(known.length === 0 ? {} : { pushedAtMs: Math.max(...known) }) };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "failed", message: error.message.replace(/\.$/, "") };
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? oneLine(cause.message) : "unknown";
    return { kind: "failed", message: `the Pushgateway does not answer: ${why}` };
  }
}
