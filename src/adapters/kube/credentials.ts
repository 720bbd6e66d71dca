import { createHash } from "node:crypto";
import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import { ConfigError } from "../../model/errors.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../../model/text.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import { readBytes, whyUnread } from "../files/read-bytes.ts";
import type { TLSFacts } from "../http/agents.ts";
import { type Connection, type Impersonation, optional } from "./call.ts";
import { type ExecCredential, ExecLogin, runExecPlugin } from "./exec-plugin.ts";

const MEMO_MS = 10_000;
/** How soon a file is read again that could not be read, or whose token or certificate was refused, milliseconds. A process keeps its Lease for much longer without an answer. */
const REFUSED_MS = 1000;

/** Everything a request needs to be let in. */
export interface LoginFacts {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly tls: TLSFacts;
  /** Hash of all of it: two logins with the same hash are the same to the server. */
  readonly fingerprint: string;
}

/**
 * The credentials of a connection. The kubeconfig, files and plugins are asked at most every 10 s, so a replaced token is seen soon; parallel
 * calls share one reading, and a plugin's answer is kept until it expires. Holds secrets: never log it.
 */
export class Credentials {
  #connection: Connection;
  readonly #clock: Clock;
  readonly #reload: (() => Promise<Connection>) | undefined;
  readonly #delegate: Delegate;
  readonly #secrets: Secrets | undefined;
  #memo: { readonly login: Promise<LoginFacts>; untilMs: number } | undefined;
  #renewal: { readonly refused: string; readonly login: Promise<LoginFacts>; readonly untilMs: number } | undefined;
  readonly #exec: ExecLogin;
  #movedTo: string | undefined;
  /** The last one that could be read; undefined once it is refused. */
  #last: LoginFacts | undefined;

  /** `reload` tells how the kubeconfig now describes the same context. */
  constructor(connection: Connection, clock: Clock, reload?: () => Promise<Connection>) {
    this.#connection = connection;
    this.#clock = clock;
    this.#reload = reload;
    this.#delegate = new Delegate(connection);
    this.#secrets = connection.secrets;
    this.#exec = new ExecLogin(clock);
  }

