import { whyUnread } from "../adapters/files/read-bytes.ts";
import { proxyChoice } from "../adapters/http/proxy-choice.ts";
import { type Send, sender } from "../adapters/http/request.ts";
import type { Receiver, Undelivered } from "../adapters/notify/notify.ts";
import { ConfigError } from "../model/errors.ts";
import type { Notice } from "../model/notice.ts";
import { escapedJSON } from "../model/text.ts";
import { Interrupted } from "../observe/interrupt.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import type { Clock } from "../ports/system.ts";
import { exitCodeOfError } from "../report/exit-code.ts";
import { alertsOf, cloudEvent, failedWith, slackMessage, type Teller, type Told, toldOf } from "../report/notices.ts";
import { countText } from "../report/text/layout.ts";
import type { WatchedPass } from "../watch/watch-loop.ts";
import { passwordsIn, readVersion, resolveProxies } from "./environment.ts";
import { warnOfPlainText, writeLine } from "./output.ts";
import { readPassword, readSecretFile } from "./providers.ts";
import type { ReconcileFlags } from "./reconcile-flags.ts";
import type { Session } from "./session.ts";

/** What notices are posted as: by the format that stands before the URL, `slack+https://…`. */
const FORMATS = {
  cloudevents: {
    contentType: "application/cloudevents+json; charset=utf-8",
    bodies: (told: readonly Told[], teller: Teller) => told.map((notice) => cloudEvent(notice, teller)),
  },
  slack: {
    contentType: "application/json; charset=utf-8",
    bodies: (told: readonly Told[], teller: Teller) => (told.length === 0 ? [] : [slackMessage(told, teller)]),
  },
  alertmanager: {
    contentType: "application/json; charset=utf-8",
    bodies: (told: readonly Told[], teller: Teller) => {
      const alerts = alertsOf(told, teller);
      return alerts.length === 0 ? [] : [alerts];
    },
  },
} as const;

/** Where notices go, as a URL says it. */
interface Target extends Pick<Receiver, "name" | "url" | "authorization"> {
  readonly format: keyof typeof FORMATS;
}

type NotifyFlags = Pick<
  ReconcileFlags,
  "notify" | "notifyFile" | "notifySource" | "notifySecretFile" | "leaseNamespace" | "leaseName"
>;

/** About which cluster something is told, and how long. */
interface TellTerms {
  readonly clock: Clock;
  /** Its server; undefined where it is not known. */
  readonly cluster: string | undefined;
  /** Ends it before its time is over. */
  readonly signal?: AbortSignal;
}

/** Notifies whoever the flags name. */
export class Notifier {
  readonly #session: Session;
  readonly #flags: NotifyFlags;
  readonly #send: Send;
  /** How often in a row a receiver did not get everything, by its name. */
  readonly #failures = new Map<string, number>();

  /**
   * Returns undefined where nobody is to be notified.
   * @throws ConfigError `usage` for a URL of a flag that is none, `invalid` for one of the file, for an unusable secret and for a proxy that is none; never with the URL.
   */
  static create(session: Session, flags: NotifyFlags): Notifier | undefined {
    if (flags.notify.length === 0 && flags.notifyFile === undefined) {
      const alone = flags.notifySecretFile === undefined ? flags.notifySource && "source" : "secret-file";
      if (alone !== undefined) throw new ConfigError("usage", `--notify-${alone} needs --notify: nobody is notified.`);
      return undefined;
    }
    const choose = proxyChoice(resolveProxies(session.env));
    const notifier = new Notifier(session, flags, sender(choose));
    notifier.#check((url) => choose(new URL(url)));
    return notifier;
  }

  private constructor(session: Session, flags: NotifyFlags, send: Send) {
    this.#session = session;
    this.#flags = flags;
    this.#send = send;
  }

