// What README.md tells people to type in three terminals, typed: once as it stands there, once where the cluster is a real API server and the clouds are the sandbox's.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../cli/cluster-run.ts";
import { API } from "../cluster/api.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { describeCluster } from "../cluster/context.ts";
import { type Cluster, startCluster } from "../cluster/start.ts";
import { shippedFiles, shippedText } from "../manifests/shipped.ts";
import { commandsOf } from "../readme/commands.ts";
import { FLIPOP } from "./entry.ts";

const kubectl = await toolOrSkip("kubectl");

/** How long to wait for what comes, milliseconds; no measure of anything. */
const PATIENCE_MS = 600_000;

const parent = mkdtempSync(join(tmpdir(), "flipop-demo-"));
const terminals: Terminal[] = [];

/** A shell in which one line runs. */
interface Terminal {
  readonly output: () => string;
  end(): Promise<void>;
}

function openTerminal(line: string, folder: string): Terminal {
  const env = { HOME: folder, PATH: [join(folder, "programs"), process.env["PATH"]].join(delimiter) };
  const child = spawn("/bin/sh", ["-c", line], { cwd: folder, env, detached: true });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const terminal: Terminal = {
    output: () => text,
    end: async () => {
      // The shell and all that it started, as Ctrl-C at a terminal.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      await closed;
    },
  };
  terminals.push(terminal);
  return terminal;
}

/** What the demo comes to: the rows that were seen, what flipop did meanwhile, and where everything is in the end. */
interface Told {
  readonly done: readonly string[];
  readonly rows: readonly string[];
  readonly nodes: string;
  readonly account: string;
}

/**
 * Types the demo of README.md.
 * @param arrange - what is done to the world's folder once it is served, before it is used
 * @param control - what the controllers of a cluster do while it runs; ends with the signal
 */
async function playDemo(
  name: string,
  arrange: (world: string) => Promise<void> = async () => undefined,
  control: (ended: AbortSignal) => Promise<void> = async () => undefined,
): Promise<Told> {
  const folder = join(parent, name);
  for (const part of ["bin", "programs"]) mkdirSync(join(folder, part), { recursive: true });
  symlinkSync(FLIPOP, join(folder, "bin", "flipop"));
  symlinkSync(kubectl ?? "", join(folder, "programs", "kubectl"));
  const [install, serve = "", reconcile = "", cordon = ""] = commandsOf("README.md", "Try it in a minute", 1);
  expect(install).toBe("npm ci");
  const ended = new AbortController();

  const first = openTerminal(serve, folder);
  await vi.waitUntil(() => first.output().includes("until it is interrupted"), PATIENCE_MS);
  await arrange(join(folder, "world"));
  const second = openTerminal(reconcile, folder);
  const shell = async (line: string): Promise<string> => {
    const env = { HOME: folder, PATH: process.env["PATH"] ?? "" };
    const { code, stdout, stderr } = await runCommand(
      ["/bin/sh", "-c", `cd ${folder}; . world/exports.sh; ${line}`],
      env,
    );
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
    return stdout;
  };
  await shell("programs/kubectl -n ingress wait fip/web --for=condition=Ready --timeout=10m");
  // The names of the record set are published beside the pool, sooner or later than it is ready.
  await vi.waitUntil(() => second.output().includes("updated DNS nodes.example.net"), PATIENCE_MS);
  const controlled = control(ended.signal);
  const third = openTerminal(cordon, folder);
  await vi.waitUntil(() => /^ingress +web +True +3\/3 .* worker-2 \+2/m.test(third.output()), PATIENCE_MS);
  await vi.waitUntil(() => second.output().includes(" (+203.0.113.10 ="), PATIENCE_MS);
  ended.abort();
  await controlled;

  const columns = "NAME:.metadata.name,IP:.metadata.annotations.flipop\\.digitalocean\\.com/ipv4-reserved-ip";
  const nodes = await shell(`programs/kubectl get nodes --no-headers -o 'custom-columns=${columns}'`);
  const url = await shell('printf %s "$DIGITALOCEAN_API_URL/v2/reserved_ips"');
  const answer = await fetch(url, { headers: { authorization: "Bearer sandbox" } });
  const { reserved_ips } = (await answer.json()) as { reserved_ips: readonly Address[] };
  const rows = third
    .output()
    .split("\n")
    .map((row) => row.replaceAll(/ +/g, " ").replace(/ \d+[ms]\S*$/, ""));
  const done = second.output().matchAll(/^\S+Z ([-+~>] .*)$/gm);
  return {
    done: [...done].map(([, text = ""]) => text).sort(),
    rows: rows.filter((row, at) => row !== rows[at - 1] && row !== ""),
    nodes: nodes.replaceAll(/ +/g, " "),
    account: reserved_ips.map(({ ip, droplet }) => `${ip} ${droplet?.name ?? "-"}`).join("\n"),
  };
}