  /**
   * The credentials as of at most 10 s ago. A file or a plugin that gives none at the moment, as while it is being replaced, changes nothing until the server refuses what there was.
   * @throws ConfigError when there are none; they are asked for again next time.
   */
  async current(): Promise<LoginFacts> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#memo !== undefined && nowMs < this.#memo.untilMs) return this.#memo.login;
    return await this.#keep(
      this.#read().catch((error: unknown) => {
        if (this.#last === undefined || this.#isExpired) throw error;
        return { ...this.#last, isOld: true };
      }),
    );
  }

  /** True for the credential of a plugin that holds no longer, or was refused. */
  get #isExpired(): boolean {
    return this.#connection.user.exec !== undefined && this.#exec.leftMs() <= 0;
  }

  /** Keeps what is being read for whoever asks next: ten seconds; what is old, or will expire before, for a second at least. */
  #keep(reading: Promise<LoginFacts & { readonly isOld?: boolean }>): Promise<LoginFacts> {
    const startedMs = this.#clock.monotonicMs();
    const login = reading.then(
      ({ isOld = false, ...read }) => {
        this.#last = read;
        const isOfPlugin = this.#connection.user.exec !== undefined;
        const leftMs = isOfPlugin ? Math.min(MEMO_MS, this.#exec.leftMs()) : MEMO_MS;
        memo.untilMs = startedMs + (isOld ? REFUSED_MS : Math.max(REFUSED_MS, leftMs));
        return read;
      },
      (error: unknown) => {
        if (this.#memo === memo) this.#memo = undefined;
        throw error;
      },
    );
    const memo = { login, untilMs: Number.POSITIVE_INFINITY };
    this.#memo = memo;
    return login;
  }

  /**
   * Fresh credentials after the server refused `refused`: plugins run again. Undefined when fresh ones are the same, so that
   * another try is useless. With `false` it is the server that is not trusted: plugins have nothing to do with that. Parallel callers that were refused with the same credentials share one reading. Files are read again after a second, plugins run after ten.
   */
  async renewed(refused: LoginFacts, isRefused = true): Promise<LoginFacts | undefined> {
    const known = await this.current();
    if (known.fingerprint !== refused.fingerprint) return known;
    const nowMs = this.#clock.monotonicMs();
    if (this.#renewal?.refused !== refused.fingerprint || nowMs >= this.#renewal.untilMs) {
      if (isRefused) {
        this.#last = undefined;
        this.#exec.forget();
      }
      const { exec, authProvider } = this.#connection.user;
      const isRead = !isRefused || (exec === undefined && authProvider === undefined);
      const untilMs = nowMs + (isRead ? REFUSED_MS : MEMO_MS);
      this.#renewal = { refused: refused.fingerprint, login: this.#keep(this.#read()), untilMs };
    }
    const fresh = await this.#renewal.login;
    return fresh.fingerprint === refused.fingerprint ? undefined : fresh;
  }

  /** The server that the kubeconfig names by now in the place of this one, under the same context. */
  get movedTo(): string | undefined {
    return this.#movedTo;
  }

  /** A kubeconfig that cannot be read, as while it is being written, or that names another server by now changes nothing: what logs in there is not for this one. */
  async #latest(): Promise<Connection> {
    const { server, context } = this.#connection;
    const fresh = await this.#reload?.().catch(() => undefined);
    if (fresh?.server === server) this.#connection = fresh;
    const isMoved = fresh !== undefined && fresh.server !== server && fresh.context === context;
    this.#movedTo = isMoved ? fresh.server : undefined;
    return this.#connection;
  }

  async #read(): Promise<LoginFacts> {
    const { user, tls: server, impersonation } = await this.#latest();
    const exec = user.exec === undefined ? undefined : await this.#execCredential(user.exec);
    const ca = server.isInsecure ? undefined : await this.#pem(server.authority, server.authorityFile);
    const cert = exec?.certificate ?? (await this.#pem(user.certificate, user.certificateFile));
    const key = exec?.key ?? (await this.#pem(user.key, user.keyFile));
    const tls: TLSFacts = {
      ...optional("ca", ca),
      ...optional("cert", cert),
      ...optional("key", key),
      ...optional("servername", server.serverName),
      ...(server.isInsecure ? { rejectUnauthorized: false } : {}),
    };
    const authorization =
      (await this.#authorization(exec)) ??
      (user.authProvider === undefined ? undefined : await this.#delegate.authorization(tls));
    for (const secret of [key, user.password, authorization?.replace(/^\S+ /, "")])
      if (secret) this.#secrets?.add(secret);
    const headers = { ...optional("Authorization", authorization), ...impersonationHeaders(impersonation) };
    const fingerprint = createHash("sha256")
      .update(JSON.stringify([headers, tls]))
      .digest("base64");
    return { headers, tls, fingerprint };
  }

  async #execCredential(plugin: NonNullable<Connection["user"]["exec"]>): Promise<ExecCredential> {
    for (const secret of plugin.secrets) this.#secrets?.add(secret);
    const redact = (text: string): string => this.#secrets?.redactQuoted(text) ?? text;
    return await this.#exec.credential(() => runExecPlugin(plugin, this.#connection.source, redact));
  }

  async #authorization(exec: ExecCredential | undefined): Promise<string | undefined> {
    const { user } = this.#connection;
    if (exec?.token !== undefined) return `Bearer ${exec.token}`;
    if (user.tokenFile !== undefined)
      return this.#bearer((await this.#file(user.tokenFile, "token")).trim(), user.tokenFile);
    if (user.token !== undefined) return this.#bearer(user.token);
    if (user.username === undefined) return undefined;
    return `Basic ${Buffer.from(`${user.username}:${user.password ?? ""}`).toString("base64")}`;
  }

  #bearer(token: string, file?: string): string {
    this.#secrets?.add(token);
    const what = `The token${file === undefined ? "" : ` in ${file}`} of ${this.#connection.source}`;
    if (token === "") throw new ConfigError("invalid", `${what} is empty. Log in again, or correct the path.`);
    if (!isTokenText(token)) throw new ConfigError("invalid", `${what} ${UNUSABLE_TOKEN}. Copy it again.`);
    return `Bearer ${token}`;
  }

  async #pem(data: string | undefined, file: string | undefined): Promise<string | undefined> {
    return data ?? (file === undefined ? undefined : await this.#file(file, "certificate or key"));
  }

  async #file(file: string, what: string): Promise<string> {
    try {
      return await readSmallFile(file);
    } catch (error) {
      throw new ConfigError(
        "invalid",
        `Cannot read the ${what} ${file} of ${this.#connection.source}: ${whyUnreadable(error)}. ` +
          "Correct the path, or make it readable.",
        { cause: error },
      );
    }
  }
}

/**
 * The headers that make the API server treat the caller as somebody else; none without a user. Pure.
 * @throws ConfigError when a name has a character that no header can carry
 * @see https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ (2026-08)
 */