  /** Refuses what can never work before the run begins. A file that cannot be read may be readable when there is something to tell. */
  #check(reach: (url: string) => unknown): void {
    ifReadable(() => this.#secret());
    for (const { url, name, authorization } of ifReadable(() => this.#targets()) ?? []) {
      reach(url);
      if (authorization !== undefined) warnOfPlainText(this.#session.warn, url, `What logs in to ${name}`);
    }
  }

  /** Says which file cannot be read now: a wrong path is found on a quiet day, and not only when there is something to tell. */
  tellUnreadable(): void {
    try {
      this.#secret();
      this.#targets();
    } catch (error) {
      this.#line(`Nobody could be notified now: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Posts what is told, within 5 s. A receiver that does not take it is a line on stderr and nothing else. @throws never */
  async tell(notices: readonly Notice[], terms: TellTerms): Promise<void> {
    if (notices.length === 0) return this.tellUnreadable();
    try {
      this.#warn(await this.#deliver(toldOf(notices), terms));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#line(`Could not notify anybody: ${why} The run itself is not affected.`);
    }
  }

  async #deliver(
    told: readonly Told[],
    { cluster, clock, signal = NEVER }: TellTerms,
  ): Promise<readonly Undelivered[]> {
    const { secrets, runID } = this.#session;
    const { leaseNamespace, leaseName, notifySource } = this.#flags;
    const source = notifySource ?? `/apis/coordination.k8s.io/v1/namespaces/${leaseNamespace}/leases/${leaseName}`;
    const name = notifySource ?? cluster ?? "";
    const teller = { source, name, runID, ...(cluster === undefined ? {} : { cluster }) };
    const receivers = this.#targets().map(({ format, ...target }): Receiver => {
      const { contentType, bodies } = FORMATS[format];
      const texts = bodies(told, teller).map((body) => escapedJSON(secrets.redact(JSON.stringify(body))));
      return { ...target, contentType, bodies: texts };
    });
    const secret = this.#secret();
    const { deliver } = await import("../adapters/notify/notify.ts");
    return await deliver(receivers, {
      userAgent: `flipop/${readVersion()}`,
      send: this.#send,
      secrets,
      clock,
      signal,
      ...(secret === undefined ? {} : { secret }),
    });
  }

  /** Of a receiver that fails again and again the first, the second, the fourth, the eighth … time is told. */
  #warn(undelivered: readonly Undelivered[]): void {
    const failed = new Map(undelivered.map((one) => [one.receiver, one]));
    for (const name of this.#failures.keys()) if (!failed.has(name)) this.#failures.delete(name);
    for (const [name, { count, of, why }] of failed) {
      const times = (this.#failures.get(name) ?? 0) + 1;
      this.#failures.set(name, times);
      if ((times & (times - 1)) !== 0) continue;
      const again = times === 1 ? "" : ` (${times} times in a row)`;
      this.#line(
        `Could not notify ${name}${again}: ${why}. It did not get ${count} of ${of}. The run itself is not affected.`,
      );
    }
  }

  /** Says how many notices nobody was told of, because receivers are too slow. */
  dropped(count: number): void {
    if (count > 0) this.#line(`Nobody was notified of ${countText(count, "thing")}: receivers are too slow.`);
  }

  #line(text: string): void {
    writeLine(this.#session, "warn", text, { reason: "NotifyFailed" });
  }

  /** The targets as they are now: the file is read each time, so that a rotated Secret is picked up. */
  #targets(): readonly Target[] {
    const { notify, notifyFile } = this.#flags;
    const { secrets } = this.#session;
    const given = notify.map((text) => ({ text, place: "--notify" }));
    const inFile = notifyFile === undefined ? [] : linesOf(notifyFile);
    const all = [...given, ...inFile];
    for (const { text } of all) for (const secret of secretsOf(text)) secrets.add(secret);
    const targets = all.map(({ text, place }) => targetOf(text, place));
    return targets.map((target, at) => {
      const isAlone = targets.every(({ name }, other) => other === at || name !== target.name);
      return isAlone ? target : { ...target, name: `${target.name} (receiver ${at + 1})` };
    });
  }

  #secret(): string | undefined {
    const { notifySecretFile: path } = this.#flags;
    if (path === undefined) return undefined;
    const source = { kind: "file", variable: "--notify-secret-file", path } as const;
    const secret = readPassword(source, this.#session.secrets, "secret");
    if (secret === undefined)
      throw new ConfigError("invalid", `The file ${path} of --notify-secret-file is empty. Write a secret into it.`);
    return secret;
  }
}

/** Returns what a file says; undefined where it cannot be read now. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError && error.kind === "permission") return undefined;
    throw error;
  }
}

const NEVER: AbortSignal = new AbortController().signal;

/** Returns the URLs of a file, one in a line; empty lines and what begins with `#` count for nothing. @throws ConfigError `permission` */
function linesOf(path: string): readonly { readonly text: string; readonly place: string }[] {
  try {
    return readSecretFile(path)
      .split(/\r?\n/)
      .map((line, at) => ({ text: line.trim(), place: `line ${at + 1} of ${path}` }))
      .filter(({ text }) => text !== "" && !text.startsWith("#"));
  } catch (cause) {
    throw new ConfigError(
      "permission",
      `Cannot read the file ${path} of --notify-file (${whyUnread(cause) ?? "unreadable"}). Correct the path or its permissions.`,
      { cause },
    );
  }
}

const ADVICE =
  "Write a URL like https://alerts.example.com/flipop, or with another format before it: slack+https://…, alertmanager+http://….";

