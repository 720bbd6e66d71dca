// One story told with the real kubectl and the real flipop, on whatever API server a kubeconfig leads to.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type ProgramRun, runCommand, runProgram } from "../cli/cluster-run.ts";

/** Where the story plays. */
export interface Stage {
  readonly kubectl: string;
  /** What `flipop sandbox` says to export; for another API server with its KUBECONFIG. */
  readonly env: Readonly<Record<string, string>>;
  /** An empty folder for the files of the story. */
  readonly folder: string;
  /** Does what the controllers of a cluster do once nodes are cordoned. Absent = they run. */
  readonly control?: (node: string) => Promise<void>;
}

/** `digitalocean.yaml` of the story: two machines and an address. */
export const ACCOUNT = `droplets:
  - { id: 720001, region: nyc3 }
  - { id: 720002, region: nyc3 }
reserved_ips:
  - { ip: 198.18.77.7, region: nyc3 }
`;

/** Plays the story. Returns what every command printed, and last what `kubectl get -w` showed meanwhile; what chance decides is put out of sight. */
export async function playStory({ kubectl, env, folder, control }: Stage): Promise<readonly string[]> {
  const story = `story-${randomBytes(4).toString("hex")}`;
  const file = join(folder, "world.yaml");
  const editor = join(folder, "edit.sh");
  writeFileSync(editor, "#!/bin/sh\nsed -i 's/^spec:/spec:\\n  desiredIPs: 1/' \"$1\"\n", { mode: 0o755 });
  const environment = { ...env, HOME: folder, KUBE_EDITOR: editor };
  const told: string[] = [];
  const tell = (command: string, { code, stdout, stderr }: ProgramRun): void => {
    const plain = (text: string): string => withoutChance(text.replaceAll(file, "FILE").replaceAll(story, "STORY"));
    told.push(`$ ${command}\n${plain(stdout)}${plain(stderr)}exit ${code}`);
  };
  const words = (command: string): string[] =>
    command.split(" ").map((word) => word.replaceAll("STORY", story).replace("FILE", file));
  const run = async (command: string, ...last: readonly string[]): Promise<void> =>
    tell(`kubectl ${command}`, await runCommand([kubectl, "-n", story, ...words(command), ...last], environment));
  const reconcile = async (): Promise<void> => {
    const args = ["reconcile", "--settle", "-n", story, "--lease-namespace", story];
    tell("flipop reconcile", await runProgram(args, environment));
  };

  writeFileSync(file, world(story, 80));
  await run("apply -f FILE");
  await run("taint node STORY-a STORY-b node.kubernetes.io/not-ready-");
  await reconcile();
  await run("get fip web");
  await run("wait fip/web --for=condition=Ready --timeout=20s");
  await run("describe fip web");
  const watching = watch([kubectl, "-n", story, "get", "fip", "web", "-w", "--no-headers"], environment);
  await expect.poll(watching.seen).toContain("1/1");
  await run("label node STORY-a edge=yes");
  await run("annotate fip web note=hello");
  await run("cordon STORY-a");
  await control?.(`${story}-a`);
  await reconcile();
  await expect.poll(watching.seen).toContain(`${story}-b`);
  const seen = await watching.end();
  await run("get node STORY-a STORY-b", "-o", COLUMNS);
  await run("uncordon STORY-a");
  await run("patch node STORY-a", "-p", '{"metadata":{"labels":{"edge":null}},"spec":{"taints":null}}');
  await run("patch fip web --type=merge", "-p", '{"spec":{"gracePeriodSeconds":30}}');
  await run("patch fip web --type=json", "-p", '[{"op":"remove","path":"/spec/gracePeriodSeconds"}]');
  writeFileSync(file, world(story, 81));
  await run("apply -f FILE");
  await run(
    "get svc,fip web -o",
    "jsonpath={range .items[*]}{.kind} {.spec.ports[*].port} {.metadata.annotations.note}{end}",
  );
  writeFileSync(file, world(story, 81).replace("region:", "regoin:"));
  await run("apply -f FILE");
  await run("api-resources --api-group=flipop.digitalocean.com");
  await run("explain fip.spec.desiredIPs");
  await playWrites(run, (app) => writeFileSync(file, world(story, 81, app)));
  await run("delete fip/web node/STORY-a node/STORY-b");
  const rows = seen.split("\n").map((row) => withoutChance(row.replaceAll(story, "STORY")).replace(/ +/g, " ").trim());
  return [...told, [...new Set(rows)].filter((row) => row !== "").join("\n")];
}

