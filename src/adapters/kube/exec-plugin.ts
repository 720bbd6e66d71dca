import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { ConfigError } from "../../model/errors.ts";
import { isTokenText, plain, UNUSABLE_TOKEN } from "../../model/text.ts";
import { type Clock, within } from "../../ports/system.ts";
import type { ExecPlugin } from "./call.ts";
import { asRecord, asText, asTimeMs } from "./json.ts";

const TIMEOUT_MS = 30_000;
/** So long before a credential expires its plugin runs again, beside what is done with the old one: it may hang, and hang again. */
const AHEAD_MS = 75_000;
/** Before the expiry is so near nobody waits for a plugin, milliseconds; see {@link Credentials}, which keeps what it got for as long. */
const NEAR_MS = 10_000;
/** And so long somebody waits then who still has a credential that is accepted. */
const PATIENCE_MS = 1000;
/** After this a plugin runs again that has failed. */
const FAILED_MS = 1000;
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_QUOTED = 500;

/** What an exec plugin answered: a token, a client certificate, or both. */
export interface ExecCredential {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; absent = valid while the process runs. */
  readonly expiresAtMs?: number;
}

/**
 * The credential of one exec plugin. It is kept until it expires; a process that goes on has the next one before. A plugin that hangs or fails meanwhile harms nobody until then.
 * Parallel callers share one run. Holds secrets: never log it.
 */
export class ExecLogin {
  readonly #clock: Clock;
  #kept: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;
  /** Of a plugin that has given a credential before. */
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;
  #hasWorked = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server has refused the credential: the plugin is to run again. */
  forget(): void {
    this.#kept = undefined;
  }

  /** Milliseconds until the credential expires. Infinity where it does not; 0 or less where there is none. */
  leftMs(): number {
    if (this.#kept === undefined) return 0;
    return (this.#kept.expiresAtMs ?? Number.POSITIVE_INFINITY) - this.#clock.wallMs();
  }

  /** The credential as of now, from `run` where none is kept. @throws what `run` throws, where nothing is kept that still holds; a plugin that has worked before runs again after a second */
  async credential(run: () => Promise<ExecCredential>): Promise<ExecCredential> {
    const kept = this.#kept;
    const leftMs = this.leftMs();
    if (kept !== undefined && leftMs > AHEAD_MS) return kept;
    const running = this.#runOnce(run);
    if (kept === undefined || leftMs <= 0) return running;
    running.catch(() => undefined);
    if (leftMs > NEAR_MS) return kept;
    const fresh = await within(this.#clock, PATIENCE_MS, running).catch(() => kept);
    return fresh === "late" ? kept : fresh;
  }

  #runOnce(run: () => Promise<ExecCredential>): Promise<ExecCredential> {
    const failure = this.#failure;
    if (failure !== undefined && this.#clock.monotonicMs() - failure.atMs < FAILED_MS)
      return Promise.reject(failure.error);
    this.#running ??= run()
      .then((credential) => {
        this.#kept = credential;
        this.#hasWorked = true;
        this.#failure = undefined;
        return credential;
      })
      .catch((error: unknown) => {
        if (this.#hasWorked) this.#failure = { error, atMs: this.#clock.monotonicMs() };
        throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }
}

/**
 * Runs an exec credential plugin once, without a terminal, for at most 30 s. Starts a process; callers share and keep the
 * answer.
 * @param source whose plugin it is, for texts: `context "x" of FILE`.
 * @param redact takes secrets out of what the plugin says.
 * @throws ConfigError when it is missing, fails or answers something else: the command, its stderr, what to do.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins (2026-08)
 */
export async function runExecPlugin(
  plugin: ExecPlugin,
  source: string,
  redact: (text: string) => string = (text) => text,
): Promise<ExecCredential> {
  if (plugin.needsTerminal) throw failed(plugin, source, "it wants a terminal (interactiveMode: Always)");
  if (plugin.command === "") throw failed(plugin, source, "the kubeconfig names no command");
  const program = await programOf(plugin);
  if (program === undefined) throw failed(plugin, source, NOT_INSTALLED);
  const output = await run(program, plugin, { source, redact });
  const credential = decodeCredential(output);
  if (credential === undefined)
    throw failed(plugin, source, "its output is not an ExecCredential with a token or certificate");
  if (credential.token !== undefined && !isTokenText(credential.token))
    throw failed(plugin, source, `its token ${UNUSABLE_TOKEN}`);
  return credential;
}

const NOT_INSTALLED = "it is not installed, or not in $PATH";

/**
 * Returns the program to start: a path as it is; for a name the first program of that name in the absolute folders of the search path. Like kubectl it takes no
 * program from the working folder (exec.ErrDot of Go 1.19 and newer). Undefined if there is none.
 */
async function programOf({ command, searchPath }: ExecPlugin): Promise<string | undefined> {
  if (command.includes(sep)) return command;
  for (const folder of searchPath.split(delimiter).filter((path) => isAbsolute(path))) {
    const file = join(folder, command);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

interface Telling {
  readonly source: string;
  readonly redact: (text: string) => string;
}

function run(program: string, plugin: ExecPlugin, { source, redact }: Telling): Promise<string> {
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(plugin.cluster === undefined ? {} : { cluster: plugin.cluster }) },
  };
  const env = { ...plugin.environment, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  const options = {
    env,
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: "utf8",
  } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, plugin.args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(failed(plugin, source, reasonOf(error, redact(stderr)), error));
    });
    // A plugin that asks a question reads the end of its input instead of waiting.
    child.stdin?.on("error", () => undefined).end();
  });
}

function reasonOf(error: Error & { readonly code?: unknown; readonly killed?: boolean }, stderr: string): string {
  if (error.code === "ENOENT") return NOT_INSTALLED;
  if (error.code === "EACCES") return "it is not executable";
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "its output is larger than 1 MiB";
  if (error.killed === true) return `it did not finish within ${TIMEOUT_MS / 1000} s`;
  const said = plain(stderr).slice(-MAX_QUOTED);
  return `it ended with ${String(error.code)}${said === "" ? " and said nothing" : ` and said: ${said}`}`;
}

/** The output itself is never quoted: it holds the credentials. */
function failed(plugin: ExecPlugin, source: string, why: string, cause?: Error): ConfigError {
  const hint = plugin.installHint === "" ? "" : ` ${plugin.installHint}`;
  return new ConfigError(
    "invalid",
    `Cannot log in with the exec plugin "${plugin.command}" of ${source}: ${why}. ` +
      `Run it by hand to see what it needs, log in again, or choose another context.${hint}`,
    { cause: cause === undefined ? undefined : new Error(cause.name) },
  );
}

function decodeCredential(output: string): ExecCredential | undefined {
  const status = asRecord(asRecord(parse(output))?.["status"]);
  const token = asText(status?.["token"]);
  const certificate = asText(status?.["clientCertificateData"]);
  const key = asText(status?.["clientKeyData"]);
  const expiresAtMs = asTimeMs(status?.["expirationTimestamp"]);
  const isUsable = token !== undefined || (certificate !== undefined && key !== undefined);
  if (!isUsable) return undefined;
  return {
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}
