import { isBareURL, proxyChoice } from "../adapters/http/proxy-choice.ts";
import { sender } from "../adapters/http/request.ts";
import type { Push, PushTarget } from "../adapters/pushgateway/pushgateway.ts";
import { ConfigError } from "../model/errors.ts";
import { TOTALS_ANNOTATION } from "../model/lease-annotations.ts";
import type { Selection } from "../model/run.ts";
import type { Clock } from "../ports/system.ts";
import { exitCodeOfError } from "../report/exit-code.ts";
import { METRICS } from "../report/metrics/metrics.ts";
import { runMetrics, runSamples, type Sample } from "../report/metrics/samples.ts";
import { addRun, readTotals } from "../report/metrics/totals.ts";
import type { Outlets } from "./config.ts";
import {
  type Environment,
  type PushgatewaySettings,
  readVersion,
  resolveProxies,
  resolvePushgateway,
} from "./environment.ts";
import { redactedSamples, warnOfPlainText, writeLine } from "./output.ts";
import { readPassword, readToken } from "./providers.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import { exitCodeOfEnd, isWhole } from "./run.ts";
import type { Session } from "./session.ts";
import type { NotedRun } from "./wiring.ts";

/**
 * Returns where a run's metrics go; undefined without a Pushgateway. The flag goes before `PUSHGATEWAY_URL`.
 * @throws ConfigError `usage` when URL, job or grouping cannot be used; never with the URL's user or password; `invalid` for a proxy, token or password that is none
 */
export function pushTarget(
  flags: Pick<ReconcileFlags, "pushgateway" | "pushJob" | "pushGrouping" | "shard">,
  env: Environment,
  { warn, secrets }: Outlets,
): PushTarget | undefined {
  const settings = resolvePushgateway(env);
  const url = flags.pushgateway || settings.url;
  if (url === undefined) {
    if (flags.pushGrouping.length > 0)
      warn(
        "NotPushed",
        "No metrics are pushed: --push-grouping names no Pushgateway. Add --pushgateway URL, or set PUSHGATEWAY_URL.",
      );
    return undefined;
  }
  if (flags.pushJob === "") throw new ConfigError("usage", "--push-job is empty. Name a job, such as flipop.");
  // Each shard has a group: what one pushes replaces nothing of the others.
  const ofShard = flags.shard === undefined ? [] : [["shard", flags.shard] as const];
  const grouping = [...flags.pushGrouping.map(label), ...ofShard];
  const twice = grouping.find(([name], at) => grouping.findIndex(([other]) => other === name) !== at);
  if (twice !== undefined) throw refusedGrouping(`${twice[0]} is given twice`);
  const checked = checkedURL(url);
  const chooseProxy = proxyChoice(resolveProxies(env));
  chooseProxy(new URL(checked));
  if (hasCredentials(settings, secrets)) warnOfPlainText(warn, checked, "What logs in to the Pushgateway");
  return {
    url: checked,
    job: flags.pushJob,
    grouping,
    authorization: () => authorization(settings, secrets),
    secrets,
    send: sender(chooseProxy),
  };
}

function checkedURL(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new ConfigError("usage", "The Pushgateway's URL is not an http or https URL like http://pushgateway:9091.");
  if (!isBareURL(url))
    throw new ConfigError(
      "usage",
      `The Pushgateway's URL for ${url.host} must have no user, password, query or fragment. ` +
        "Credentials go into PUSHGATEWAY_USERNAME and PUSHGATEWAY_PASSWORD, or PUSHGATEWAY_TOKEN.",
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The Pushgateway writes the group's labels over those of the metrics, so they must not have the same names. */
const OWN_LABELS: ReadonlySet<string> = new Set(
  ["le", ...Object.values(METRICS).flatMap(({ labels }) => labels.split(" "))].filter((name) => name !== ""),
);

function label(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  const [name, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (at < 1 || value === "") throw refusedGrouping(`'${text}' has no name or no value`);
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) || name.startsWith("__"))
    throw refusedGrouping(`'${name}' is no name of a label`);
  if (name === "job") throw refusedGrouping("the job is named with --push-job");
  if (OWN_LABELS.has(name)) throw refusedGrouping(`'${name}' is a label of flipop's own metrics`);
  return [name, value];
}

function refusedGrouping(why: string): ConfigError {
  return new ConfigError("usage", `--push-grouping cannot be used: ${why}. Write it like cluster=production.`);
}

/** True if a user, password or token is set. Refuses an unusable one before the run begins; an unreadable file may be readable by the time of the push. */
function hasCredentials(settings: PushgatewaySettings, secrets: Outlets["secrets"]): boolean {
  try {
    return authorization(settings, secrets) !== undefined;
  } catch (error) {
    if (error instanceof ConfigError && error.kind === "permission") return true;
    throw error;
  }
}

function authorization(
  { username, password, token }: PushgatewaySettings,
  secrets: Outlets["secrets"],
): string | undefined {
  const bearer = readToken(token, secrets);
  if (bearer !== undefined) return `Bearer ${bearer}`;
  const secret = readPassword(password, secrets);
  if (username === undefined && secret === undefined) return undefined;
  const login = Buffer.from(`${username ?? ""}:${secret ?? ""}`, "utf8").toString("base64");
  if (secret !== undefined) secrets.add(login);
  return `Basic ${login}`;
}

/**
 * Pushes what a run tells. A run over everything replaces the group, so that objects that are gone leave nothing behind; its totals and last success come from the
 * Lease. A run for some objects replaces only the metrics that are not about objects. A failure is a line on stderr and nothing else.
 */
export async function pushRun(
  session: Session,
  pushing: Pushing,
  { end, isNoted }: NotedRun,
  selection: Selection,
): Promise<void> {
  const stored = readTotals(end.notes[TOTALS_ANNOTATION]);
  const whole = isWhole(selection);
  const samples = runMetrics({
    version: readVersion(),
    exitCode: exitCodeOfEnd(end.result, { signal: session.signal, partialOk: false }),
    end,
    // What is not on record would be missing from the next push, and a counter that goes down passes for one that began anew.
    totals: isNoted ? addRun(stored, end, whole) : stored,
    isWhole: whole,
  });
  await push(session, pushing, whole ? "PUT" : "POST", samples);
}

/** Pushes that a run ended with an error before it had anything to tell: everything else in the group stays as it was, the last success above all. */
export async function pushFailure(session: Session, pushing: Pushing, error: unknown): Promise<void> {
  const facts = { version: readVersion(), endedAtMs: session.wallMs(), exitCode: exitCodeOfError(error) };
  await push(session, pushing, "POST", runSamples(facts));
}

/** The target of a push, and the clock for waits. */
export interface Pushing {
  readonly target: PushTarget;
  readonly clock: Clock;
}

async function push(
  session: Session,
  { target, clock }: Pushing,
  method: Push["method"],
  samples: readonly Sample[],
): Promise<void> {
  const { metricsText, pushMetrics } = await import("../adapters/pushgateway/pushgateway.ts");
  const text = await metricsText(redactedSamples(samples, session.secrets));
  const result = await pushMetrics(target, { method, text }, clock);
  if (result.kind === "failed") writeLine(session, "warn", result.message, { reason: "PushFailed" });
}
