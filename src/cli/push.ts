import { proxyChoice } from "../adapters/http/proxy-choice.ts";
import { proxiedFetch } from "../adapters/http/request.ts";
import type { Push, PushTarget } from "../adapters/pushgateway/pushgateway.ts";
import { ConfigError } from "../model/errors.ts";
import {
  LAST_RESULT_ANNOTATION,
  LAST_RUN_ANNOTATION,
  LAST_SUCCESS_ANNOTATION,
  TOTALS_ANNOTATION,
} from "../model/lease-annotations.ts";
import type { PassResult, RunEnd, Selection } from "../model/run.ts";
import type { Clock } from "../ports/system.ts";
import { EXIT, exitCodeOfError, exitCodeOfRun, isSuccess } from "../report/exit-code.ts";
import { METRICS } from "../report/metrics/metrics.ts";
import { runMetrics, runSamples, type Sample } from "../report/metrics/samples.ts";
import { addRun, readTotals, type Totals, writeTotals } from "../report/metrics/totals.ts";
import { rfc3339 } from "../report/text/times.ts";
import type { Outlets } from "./config.ts";
import {
  type Environment,
  type PushgatewaySettings,
  readVersion,
  resolveProxies,
  resolvePushgateway,
} from "./environment.ts";
import { redactedSamples, warnOfPlainText, writeLine } from "./output.ts";
import type { ReconcileFlags } from "./program.ts";
import { readPassword, readToken } from "./providers.ts";
import type { Session } from "./session.ts";
import type { NotedRun } from "./wiring.ts";

/**
 * Returns where a run's metrics go; undefined without a Pushgateway. The flag goes before `PUSHGATEWAY_URL`.
 * @throws ConfigError `usage` when URL, job or grouping cannot be used; never with the URL's user or password; `invalid` for a proxy, token or password that is none
 */
export function pushTarget(
  flags: Pick<ReconcileFlags, "pushgateway" | "pushJob" | "pushGrouping">,
  env: Environment,
  { warn, secrets }: Outlets,
): PushTarget | undefined {
  const settings = resolvePushgateway(env);
  const url = flags.pushgateway || settings.url;
  if (url === undefined) return undefined;
  if (flags.pushJob === "") throw new ConfigError("usage", "--push-job is empty. Name a job, such as flipop.");
  const grouping = flags.pushGrouping.map(label);
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
    fetch: proxiedFetch(chooseProxy),
  };
}

function checkedURL(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new ConfigError("usage", "The Pushgateway's URL is not an http or https URL like http://pushgateway:9091.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
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

/** Returns what a run leaves on its Lease: how it went, and what is counted over all runs. `signal` is the one that ends it early. */
export function runNotes(end: RunEnd, selection: Selection, signal: AbortSignal): Readonly<Record<string, string>> {
  const exitCode = exitCodeOfEnd(end.result, { signal, partialOk: false });
  return {
    ...lastRunAnnotations(exitCode, end.endedAtMs),
    [TOTALS_ANNOTATION]: writeTotals(addRun(storedTotals(end), end, isWhole(selection))),
  };
}

/**
 * Pushes what a run tells. A run over everything replaces the group, so that objects that are gone leave nothing behind; its totals and last success come from the
 * Lease. A run for some objects replaces only the metrics that are not about objects. A failure is a line on stderr and nothing else.
 */
export async function pushRun(
  session: Session,
  { target, clock }: Pushing,
  { end, isNoted }: NotedRun,
  selection: Selection,
): Promise<void> {
  const stored = storedTotals(end);
  const whole = isWhole(selection);
  const samples = runMetrics({
    version: readVersion(),
    exitCode: exitCodeOfEnd(end.result, { signal: session.invocation.signal, partialOk: false }),
    end,
    // What is not on record would be missing from the next push, and a counter that goes down passes for one that began anew.
    totals: isNoted ? addRun(stored, end, whole) : stored,
    isWhole: whole,
  });
  await push(session, { target, clock }, whole ? "PUT" : "POST", samples);
}

/** Pushes that a run ended with an error before it had anything to tell: everything else in the group stays as it was, the last success above all. */
export async function pushFailure(session: Session, pushing: Pushing, error: unknown): Promise<void> {
  const facts = { version: readVersion(), endedAtMs: session.invocation.wallMs(), exitCode: exitCodeOfError(error) };
  await push(session, pushing, "POST", runSamples(facts));
}

/** Where to push, and the clock for waits. */
export interface Pushing {
  readonly target: PushTarget;
  readonly clock: Clock;
}

async function push(
  { invocation, lines, secrets }: Session,
  { target, clock }: Pushing,
  method: Push["method"],
  samples: readonly Sample[],
): Promise<void> {
  const [{ metricsText }, { pushMetrics }] = await Promise.all([
    import("../adapters/pushgateway/pushgateway.ts"),
    import("../adapters/pushgateway/pushgateway.ts"),
  ]);
  const result = await pushMetrics(
    target,
    { method, text: await metricsText(redactedSamples(samples, secrets)) },
    clock,
  );
  if (result.kind === "failed") writeLine(invocation.streams, lines, "warn", result.message, { reason: "PushFailed" });
}

function storedTotals({ notes }: RunEnd): Totals {
  return readTotals(notes[TOTALS_ANNOTATION]);
}

function isWhole(selection: Selection): boolean {
  return Object.keys(selection).length === 0;
}

const WORDS: Readonly<Record<number, string>> = {
  [EXIT.done]: "done",
  [EXIT.unexpected]: "unexpected error",
  [EXIT.partly]: "some objects in error",
  [EXIT.temporary]: "temporary failure",
  [EXIT.notPermitted]: "not permitted",
  [EXIT.invalidConfiguration]: "invalid configuration",
  [EXIT.interrupted]: "interrupted",
  [EXIT.terminated]: "terminated",
};

/** Returns the exit code of a run; of one that a signal ended early the code of the signal, as the process will have it. */
export function exitCodeOfEnd(
  result: PassResult,
  { signal, partialOk }: { readonly signal: AbortSignal; readonly partialOk: boolean },
): number {
  if (!signal.aborted) return exitCodeOfRun(result, { partialOk });
  return signal.reason === "SIGTERM" ? EXIT.terminated : EXIT.interrupted;
}

/** Returns what a run leaves on its Lease of when it ended and how; `status` shows it. */
function lastRunAnnotations(exitCode: number, nowMs: number): Readonly<Record<string, string>> {
  const at = rfc3339(nowMs);
  return {
    [LAST_RUN_ANNOTATION]: at,
    ...(isSuccess(exitCode) ? { [LAST_SUCCESS_ANNOTATION]: at } : {}),
    [LAST_RESULT_ANNOTATION]: `${exitCode} ${WORDS[exitCode] ?? "ended early"}`,
  };
}
