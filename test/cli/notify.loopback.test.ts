// What receivers get from the real program on the embedded world: the ones that a test can read, and a real Alertmanager.
import { createHmac } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudEvent, HTTP } from "cloudevents";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { type ScriptedGateway, scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { HOOK_PATH, SIGNING_SECRET, shownTokens } from "../fake/fake-tokens.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { startAlertmanager } from "../pushgateway/server-program.ts";
import { schemaErrors } from "../report/schemas.ts";
import { PATIENT_LOCK, startWatch, type WatchProcess } from "../watch/watch-process.ts";
import { type ProgramRun, runProgram } from "./cluster-run.ts";

let root: string;
let sandbox: Sandbox;
const receivers: ScriptedGateway[] = [];
const watching: WatchProcess[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "flipop-notify-"));
  sandbox = await startSandbox({ dir: join(root, "world") });
  // The sandbox takes its own one away when it ends.
  copyFileSync(sandbox.kubeconfig, join(root, "kubeconfig"));
});

afterEach(async () => {
  for (const { child } of watching.splice(0)) child.kill("SIGKILL");
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  await sandbox.close();
  rmSync(root, { recursive: true, force: true });
});

async function receiver(answer?: (response: ServerResponse) => void): Promise<ScriptedGateway> {
  const made = await scriptedGateway(answer);
  receivers.push(made);
  return made;
}

const environment = (): Record<string, string> => ({
  KUBECONFIG: join(root, "kubeconfig"),
  DIGITALOCEAN_API_URL: sandbox.digitaloceanURL,
  DIGITALOCEAN_ACCESS_TOKEN: sandbox.token,
  CLOUDFLARE_API_URL: sandbox.cloudflareURL,
  CLOUDFLARE_TOKEN: sandbox.token,
});

function file(name: string, text: string): string {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
}

const reconcile = (...flags: readonly string[]): Promise<ProgramRun> =>
  runProgram(["reconcile", "--settle", "--timeout", "30s", ...flags], environment());

/** What a receiver has to do that trusts nobody: it checks the signature of the body, the envelope, and the data by its schema. */
function readEvents({ requests }: ScriptedGateway): readonly CloudEvent<Record<string, unknown>>[] {
  return requests.map(({ body, headers }) => {
    const digest = createHmac("sha256", SIGNING_SECRET).update(body, "utf8").digest("hex");
    expect(headers["x-flipop-signature"]).toBe(`sha256=${digest}`);
    const event = HTTP.toEvent<Record<string, unknown>>({ headers, body });
    if (!(event instanceof CloudEvent)) throw new Error("one event was read as several");
    expect(event.validate()).toBe(true);
    expect(schemaErrors(event.data, "Notice")).toEqual([]);
    return event;
  });
}

const PREFIX = "com.digitalocean.flipop.";
const typesOf = (from: ScriptedGateway): readonly string[] =>
  readEvents(from).map(({ type }) => type.replace(PREFIX, ""));