function impersonationHeaders(impersonation: Impersonation): Readonly<Record<string, string | readonly string[]>> {
  if (impersonation.user === undefined) return {};
  const { user, groups, uid = "", extra: more } = impersonation;
  for (const value of [user, ...groups, uid, ...Object.values(more).flat()]) checkValue(value);
  const extra = Object.entries(impersonation.extra).map(([key, values]) => [
    `Impersonate-Extra-${encodeURIComponent(key)}`,
    values,
  ]);
  return {
    "Impersonate-User": impersonation.user,
    ...(impersonation.groups.length === 0 ? {} : { "Impersonate-Group": impersonation.groups }),
    ...(impersonation.uid === undefined ? {} : { "Impersonate-Uid": impersonation.uid }),
    ...Object.fromEntries(extra),
  };
}

/** Node sends a header in Latin-1 and refuses what it cannot write so. */
function checkValue(value: string): void {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw new ConfigError(
    "invalid",
    `The name ${JSON.stringify(value)} to act as cannot be sent: it has a line end or another control character, or a letter outside Latin-1. ` +
      "Correct --as, --as-group, or the kubeconfig.",
  );
}

/** Kubeconfigs, tokens and certificates are far smaller. A larger file was named by mistake. */
const MAX_BYTES = 1 << 20;

/** Returns the text of a file of at most 1 MiB, which may be a pipe or a device. @throws as {@link readBytes} does */
export async function readSmallFile(file: string): Promise<string> {
  return (await readBytes(file, { mostBytes: MAX_BYTES })).toString("utf8");
}

/** Returns why {@link readSmallFile} failed, for texts: a code such as `EACCES`, or what is wrong with the file. */
export function whyUnreadable(error: unknown): string {
  return whyUnread(error) ?? "unknown error";
}

/**
 * Makes the Authorization header of a legacy `auth-provider`, which only client-node can. Only such connections use it: client-node takes 0.4 s and 80 MB to load
 * (2.0.1, measured 2026-08). One instance serves a connection: it holds refreshed OIDC tokens.
 */
class Delegate {
  readonly #connection: Connection;
  #made: { readonly kubeConfig: KubeConfig; readonly fingerprint: string } | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The header for now; may call an identity provider. @throws ConfigError when the provider gives no credentials. */
  async authorization(tls: TLSFacts): Promise<string> {
    const options: RequestOptions = {};
    try {
      await (await this.#kubeConfig(tls)).applyToHTTPSOptions(options);
    } catch (error) {
      throw refused(this.#connection, error);
    }
    const header = new Headers(options.headers as Record<string, string>).get("authorization");
    if (header === null) throw refused(this.#connection, undefined);
    return header;
  }

  /** client-node keeps an agent for ever, so certificates that change need a new KubeConfig. */
  async #kubeConfig(tls: TLSFacts): Promise<KubeConfig> {
    const fingerprint = JSON.stringify(tls);
    if (this.#made?.fingerprint !== fingerprint) {
      const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
      const kubeConfig = new KubeConfig();
      const user = this.#made?.kubeConfig.getCurrentUser()?.authProvider ?? this.#connection.user.authProvider;
      kubeConfig.loadFromOptions(optionsOf(this.#connection, tls, structuredClone(user)));
      this.#made = { kubeConfig, fingerprint };
    }
    return this.#made.kubeConfig;
  }
}

function optionsOf(connection: Connection, tls: TLSFacts, authProvider: unknown): object {
  const { server } = connection;
  return {
    clusters: [
      {
        name: "cluster",
        server,
        // client-node refuses http:// without it, and there is nothing to verify there.
        skipTLSVerify: connection.tls.isInsecure || server.startsWith("http:"),
        ...(tls.ca === undefined ? {} : { caData: base64(tls.ca) }),
        ...(tls.servername === undefined ? {} : { tlsServerName: tls.servername }),
      },
    ],
    users: [
      {
        name: "user",
        ...(tls.cert === undefined ? {} : { certData: base64(tls.cert) }),
        ...(tls.key === undefined ? {} : { keyData: base64(tls.key) }),
        ...(authProvider === undefined ? {} : { authProvider }),
      },
    ],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context",
  };
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}

/** The provider's own text is left out: it may quote tokens. */
function refused(connection: Connection, cause: unknown): ConfigError {
  const provider = String(connection.user.authProvider?.["name"] ?? "");
  return new ConfigError(
    "invalid",
    `Cannot use "${provider}" of ${connection.source}. Log in again, or replace the auth-provider by an exec plugin.`,
    { cause },
  );
}