/** @throws ConfigError `usage` for a flag, `invalid` for a line of the file */
function targetOf(text: string, place: string): Target {
  const kind = place === "--notify" ? "usage" : "invalid";
  const [, format = "cloudevents", address = ""] = /^(?:([a-z]+)\+)?(https?:\/\/.*)$/is.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || !isFormat(format.toLowerCase()))
    throw new ConfigError(kind, `What ${place} says is not where to notify. ${ADVICE}`);
  if (url.hash !== "") throw new ConfigError(kind, `The URL of ${place} for ${url.host} has a fragment. Leave it out.`);
  const [, , login] = passwordsIn(address);
  const bare = new URL(url.href);
  bare.username = "";
  bare.password = "";
  return {
    format: format.toLowerCase() as Target["format"],
    name: url.origin,
    url: bare.href,
    ...(login === undefined ? {} : { authorization: `Basic ${login}` }),
  };
}

function isFormat(text: string): text is Target["format"] {
  return Object.hasOwn(FORMATS, text);
}

/** A path that is shorter stands in many texts. */
const SHORTEST_PATH = 12;

/** Returns what of a URL may be a secret, except what our own advice says. */
function secretsOf(text: string): readonly string[] {
  return secretParts(text).filter((part) => !ADVICE.includes(part));
}

/** The whole, its path and query, parts of the path and values of the query that look like a secret, the password. */
function secretParts(text: string): readonly string[] {
  const url = URL.parse(text.replace(/^[a-z]+\+(?=https?:)/i, ""));
  if (url === null) return [text];
  const { pathname, search, searchParams } = url;
  const whole = pathname === "/" && search === "" ? [] : [url.href];
  const paths = [`${pathname}${search}`, pathname].filter(({ length }) => length >= SHORTEST_PATH);
  const parts = [...pathname.split("/"), ...searchParams.values()].filter(looksSecret);
  return [...whole, ...paths, ...parts, ...passwordsIn(url.href)];
}

/** A word of many letters may be a word of other texts, too. */
function looksSecret(part: string): boolean {
  return part.length >= 20 || (part.length >= 8 && /\d/.test(part));
}

/** False for what a person did: a signal, a wrong command line. */
export function isOfTheRun(error: unknown): boolean {
  return !(error instanceof Interrupted || (error instanceof ConfigError && error.kind === "usage"));
}

/** The most notices that wait for a slow receiver. */
const MOST_WAITING = 100;
/** How long the end of a process waits for notices, milliseconds. */
const END_MS = 5000;

/** Notifies beside the passes of a process that goes on: nobody waits for a receiver. Of what waits for a slow one the oldest is dropped. Without a notifier it does nothing. */
export class NoticeQueue {
  readonly #notifier: Notifier | undefined;
  readonly #cluster: Pick<ClusterReader, "server" | "now">;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  #waiting: readonly Notice[] = [];
  #working: Promise<void> | undefined;

  constructor(notifier: Notifier | undefined, cluster: Pick<ClusterReader, "server" | "now">, clock: Clock) {
    this.#notifier = notifier;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Tells what is new after a pass. Of a cluster that cannot be read the first, the second, the fourth, the eighth … failure in a row is. */
  add(pass: WatchedPass): void {
    if (pass.kind === "passed") this.#add(pass.pass.result.notices ?? []);
    else if ((pass.failures & (pass.failures - 1)) === 0) this.#failed(pass.error, pass.failures);
  }

  /** Waits for the work, and for at most 5 s until everything is told, also that the work failed. Returns and throws as the work does. */
  async until<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isOfTheRun(error)) this.#failed(error);
      throw error;
    } finally {
      await this.#end();
    }
  }

  #failed(error: unknown, failures?: number): void {
    const counted = failures === undefined ? {} : { failures };
    this.#add([failedWith(error, { exitCode: exitCodeOfError(error), atMs: this.#cluster.now(), ...counted })]);
  }

  #add(notices: readonly Notice[]): void {
    if (notices.length === 0 || this.#notifier === undefined) return;
    const all = [...this.#waiting, ...notices];
    this.#waiting = all.slice(-MOST_WAITING);
    this.#notifier.dropped(all.length - this.#waiting.length);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#ending.signal.aborted) {
      const notices = this.#waiting;
      this.#waiting = [];
      const [cluster, clock, { signal }] = [this.#cluster.server, this.#clock, this.#ending];
      await this.#notifier?.tell(notices, { cluster, clock, signal });
    }
    this.#working = undefined;
  }

  async #end(): Promise<void> {
    if (this.#working === undefined) return;
    const told = new AbortController();
    const late = this.#clock.sleep(END_MS, told.signal).then(() => this.#ending.abort());
    await this.#working;
    told.abort();
    await late;
    this.#notifier?.dropped(this.#waiting.length);
  }
}