describe("flipop reconcile", () => {
  test("tells each change once, signed, and then nothing more; no output shows the URL or the secret", async () => {
    const hook = await receiver();
    const flags = ["--notify-file", file("urls", `${hook.url}${HOOK_PATH}\n`)];
    const secret = ["--notify-secret-file", file("secret", `${SIGNING_SECRET}\n`), "-o", "json"];
    const first = await reconcile(...flags, ...secret);
    const { outcomes } = JSON.parse(first.stdout);
    const told = readEvents(hook);
    expect(told.map(({ data }) => data?.["outcome"])).toEqual(outcomes);
    expect(new Set(told.map(({ id }) => id)).size).toBe(outcomes.length);
    expect(outcomes.length).toBeGreaterThan(5);
    const second = await reconcile(...flags, ...secret);
    expect(hook.requests).toHaveLength(outcomes.length);
    for (const { stdout, stderr } of [first, second]) expect(shownTokens(stdout + stderr)).toEqual([]);
  });

  test("tells what begins to wait for a person, once, and that a run failed", async () => {
    const hook = await receiver();
    const flags = ["--notify", hook.url, "--notify-secret-file", file("secret", SIGNING_SECRET)];
    await reconcile();
    const pools = join(sandbox.dir, "pools.yaml");
    writeFileSync(pools, readFileSync(pools, "utf8").replace("provider: digitalocean", "provider: Ferengi"));
    await reconcile(...flags);
    await reconcile(...flags);
    expect(typesOf(hook)).toEqual(["object.blocked"]);
    expect(readEvents(hook)[0]).toMatchObject({
      subject: "pool/ingress/web",
      data: { blocked: { reason: "InvalidSpec" }, message: expect.stringContaining('unknown provider "Ferengi"') },
    });
    await sandbox.close();
    expect((await reconcile(...flags)).code).toBe(75);
    expect(typesOf(hook)).toEqual(["object.blocked", "run.failed"]);
    expect(readEvents(hook)[1]?.data).toMatchObject({ run: { exitCode: 75, category: "temporary" } });
  });

  test("a receiver that hangs costs five seconds at its end, and the Lease is free by then", async () => {
    const hung = await receiver(() => undefined);
    const running = reconcile("--notify", hung.url);
    await expect.poll(() => hung.requests.length).toBe(1);
    // Another run takes the Lease while the first one is still posting.
    expect(await reconcile()).toMatchObject({ code: 0 });
    const { code, stderr } = await running;
    expect(code).toBe(0);
    expect(stderr).toContain(`Could not notify ${hung.url}: it took longer than 5 s. It did not get`);
  });

  test("the Alertmanager takes what failed, and shows it by its labels", async ({ skip }) => {
    const program = await debianProgram("prometheus-alertmanager", "prometheus-alertmanager");
    if (program === undefined) return skip("needs an Alertmanager");
    const alertmanager = await startAlertmanager(program, root);
    try {
      const faults = "- server: digitalocean\n  method: POST\n  path: /actions$\n  times: 0\n  status: 422\n";
      writeFileSync(join(sandbox.dir, "faults.yaml"), faults);
      const { stderr } = await reconcile(
        "--notify",
        `alertmanager+${alertmanager.url}/api/v2/alerts`,
        "--notify-source",
        "/production",
      );
      expect(stderr).not.toContain("notify");
      const alerts = (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json()) as readonly {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
        readonly startsAt: string;
        readonly endsAt: string;
      }[];
      expect(alerts.map(({ labels }) => labels)).toContainEqual({
        alertname: "FlipopChangeFailed",
        source: "/production",
        kind: "pool",
        namespace: "ingress",
        name: "web",
        action: "assign-ip",
        subject: "203.0.113.11",
      });
      const [alert] = alerts;
      expect(alert?.annotations["summary"]).toMatch(
        /^pool\/ingress\/web: could not assign 203\.0\.113\.1\d to worker-\d/,
      );
      expect(Date.parse(alert?.endsAt ?? "") - Date.parse(alert?.startsAt ?? "")).toBe(15 * 60_000);
    } finally {
      await alertmanager.stop();
    }
  });
});

describe("flipop reconcile --watch", () => {
  const watch = (...flags: readonly string[]): WatchProcess => {
    const made = startWatch([...PATIENT_LOCK, ...flags], environment());
    watching.push(made);
    return made;
  };

  /** Lets a node fail, as the kubelet would. */
  function breakNode(name: string): void {
    const path = join(sandbox.dir, "nodes.yaml");
    const text = readFileSync(path, "utf8");
    const at = text.indexOf("conditions", text.indexOf(`name: ${name}\n`));
    writeFileSync(path, text.slice(0, at) + text.slice(at).replace('"True"', '"False"'));
  }

  test("tells of each change as it is made", async () => {
    const hook = await receiver();
    const watcher = watch("--notify", hook.url, "--notify-secret-file", file("secret", SIGNING_SECRET));
    await expect.poll(() => hook.requests.length).toBeGreaterThan(5);
    await expect.poll(() => watcher.stdout()).toContain("watching for changes");
    breakNode("worker-1");
    await expect
      .poll(() =>
        readEvents(hook)
          .map(({ data }) => String(data?.["message"]))
          .join("\n"),
      )
      .toMatch(/moved? 203\.0\.113\.10 from worker-1 to worker-5/);
    watcher.child.kill("SIGTERM");
    expect(await watcher.end).toBe(143);
  });

  test("a receiver that hangs keeps no address from moving, and at its end the Lease is given back first", async () => {
    const hung = await receiver(() => undefined);
    const watcher = watch("--notify", hung.url);
    await expect.poll(() => hung.requests.length).toBeGreaterThan(0);
    breakNode("worker-1");
    await expect.poll(() => watcher.stdout()).toMatch(/moved? 203\.0\.113\.10 from worker-1 to worker-5/);
    const asked = hung.requests.length;
    await expect.poll(() => hung.requests.length).toBeGreaterThan(asked);
    watcher.child.kill("SIGTERM");
    const lease = (): string => readFileSync(join(sandbox.dir, "cluster.yaml"), "utf8");
    await expect.poll(lease).toMatch(/holderIdentity: ["']{2}/);
    expect(watcher.child.exitCode).toBeNull();
    expect(await watcher.end).toBe(143);
    expect(watcher.stderr()).toContain(`Could not notify ${hung.url}: it took longer than 5 s.`);
  });
});
