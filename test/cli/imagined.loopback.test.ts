import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Document, parseAllDocuments } from "yaml";
import { uncomment } from "../setup/uncomment.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-imagined-"));
const WORLD = join(root, "world");
const BY_HAND = join(root, "by-hand");
/** A snapshot of the world. */
const TAKEN = join(root, "taken.yaml");

/** Runs a command line in this process on the embedded world of a folder. */
async function flipop(dir: string, ...args: readonly string[]): Promise<Printed> {
  return await realCommand([`--sandbox=${dir}`, ...args], { identity: "imagined" });
}

/** What a plan would do and hold, without times and what was read along the way. */
async function planOf(dir: string, ...args: readonly string[]): Promise<object> {
  return timeless(await flipop(dir, "plan", "-o", "json", ...args));
}

function timeless({ stdout: text, stderr }: Printed): object {
  expect(stderr).toBe("");
  const stdout = text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z|\d\d:\d\d:\d\d UTC \(in [^)]*\)/g, "TIME");
  const { actions, followUps, holds, pools, routedIPs, recordSets, impact } = JSON.parse(stdout);
  return { actions, followUps, holds, pools, routedIPs, recordSets, impact };
}

/** The same of a snapshot. */
async function planFrom(path: string, ...args: readonly string[]): Promise<object> {
  return timeless(await realCommand(["plan", "-o", "json", "--from", path, ...args], { identity: "imagined" }));
}

/** Changes a file of the world by hand. */
function change(file: string, by: (documents: Document[]) => void): void {
  const path = join(BY_HAND, file);
  const documents = parseAllDocuments(readFileSync(path, "utf8")) as Document[];
  by(documents);
  writeFileSync(path, documents.map(String).join("---\n"));
}