/** What kubectl sends beside patches: protobuf, server-side applies, dry runs, and what conflicts with what is there. */
async function playWrites(
  run: (command: string, ...last: readonly string[]) => Promise<void>,
  writeWorld: (app: string) => void,
): Promise<void> {
  // In the order of names: times of one second differ by chance.
  const owners = ["flipop", "kubectl", "kubectl-last-applied", "other"]
    .map((name) => `${name}: {.metadata.managedFields[?(@.manager=="${name}")]['operation','fieldsV1']}{"\\n"}`)
    .join("");
  writeWorld("other");
  await run("apply --server-side -f FILE");
  await run("get fip web -o", `jsonpath=${owners}`);
  writeWorld("third");
  await run("apply --server-side -f FILE --field-manager=other");
  await run("apply --server-side -f FILE --field-manager=other --force-conflicts");
  await run("get svc web -o", `jsonpath=${owners}{.spec.ports[*].port}`);
  await run("create -f FILE --dry-run=server");
  await run("create namespace STORY-more");
  await run("create deployment d --image=example.test/d --replicas=2 --port=80");
  await run("create cronjob c --image=example.test/c", "--schedule=0 1 * * *", "--", "echo", "hi");
  await run("create service nodeport n --tcp=80:8080");
  const created =
    "{.kind} {.spec.replicas} {.spec.selector} {.spec.schedule} {.spec.ports[*].targetPort} {.metadata.labels}";
  await run("get deployment/d cronjob/c svc/n -o", `jsonpath={range .items[*]}${created}{"\\n"}{end}`);
  await run(
    "get deployment,cronjob -o",
    "jsonpath={..containers[*].image} {..containers[*].command} {..containerPort}",
  );
  await run("auth can-i delete nodes");
  await run("edit fip web");
  await run("get fip web -o", "jsonpath={.spec.desiredIPs}");
  await run("patch fip web --type=merge -p", '{"metadata":{"resourceVersion":"1"},"spec":{"desiredIPs":1}}');
  await run("wait fip/web --for=jsonpath={.spec.desiredIPs}=1 --timeout=5s");
  await run("drain STORY-a --dry-run=server --force");
  await run("delete fip web --dry-run=server");
  await run("delete deployment/d cronjob/c svc/n namespace/STORY-more --wait=false");
  await run("get fip,deployment,cronjob -o name");
}

const COLUMNS =
  "custom-columns=NAME:.metadata.name,IP:.metadata.annotations.flipop\\.digitalocean\\.com/ipv4-reserved-ip,OFF:.spec.unschedulable";

function world(story: string, port: number, app: string = "web"): string {
  const node = (name: string, machine: number): string => `
apiVersion: v1
kind: Node
metadata: { name: ${story}-${name}, labels: { story: ${story} } }
spec: { providerID: "digitalocean://${machine}" }
status: { conditions: [{ type: Ready, status: "True", lastTransitionTime: "2026-01-05T08:00:00Z" }] }`;
  return `apiVersion: v1
kind: Namespace
metadata: { name: ${story} }
---${node("a", 720_001)}
---${node("b", 720_002)}
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: ${story} }
spec: { selector: { app: ${app} }, ports: [{ name: a, port: ${port} }, { name: b, port: 90 }] }
---
apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata: { name: web, namespace: ${story} }
spec: { provider: digitalocean, region: nyc3, ips: [198.18.77.7], match: { nodeLabel: "story=${story}" } }
`;
}

/** Times, ages, uids, versions and addresses of servers; Events in the order of their texts. */
function withoutChance(text: string): string {
  const [head = "", events] = text.split(/(?<=\nEvents:.*\n(?:.*\n){2})/);
  const sorted = events === undefined ? head : `${head}${events.split("\n").sort().join("\n")}`;
  return sorted
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)/g, "TIME")
    .replace(/https?:\/\/[\w.:]+/g, "SERVER")
    .replace(/\(\d+\.\d s\)/g, "(DURATION)")
    .replace(/(?<=patch: Invalid value: ).*(?=: strict)/g, "PATCHED")
    .replace(/(Resource Version: +)\d+/g, "$1VERSION")
    .replace(/(?<= )\d+(m\d+)?s(?= |$)/gm, "AGE")
    .replace(/ +$/gm, "")
    .replace(/ {2,}/g, "  ");
}

/** A command that goes on until it is ended. */
interface Watching {
  readonly seen: () => string;
  /** Returns what it printed. */
  end(): Promise<string>;
}

function watch([command = "", ...args]: readonly string[], env: Readonly<Record<string, string>>): Watching {
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise<string>((resolve) => child.on("close", () => resolve(text)));
  return {
    seen: () => text,
    end: async () => {
      child.kill();
      return await closed;
    },
  };
}
