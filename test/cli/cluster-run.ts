import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DigitalOceanSandbox, digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { FLIPOP } from "../programs/entry.ts";
import { withoutWaiting } from "./without-waiting.ts";

/** What a run of the real program printed and how it ended. */
export interface ProgramRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `bin/flipop` with exactly this environment, PATH and HOME aside. @param until - words after which it is told to end */
export function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  until?: string,
): Promise<ProgramRun> {
  return runCommand([FLIPOP, ...args], { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), ...env }, until);
}

/** Runs a command with exactly this environment. @param until - words after which it is sent SIGTERM */
export function runCommand(
  [command = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  until?: string,
): Promise<ProgramRun> {
  const child = spawn(command, args, { env });
  const out = { stdout: "", stderr: "" };
  const collect = (name: keyof typeof out, text: string): void => {
    out[name] += text;
    if (until !== undefined && out[name].includes(until)) child.kill();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => collect("stdout", text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => collect("stderr", text));
  return new Promise((resolve, reject) => {
    child
      .on("error", reject)
      .on("close", (code) => resolve({ code, stdout: out.stdout, stderr: withoutWaiting(out.stderr) }));
  });
}

/** An emulated account on loopback: droplets 101–103 and two free addresses in nyc3. */
export interface EmulatedAccount {
  readonly url: string;
  readonly faults: FaultList;
  readonly sandbox: DigitalOceanSandbox;
  close(): Promise<void>;
}

/** Starts an emulated account; `droplets` are made in nyc3. `onCall` learns of every request, before its answer. */
export async function startAccount(
  droplets: readonly number[],
  ips: readonly string[],
  onCall?: (call: RecordedCall) => void,
): Promise<EmulatedAccount> {
  const faults = new FaultList();
  const folder = mkdtempSync(join(tmpdir(), "flipop-account-"));
  const sandbox = digitaloceanSandbox({
    file: join(folder, "digitalocean.yaml"),
    faults,
    now: Date.now,
    ...(onCall && { onCall }),
  });
  for (const id of droplets) sandbox.addDroplet({ id, region: "nyc3" });
  for (const ip of ips) sandbox.addAddress({ ip, region: "nyc3" }, "reserved");
  const server = await sandbox.serve();
  const close = async (): Promise<void> => {
    await server.close();
    rmSync(folder, { recursive: true });
  };
  return { url: server.url, faults, sandbox, close };
}