const named = (documents: readonly Document[], name: string): Document => {
  const found = documents.find((document) => document.getIn(["metadata", "name"]) === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

const node =
  (name: string, path: readonly (string | number)[], value: unknown): (() => void) =>
  () =>
    change("nodes.yaml", (documents) => named(documents, name).setIn(path, value));

const pool =
  (path: readonly string[], value: unknown): (() => void) =>
  () =>
    change("pools.yaml", (documents) => named(documents, "web").setIn(["spec", ...path], value));

const account =
  (path: readonly (string | number)[], value: unknown): (() => void) =>
  () =>
    change("digitalocean.yaml", ([document]) => document?.setIn(path, value));

const removed =
  (file: string, name: string): (() => void) =>
  () =>
    change(file, (documents) => documents.splice(documents.indexOf(named(documents, name)), 1));

const both =
  (...changes: readonly (() => void)[]): (() => void) =>
  () => {
    for (const one of changes) one();
  };

const CORDON = [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }];

/** An edit, and the same by hand. */
const EDITS: readonly (readonly [edits: string, byHand: () => void])[] = [
  ["node/worker-1=NotReady", node("worker-1", ["status", "conditions", 0, "status"], "False")],
  [
    "node/worker-7=ready",
    both(node("worker-7", ["status", "conditions", 0, "status"], "True"), node("worker-7", ["spec", "taints"], [])),
  ],
  ["node/worker-2=cordoned", node("worker-2", ["spec", "taints"], CORDON)],
  ["node/worker-6=Uncordoned", node("worker-6", ["spec", "taints"], [])],
  [
    "node/worker-3=Gone",
    both(
      removed("nodes.yaml", "worker-3"),
      removed("pods.yaml", "web-3"),
      account(["droplets"], [1001, 1002, 1004, 1005, 1006, 1007].map(droplet)),
      () => change("digitalocean.yaml", ([document]) => document?.setIn(["reserved_ips", 2, "droplet_id"], null)),
    ),
  ],
  ["node/worker-2.taint=dedicated=db:NoSchedule", node("worker-2", ["spec", "taints"], [taint("NoSchedule")])],
  ["node/worker-6.taint=node.kubernetes.io/unschedulable-", node("worker-6", ["spec", "taints"], [])],
  [
    "pool/ingress/web.match.nodeLabel=tier=edge node/worker-2.label=tier=edge node/worker-3.label=tier=edge node/worker-3.label=tier-",
    both(pool(["match", "nodeLabel"], "tier=edge"), node("worker-2", ["metadata", "labels", "tier"], "edge")),
  ],
  ["node/worker-1.pods=None", removed("pods.yaml", "web-1")],
  [
    "node/worker-1.pods=NotReady",
    () => change("pods.yaml", (pods) => named(pods, "web-1").setIn(["status", "conditions", 0, "status"], "False")),
  ],
  ["ip/203.0.113.11=Unattached", account(["reserved_ips", 1, "droplet_id"], null)],
  ["ip/203.0.113.10=on:node/worker-5", account(["reserved_ips", 0, "droplet_id"], 1005)],
  ["ip/203.0.113.10=on:machine/9001", both(account(["reserved_ips", 0, "droplet_id"], 9001), foreignDroplet)],
  ["ip/203.0.113.12=Gone", () => change("digitalocean.yaml", ([document]) => document?.deleteIn(["reserved_ips", 2]))],
  ["pool/ingress/web.desiredIPs=2", pool(["desiredIPs"], 2)],
  ["pool/ingress/web.dnsRecordSet.recordName=other", pool(["dnsRecordSet", "recordName"], "other")],
  ["pool/ingress/web.match.podLabel=app=wbe", pool(["match", "podLabel"], "app=wbe")],
  ["pool/ingress/web.suspend=true", pool(["suspend"], true)],
  ["pool/ingress/web.ips=[203.0.113.10]", pool(["ips"], ["203.0.113.10"])],
  ["dns/ingress/nodes=Deleted", removed("dns.yaml", "nodes")],
  [
    "pool/ingress/web.desiredIPs=4 quota/digitalocean=4",
    both(pool(["desiredIPs"], 4), account(["account", "reserved_ip_limit"], 4)),
  ],
];

function taint(effect: string): object {
  return { key: "dedicated", value: "db", effect };
}

function droplet(id: number): object {
  return { id, name: `worker-${id - 1000}`, region: "nyc3", status: "active" };
}

function foreignDroplet(): void {
  change("digitalocean.yaml", ([document]) => document?.addIn(["droplets"], { ...droplet(9001), name: "foreign" }));
}

beforeAll(async () => {
  const { stderr, exitCode } = await flipop(WORLD, "reconcile", "--settle", "--timeout", "40s");
  expect([stderr, exitCode]).toEqual(["", 0]);
  const more = ["--pods", "ingress/app=wbe", "--node-labels", "tier"];
  expect(await flipop(WORLD, "snapshot", TAKEN, ...more)).toMatchObject({ stderr: "", exitCode: 0 });
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a plan for a world that is imagined", () => {
  test("begins at rest", async () => {
    expect(await planOf(WORLD)).toMatchObject({ actions: [], followUps: [] });
  });

  test.for(EDITS)("%s is planned as if it were so, and over a snapshot the same", async ([edits, byHand]) => {
    rmSync(BY_HAND, { recursive: true, force: true });
    cpSync(WORLD, BY_HAND, { recursive: true });
    const args = edits.split(" ").flatMap((edit) => ["--if", edit]);
    const imagined = await planOf(WORLD, ...args);
    if (!edits.includes("recordName=other")) expect(await planFrom(TAKEN, ...args)).toEqual(imagined);
    byHand();
    expect(imagined).toEqual(await planOf(BY_HAND));
    expect(imagined).not.toEqual(await planOf(WORLD));
  });

  test("a fresh node is named where its addresses are not known", async () => {
    const { stdout, exitCode } = await flipop(
      WORLD,
      "plan",
      "--if",
      "node/+worker-0=like:worker-1",
      "--if",
      "node/worker-3=NotReady",
    );
    expect(stdout).toMatch(/read \S+ \S+ UTC, if node\/\+worker-0=like:worker-1, node\/worker-3=NotReady\n/);
    expect(stdout).toContain("  > move 203.0.113.12 from worker-3 to worker-0\n");
    expect(stdout).toContain("      + (of worker-0)\n");
    expect(exitCode).toBe(0);
  });

  test("a provider that is down is left alone, and what has passed counts", async () => {
    const down = await flipop(WORLD, "plan", "--if", "provider/digitalocean=DOWN", "--if", "node/worker-1=NotReady");
    expect(down.stdout).toContain("  . nothing is changed\n      DigitalOcean does not answer.\n");
    expect(down.exitCode).toBe(3);
    const grace = ["--if", "pool/ingress/web.gracePeriodSeconds=300", "--if", "node/worker-1=NotReady"];
    const early = await flipop(WORLD, "plan", "-o", "name", ...grace);
    const late = await flipop(WORLD, "plan", "-o", "json", ...grace, "--if", "+5m1s");
    expect(early.stdout).not.toContain("pool/");
    expect(JSON.parse(late.stdout).actions).toContainEqual(expect.objectContaining({ kind: "move-ip" }));
  });

  test("objects of a file are laid over those of the cluster, and others are named", async () => {
    const file = join(root, "web.yaml");
    const manifest = (recordName: string): string => `apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata: {name: ${recordName}, namespace: ingress}
spec:
  provider: digitalocean
  region: nyc3
  ips: [203.0.113.10, 203.0.113.11]
  match: {podNamespace: ingress, podLabel: app=web}
  dnsRecordSet: {zone: example.com, recordName: ${recordName}}
`;
    writeFileSync(
      file,
      `${manifest("web")}---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: ingress}}\n`,
    );
    const laid = await flipop(WORLD, "plan", "-o", "json", "-f", file);
    const plan = JSON.parse(laid.stdout);
    expect(laid.stderr).toBe("flipop: no object of flipop, so it changes nothing: Service ingress/web\n");
    expect(plan.files).toEqual([file]);
    expect(plan.pools[0].addresses.map(({ ip }: { ip: string }) => ip)).toEqual(["203.0.113.10", "203.0.113.11"]);
    expect(JSON.stringify(plan.actions)).toContain("web.example.com");
    writeFileSync(file, manifest("more"));
    const fresh = await flipop(WORLD, "plan", "pool/ingress/more", "-f", file);
    expect(fresh.stdout).toContain("pool/ingress/more: 0 of 2 addresses active");
    expect(fresh.stdout).toContain("It is owned by pool ingress/web, which is older.");
  });

  test.for([
    ["--if node/worker-9=Ready", 78, "There is no node named worker-9. Did you mean worker-1? ('node/worker-9=Ready')"],
    [
      "--if ip/203.0.113.77=Gone",
      78,
      "No object names the address 203.0.113.77, and the account does not show it. Did you mean 203.0.113.10? ('ip/203.0.113.77=Gone')",
    ],
    [
      "--if provider/digitalosean=Down",
      78,
      "No object uses a provider named digitalosean. Did you mean digitalocean? ('provider/digitalosean=Down')",
    ],
    ["--if quota/cloudflare=1", 78, "No object has addresses of a provider named cloudflare. ('quota/cloudflare=1')"],
    [
      "--if pool/ingress/wep.desiredIPs=2",
      78,
      "There is no object pool/ingress/wep ('pool/ingress/wep.desiredIPs=2'). Did you mean pool/ingress/web?",
    ],
    [
      "--if pool/ingress/web.desiredIP=2",
      78,
      "'pool/ingress/web.desiredIP=2' changes nothing: flipop reads no such field of spec, or it is so already.",
    ],
    ["--if node/worker-1", 64, "Unknown edit 'node/worker-1': character 14 should begin = and a value."],
    ["-f /nowhere/web.yaml", 78, "There is no file /nowhere/web.yaml."],
    ["-f /dev/null", 78, "There is no object in /dev/null."],
  ] as const)("%s exits %d and says why", async ([args, code, text]) => {
    expect(await flipop(WORLD, "plan", ...args.split(" "))).toMatchObject({
      stdout: "",
      stderr: `flipop: ${text}\n`,
      exitCode: code,
    });
  });

  test.for([
    ["a: [1\nb: 2\n", ":2:1: "],
    ["just text\n", "it is no object of Kubernetes with a kind and a name."],
    [
      "{apiVersion: flipop.digitalocean.com/v2, kind: FloatingIPPool, metadata: {name: a}}\n",
      "apiVersion is flipop.digitalocean.com/v2; flipop reads flipop.digitalocean.com/v1alpha1.",
    ],
    [
      "{apiVersion: flipop.digitalocean.com/v1alpha1, kind: floatingIPPool, metadata: {name: a}}\n",
      "flipop.digitalocean.com has no kind floatingIPPool. Did you mean FloatingIPPool?",
    ],
    [
      '{apiVersion: flipop.digitalocean.com/v1alpha1, kind: FloatingIPPool, metadata: {name: ".."}}\n',
      'metadata.name wants lower case letters, digits, - and ., not "..".',
    ],
    [
      "{apiVersion: flipop.digitalocean.com/v1alpha1, kind: FloatingIPPool, metadata: {name: a, namespace: A/b}}\n",
      'metadata.namespace wants lower case letters, digits and -, not "A/b".',
    ],
  ] as const)("a file with %j is refused by name", async ([text, why]) => {
    const file = join(root, "bad.yaml");
    writeFileSync(file, text);
    const { stdout, stderr, exitCode } = await flipop(WORLD, "plan", "-f", file);
    expect([stdout, exitCode]).toEqual(["", 78]);
    expect(stderr).toContain(`flipop: ${file}`);
    expect(stderr).toContain(why);
  });
});

describe("a snapshot, in which objects are others", () => {
  const ROUTED = join(root, "routed");
  const HELD = join(root, "routed.yaml");
  const from = async (...args: readonly string[]): Promise<Printed> =>
    await realCommand([...args, "--from", HELD], { identity: "imagined" });

  beforeAll(async () => {
    await flipop(ROUTED, "status");
    const path = join(ROUTED, "routed-ips.yaml");
    writeFileSync(path, uncomment(readFileSync(path, "utf8")));
    expect(await flipop(ROUTED, "reconcile", "--settle", "--timeout", "40s")).toMatchObject({ exitCode: 0 });
    expect(await flipop(ROUTED, "snapshot", HELD)).toMatchObject({ stderr: "", exitCode: 0 });
  }, 60_000);

  const POOL = (name: string, more = ""): string =>
    `{apiVersion: flipop.digitalocean.com/v1alpha1, kind: FloatingIPPool, metadata: {name: ${name}, namespace: ingress}, spec: {provider: digitalocean, region: nyc3, ips: [203.0.113.10, 203.0.113.11], match: {podNamespace: ingress, podLabel: app=web}${more}}}\n`;

  test.for([
    ["routedip/ingress/web=Deleted"],
    ["routedip/ingress/web.suspend=true"],
    ["routedip/ingress/web.ports=[{protocol: udp, port: 5000-5010}]"],
    ["routedip/ingress/web.address=", "node/worker-4=NotReady"],
    ["routedip/ingress/web.issuer=other"],
    ["issuer/ingress/edge.tolerations=[{operator: Exists}]", "node/worker-4=Cordoned"],
    ["issuer/ingress/edge.routedIPFirewallName=", "node/worker-4=Gone"],
    ["issuer/ingress/edge.maxUnavailable=50%", "issuer/ingress/edge.routedIPReclaimPolicy=Delete"],
    ["issuer/ingress/edge=Deleted"],
    ["pool/ingress/web.maxUnavailable=10%", "pool/ingress/web.desiredIPs=1"],
    ["dns/ingress/nodes.dnsRecordSet.ttl=120"],
    ["dns/ingress/nodes.addressType=InternalIP"],
  ] as const)("%s is planned and simulated as it is over the cluster", async (edits) => {
    const args = edits.flatMap((edit) => ["--if", edit]);
    expect(timeless(await from("plan", "-o", "json", ...args))).toEqual(await planOf(ROUTED, ...args));
    const steps = ({ stdout, exitCode }: Printed): object => ({
      exitCode,
      ...JSON.parse(stdout),
      observedAt: "",
      cluster: "",
    });
    const live = await flipop(ROUTED, "simulate", "-o", "json", ...args);
    expect(steps(await from("simulate", "-o", "json", ...args))).toEqual(steps(live));
  });

  test("a file is laid over the objects of the snapshot, and a new one is chosen by name", async () => {
    const file = join(root, "laid.yaml");
    for (const text of [
      POOL("web"),
      POOL("fresh", ", suspend: true"),
      `${POOL("web", ", desiredIPs: 1")}---\n${POOL("more")}`,
      "{apiVersion: flipop.digitalocean.com/v1alpha1, kind: RoutedIP, metadata: {name: second, namespace: ingress}, spec: {issuer: edge, serviceName: web, address: 203.0.113.12}}\n",
    ]) {
      writeFileSync(file, text);
      expect(timeless(await from("plan", "-o", "json", "-f", file))).toEqual(await planOf(ROUTED, "-f", file));
    }
    writeFileSync(file, POOL("more"));
    const { stdout, stderr, exitCode } = await from("plan", "pool/ingress/more", "-f", file);
    expect([stderr, exitCode]).toEqual(["", 3]);
    expect(stdout).toContain("It is owned by pool ingress/web, which is older.");
  });

  test.for([
    [
      "pool/ingress/web.match.podLabel=app=x",
      78,
      'The snapshot holds no pods of "ingress|app=x". Take one with --pods ingress/app=x.',
    ],
    [
      "pool/ingress/web.match.podNamespace=",
      78,
      'The snapshot holds no pods of "|app=web". Take one with --pods /app=web.',
    ],
    [
      "pool/ingress/web.match.nodeLabel=tier in (edge)",
      78,
      "The snapshot does not hold the label tier of nodes. Take one with --node-labels tier.",
    ],
    [
      "issuer/ingress/edge.nodeLabel=pool",
      78,
      "The snapshot does not hold the label pool of nodes. Take one with --node-labels pool.",
    ],
    [
      "routedip/ingress/web.serviceName=db",
      78,
      "The snapshot does not hold Service ingress/db: no routed IP named it when it was taken.",
    ],
    [
      "pool/ingress/wep.desiredIPs=1",
      78,
      "There is no object pool/ingress/wep ('pool/ingress/wep.desiredIPs=1'). Did you mean pool/ingress/web?",
    ],
  ] as const)("%s exits %d, since nobody knows what it would change", async ([edit, exitCode, text]) => {
    for (const command of ["plan", "simulate"])
      expect(await from(command, "--if", edit)).toMatchObject({ stdout: "", stderr: `flipop: ${text}\n`, exitCode });
  });

  test("an address and a name that nobody asked for count as not read", async () => {
    const edits = ["pool/ingress/web.ips=[203.0.113.10, 203.0.113.77]", "pool/ingress/web.dnsRecordSet.recordName=new"];
    const { stdout, exitCode } = await from("plan", ...edits.flatMap((edit) => ["--if", edit]));
    expect(exitCode).toBe(3);
    expect(stdout).toContain("203.0.113.77: left as it is\n      The snapshot does not hold it.");
    expect(stdout).toContain("new.example.com: left as it is\n      The snapshot does not hold it.");
  });
});