describeCluster("the demo of README.md", (shared) => {
  void shared;
  let cluster: Cluster;
  let api: API;

  beforeAll(async () => {
    cluster = await startCluster();
    api = new API({ ...cluster, token: cluster.adminToken });
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });
  afterAll(async () => {
    for (const terminal of terminals.toReversed()) await terminal.end();
    api.close();
    await cluster.stop();
    rmSync(parent, { recursive: true, force: true });
  });

  /** Creates an object as it is elsewhere, its status and taints included. */
  async function create(path: string, { metadata, spec, status, ...head }: Copied): Promise<void> {
    const { name, namespace, labels } = metadata;
    const home = namespace === undefined ? path : path.replace(/[^/]+$/, `namespaces/${namespace}/$&`);
    const { status: code } = await api.request("POST", home, { ...head, metadata: { name, labels }, spec, status });
    // Some namespaces are everywhere.
    expect([201, 409]).toContain(code);
    if (head.kind === "Node") await api.setNodeTaints(name, spec.taints ?? []);
    if (head.kind === "Pod")
      await api.call("PATCH", `${home}/${name}/status`, { status }, "application/merge-patch+json");
  }

  /** Puts what the served world holds into the real cluster, and lets the exports lead there. */
  async function moveIntoCluster(world: string): Promise<void> {
    const [, server] = /server: (\S+)/.exec(readFileSync(join(world, "kubeconfig"), "utf8")) ?? [];
    const copy = async (path: string, kind: string): Promise<void> => {
      const { apiVersion, items } = (await (await fetch(`${server}${path}`)).json()) as Listing;
      for (const item of items) await create(path, { apiVersion, kind, ...item });
    };
    await copy("/api/v1/namespaces", "Namespace");
    await copy("/api/v1/nodes", "Node");
    await copy("/api/v1/pods", "Pod");
    await copy("/api/v1/services", "Service");
    const own = "/apis/flipop.digitalocean.com/v1alpha1";
    await copy(`${own}/floatingippools`, "FloatingIPPool");
    await copy(`${own}/nodednsrecordsets`, "NodeDNSRecordSet");
    await copy(`${own}/routedipissuers`, "RoutedIPIssuer");
    await copy(`${own}/routedips`, "RoutedIP");
    const exports = join(world, "exports.sh");
    writeFileSync(exports, readFileSync(exports, "utf8").replace(/KUBECONFIG=.*/, `KUBECONFIG=${cluster.kubeconfig}`));
  }

  /** The taint that the node controller gives a cordoned node; it does not run here. */
  async function taintCordoned(ended: AbortSignal): Promise<void> {
    const cordoned = async (): Promise<boolean> =>
      (await api.call<{ spec: { unschedulable?: boolean } }>("GET", "/api/v1/nodes/worker-1")).spec.unschedulable ===
      true;
    await vi.waitUntil(async () => ended.aborted || (await cordoned()), PATIENCE_MS);
    await api.setNodeTaints("worker-1", [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }]);
  }

  test.skipIf(kubectl === undefined)(
    "moves the address of a cordoned node to worker-5, on the sandbox as on kube-apiserver",
    async () => {
      const [told, real] = await Promise.all([playDemo("own"), playDemo("real", moveIntoCluster, taintCordoned)]);
      expect({ ...told, rows: [] }).toEqual({ ...real, rows: [] });
      expect(told.account.split("\n")).toContain("203.0.113.10 worker-5");
      expect(told.nodes.split("\n")).toContain("worker-5 203.0.113.10");
      expect(told.nodes.split("\n")).toContain("worker-1 <none>");
      expect(told.done.some((text) => text.includes(" moved 203.0.113.10 from worker-1 to worker-5:"))).toBe(true);
      // How much of the move is seen depends on how soon kubectl looks.
      for (const { rows } of [told, real]) {
        expect(rows.slice(0, 2)).toEqual(["node/worker-1 cordoned", "NAMESPACE NAME READY ADDRESSES DNS NODES AGE"]);
        expect(rows.at(-1)).toBe("ingress web True 3/3 www.example.com worker-2 +2");
      }
    },
  );
});

interface Address {
  readonly ip: string;
  readonly droplet: { readonly name: string } | null;
}

interface Item {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly spec: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
  readonly status?: object;
}

type Copied = Item & { readonly apiVersion: string; readonly kind: string };

interface Listing {
  readonly apiVersion: string;
  readonly items: readonly Item[];
}
