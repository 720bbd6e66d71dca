import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { WEBHOOK } from "../adapters/webhook/traits.ts";
import { ConfigError } from "../model/errors.ts";
import { EXIT } from "../report/exit-code.ts";
import { sandboxDocument } from "../report/json/document.ts";
import { messageOf } from "../report/text/errors.ts";
import type { Sandbox } from "../sandbox/start.ts";
import { DEFAULT_SANDBOX_DIR } from "./config.ts";
import type { SandboxFlags } from "./flags.ts";
import { isDocument, writeDocument, writeLine, writeText } from "./output.ts";
import type { Session } from "./session.ts";

/**
 * Runs `sandbox`: serves the world of a folder on loopback until a signal ends it, and prints what other programs must know of it. Writes the folder's
 * files, and while it serves a kubeconfig and the exports there. Returns 0.
 * @throws ConfigError `usage` for a folder that cannot be a world, or is served already
 */
export async function runSandbox(session: Session, dir: string | undefined, flags: SandboxFlags): Promise<number> {
  if (flags.sandbox !== undefined)
    throw new ConfigError("usage", "flipop sandbox takes its folder as an argument: leave out --sandbox.");
  const { EXPORTS, startSandbox } = await import("../sandbox/start.ts");
  const sandbox = await startSandbox({
    dir: resolve(dir ?? DEFAULT_SANDBOX_DIR),
    isServed: true,
    now: session.wallMs,
    warn: (text) => session.warn("UnknownFile", text),
    onError: (error) => session.warn("Sandbox", messageOf(error)),
  });
  const exportsFile = join(sandbox.dir, EXPORTS);
  try {
    const environment = environmentOf(sandbox);
    const lines = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
    writeFileSync(exportsFile, lines.join(""), { mode: 0o600 });
    if (isDocument(flags.output))
      await writeDocument(session.streams, sandboxDocument(sandbox.dir, environment), flags.output);
    else writeText(session.streams, lines.join(""));
    writeLine(
      session,
      "info",
      `serving ${sandbox.dir} until it is interrupted; in another terminal: . ${quoted(exportsFile)}`,
    );
    await signalled(session.signal);
  } finally {
    rmSync(exportsFile, { force: true });
    await sandbox.close();
  }
  session.endedAsMeant?.();
  return EXIT.done;
}

/** Returns the variables by which flipop, kubectl and others find the world of a sandbox. */
export function environmentOf(sandbox: Sandbox): Readonly<Record<string, string>> {
  return {
    KUBECONFIG: sandbox.kubeconfig,
    DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
    DIGITALOCEAN_ACCESS_TOKEN: sandbox.token,
    CLOUDFLARE_API_URL: sandbox.cloudflareURL,
    CLOUDFLARE_TOKEN: sandbox.token,
    HCLOUD_API_URL: sandbox.hetznerURL,
    HCLOUD_ENDPOINT: sandbox.hetznerURL,
    HCLOUD_TOKEN: sandbox.token,
    FLIPOP_DNS_WEBHOOK: `${WEBHOOK}=${sandbox.webhookURL}`,
    FLIPOP_RESOLVER: sandbox.resolver,
  };
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function signalled(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((end) => signal.addEventListener("abort", () => end(), { once: true }));
}
