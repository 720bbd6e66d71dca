import { createHash } from "node:crypto";
import { ConfigError } from "../../model/errors.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../../model/text.ts";
import type { Clock, Secrets } from "../../ports/system.ts";
import type { TLSFacts } from "../http/agents.ts";
import type { Connection } from "./connection.ts";
import { Delegate } from "./delegate.ts";
import { type ExecCredential, runExecPlugin } from "./exec-plugin.ts";
import { impersonationHeaders } from "./impersonation-headers.ts";
import { optional } from "./optional.ts";
import { readSmallFile, whyUnreadable } from "./small-file.ts";

const MEMO_MS = 10_000;

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
  #memo: { readonly login: Promise<LoginFacts>; readonly untilMs: number } | undefined;
  #renewal: { readonly refused: string; readonly login: Promise<LoginFacts>; readonly untilMs: number } | undefined;
  #exec: ExecCredential | undefined;

  /** `reload` tells how the kubeconfig now describes the same context. */
  constructor(connection: Connection, clock: Clock, reload?: () => Promise<Connection>) {
    this.#connection = connection;
    this.#clock = clock;
    this.#reload = reload;
    this.#delegate = new Delegate(connection);
    this.#secrets = connection.secrets;
  }

  /** The credentials as of at most 10 s ago. @throws ConfigError when a file or plugin gives none; it is asked again next time. */
  async current(): Promise<LoginFacts> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#memo !== undefined && nowMs < this.#memo.untilMs) return this.#memo.login;
    const login = this.#read();
    const memo = { login, untilMs: nowMs + MEMO_MS };
    this.#memo = memo;
    login.catch(() => {
      if (this.#memo === memo) this.#memo = undefined;
    });
    return login;
  }

  /**
   * Fresh credentials after the server refused `refused`: plugins run again. Undefined when fresh ones are the same, so that
   * another try is useless. Parallel callers that were refused with the same credentials share one reading.
   */
  async renewed(refused: LoginFacts): Promise<LoginFacts | undefined> {
    const known = await this.current();
    if (known.fingerprint !== refused.fingerprint) return known;
    const nowMs = this.#clock.monotonicMs();
    if (this.#renewal?.refused !== refused.fingerprint || nowMs >= this.#renewal.untilMs) {
      this.#memo = undefined;
      this.#exec = undefined;
      this.#renewal = { refused: refused.fingerprint, login: this.current(), untilMs: nowMs + MEMO_MS };
    }
    const fresh = await this.#renewal.login;
    return fresh.fingerprint === refused.fingerprint ? undefined : fresh;
  }

  /** A kubeconfig that cannot be read, as while it is being written, or that names another server by now changes nothing: what logs in there is not for this one. */
  async #latest(): Promise<Connection> {
    const fresh = await this.#reload?.().catch(() => undefined);
    if (fresh?.server === this.#connection.server) this.#connection = fresh;
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
    const kept = this.#exec;
    if (kept !== undefined && (kept.expiresAtMs ?? Number.POSITIVE_INFINITY) > this.#clock.wallMs() + MEMO_MS)
      return kept;
    for (const secret of plugin.secrets) this.#secrets?.add(secret);
    this.#exec = await runExecPlugin(
      plugin,
      this.#connection.source,
      (text) => this.#secrets?.redactQuoted(text) ?? text,
    );
    return this.#exec;
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
