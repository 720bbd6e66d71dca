import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from "prom-client";
import type { Clock, Secrets } from "../../ports/system.ts";
import { type MetricName, metricFacts } from "../../report/metrics/metrics.ts";
import type { Sample } from "../../report/metrics/samples.ts";
import { isTaken, type PostAnswer, post } from "../http/post.ts";
import type { Send } from "../http/request.ts";

/** Where metrics are pushed to. */
export interface PushTarget extends PushGroup {
  /** http or https, without user, query and trailing slash; a path prefix is kept. */
  readonly url: string;
  /** The `Authorization` header, asked for at each push. @throws ConfigError when it cannot be had */
  readonly authorization: () => string | undefined;
  /** Takes secrets out of the Pushgateway's texts. */
  readonly secrets: Pick<Secrets, "redactQuoted">;
  /** Sends the push, through the proxy if there is one. */
  readonly send: Send;
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

/**
 * Pushes metrics: one request, repeated once after a broken connection or a 5xx, all within 5 s, whatever the server does. Redirects are not followed; they count as
 * failures, as does every other answer that is no 2xx, and a web page. TLS as Node has it (`NODE_EXTRA_CA_CERTS`).
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
    return { ...failed("its credentials cannot be read", error instanceof Error ? error.message : String(error)) };
  }
  const url = `${target.url}${groupPath(target)}`;
  const { send, secrets } = target;
  return resultOf(await post({ url, method: push.method, headers, body: push.text }, { send, secrets, clock, over }));

  function resultOf(attempted: PostAnswer): PushResult {
    if (attempted.kind === "broken") {
      const why = over.aborted ? `no answer within ${limitMs / 1000} s` : attempted.why;
      return failed(why, "Check that it runs and that the URL is right.");
    }
    const { status, text, isPage } = attempted;
    if (!isTaken(attempted))
      return failed(`it answered ${status}${text === "" ? "" : `: ${text}`}`, adviceFor(status, text));
    // A Pushgateway answers a push with an empty body.
    return isPage ? failed(`it answered ${status} with a web page`, PAGE_ADVICE) : { kind: "pushed" };
  }
}

const PAGE_ADVICE = "Check that the URL is that of the Pushgateway itself, not of a login page or proxy.";

function adviceFor(status: number, text: string): string {
  if (status >= 300 && status <= 399) return "It redirects, which is not followed: use the URL it redirects to.";
  if (status === 401 || status === 403)
    return "Check PUSHGATEWAY_USERNAME and PUSHGATEWAY_PASSWORD, or PUSHGATEWAY_TOKEN.";
  if (status === 400 && text.includes("inconsistent"))
    return "Another group holds the same metrics in another form: find it on the Pushgateway's page and delete it.";
  return "Check the Pushgateway's own log.";
}

/** Which group of a Pushgateway a push is for. */
export interface PushGroup {
  readonly job: string;
  /** Further labels of the group, in order. */
  readonly grouping: readonly (readonly [name: string, value: string])[];
}

/**
 * Returns the path of a group: `/metrics/job@base64/ZmxpcG9w/cluster@base64/…`. Every value goes as base64url, because the Pushgateway decodes `%2F` before it routes
 * and then refuses the value. None may be empty: a group with an empty label collides with the one without, and every later push by anyone is refused until it is
 * deleted (Pushgateway 1.5.1, measured).
 */
function groupPath({ job, grouping }: PushGroup): string {
  const parts = [["job", job] as const, ...grouping].map(([name, value]) => `${name}@base64/${encoded(value)}`);
  return `/metrics/${parts.join("/")}`;
}

function encoded(value: string): string {
  return Buffer.from(value, "utf8").toString("base64url");
}

/** Returns samples in Prometheus' text format 0.0.4, ending with a line feed; metrics without samples are left out. Each sample gets these labels beside its own. */
export async function metricsText(samples: readonly Sample[], labels: Sample["labels"] = {}): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  for (const [name, own] of Map.groupBy(samples, ({ metric }) => metric)) register(registry, name, own);
  return registry.metrics();
}

/** How often the event loop is looked at, milliseconds: prom-client's own 10 would cost an idle process 0.6 % of a core, this costs 0.06 % (Node 24.21, measured). */
const EVENT_LOOP_LOOK_MS = 100;

/**
 * Begins to measure this process, and returns what writes the usual `process_*` and `nodejs_*` of prom-client as they are when it is called: text format 0.0.4, ending
 * with a line feed. Effect: watches the event loop and the garbage collector until the process ends.
 */
export function processMetrics(): () => Promise<string> {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });
  return async () => {
    const text = await register.metrics();
    // Between two scrapes at once nobody has looked at the event loop: what is written then is no measurement.
    return /^nodejs_eventloop_lag_mean_seconds nan$/im.test(text) ? text.replace(LAGS, "") : text;
  };
}

const LAGS = /^nodejs_eventloop_lag_\w+_seconds .*\n/gm;

function register(registry: Registry, name: MetricName, samples: readonly Sample[]): void {
  const { type, labels, help } = metricFacts(name);
  const labelNames = labels === "" ? [] : labels.split(" ");
  const config = { name, help, labelNames, registers: [registry] };
  if (type === "histogram") {
    const histogram = new StoredHistogram({ ...config, registers: [] }, samples);
    registry.registerMetric(histogram);
    return;
  }
  const metric = type === "counter" ? new Counter(config) : new Gauge(config);
  for (const { labels: values, value } of samples) if (typeof value === "number") metric.inc(values, value);
}

/** A histogram of what earlier runs counted, too; prom-client's own can only observe one value after the other. */
class StoredHistogram extends Histogram<string> {
  private readonly facts: { readonly name: string; readonly help: string };
  private readonly stored: readonly Sample[];

  constructor(
    config: { name: string; help: string; labelNames: string[]; registers: Registry[] },
    stored: readonly Sample[],
  ) {
    super(config);
    this.facts = config;
    this.stored = stored;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    const { name, help } = this.facts;
    const values = this.stored.flatMap((sample) => series(name, sample));
    // The typings have an enumeration where the text says `histogram`.
    return { name, help, type: "histogram" as never, aggregator: "sum", values, collect: () => undefined };
  }

  /** What the registry asks for instead of {@link get} when it writes text. */
  async getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<string>>> {
    return this.get();
  }
}

function series(name: string, { labels, value }: Sample): MetricValueWithName<string>[] {
  if (typeof value === "number") return [];
  const { counts, sum } = value.histogram;
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    const le = value.bounds[at] === undefined ? "+Inf" : String(value.bounds[at]);
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
