import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FaultList } from "../../src/sandbox/faults.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { envOf } from "../doctor/world.ts";
import { realCommand } from "./real-command.ts";

let dir: string;
let sandbox: Sandbox;
let faults: FaultList;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "flipop-failed-"));
  faults = new FaultList();
  sandbox = await startSandbox({ dir, faults });
});

afterEach(async () => {
  await sandbox.close();
  rmSync(dir, { recursive: true });
});

test.for([
  [403, 77, "not permitted: list nodes"],
  [500, 75, "temporary failure: list nodes"],
] as const)("a run that cannot list nodes (%i) is the last run that status shows", async ([status, code, text]) => {
  const env = envOf(sandbox);
  const body = { kind: "Status", code: status, message: "no" };
  faults.add({ server: "kubernetes", path: "/nodes$", status, times: 0, body });
  const failed = await realCommand(["reconcile", "--timeout", "5s"], { env, identity: "failed" });
  expect(failed.exitCode).toBe(code);
  faults.clear();
  const { stdout } = await realCommand(["status", "-o", "wide"], { env, identity: "failed" });
  expect(stdout).toMatch(new RegExp(`last run: .*, exit code ${code} \\(${text}\\)`));
});

test.for([
  [["-v"], /DigitalOcean failed to list .* \(500\)\n {2}\(operation: list, HTTP status: 500, request id: req-62\)\n/],
  [
    ["-v", "--log-format", "json"],
    /"msg":"DigitalOcean failed to list .* \(500\)","runID":"failed","requestId":"req-62"\}\n/,
  ],
  [[], undefined],
] as const)("a read that fails is told with its request id where it is asked for: %j", async ([flags, told]) => {
  const env = envOf(sandbox);
  const headers = { "x-request-id": "req-62" };
  const body = { id: "server_error", message: "no" };
  faults.add({ server: "digitalocean", path: "/v2/reserved_ips$", status: 500, times: 0, headers, body });
  const { stdout, stderr } = await realCommand(["plan", ...flags], { env, identity: "failed" });
  expect(stdout).not.toContain("req-62");
  if (told === undefined) expect(stderr).not.toContain("req-62");
  else expect(stderr).toMatch(told);
});
