import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { FaultList } from "../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { envOf, run } from "../doctor/world.ts";
import { schemaErrors } from "../report/schemas.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-validate-cluster-"));
const calls: RecordedCall[] = [];
let sandbox: Sandbox;
let faults: FaultList;
let count = 0;

beforeEach(async () => {
  calls.length = 0;
  faults = new FaultList();
  const onCall = (call: RecordedCall): void => void calls.push(call);
  sandbox = await startSandbox({ dir: join(root, `world-${count++}`), onCall, faults });
});

afterEach(() => sandbox.close());
afterAll(() => rmSync(root, { recursive: true }));

const GROUP = "apiVersion: flipop.digitalocean.com/v1alpha1\n";

/** A manifest: its kind and name, and the lines of its spec, which begin in line 5. */
function manifest(kind: string, name: string, ...spec: readonly string[]): string {
  const lines = spec.map((line) => `  ${line}\n`).join("");
  return `${GROUP}kind: ${kind}\nmetadata: { name: ${name}, namespace: ingress }\nspec:\n${lines}`;
}

const MATCH = "match: { podNamespace: ingress, podLabel: app=web }";
const pool = (name: string, ...spec: readonly string[]): string =>
  manifest("FloatingIPPool", name, "provider: digitalocean", ...spec);
const web = (...spec: readonly string[]): string =>
  pool("web", "ips: [203.0.113.10, 203.0.113.11, 203.0.113.12]", ...spec);
const recordSet = (zone: string, recordName: string): string =>
  manifest(
    "NodeDNSRecordSet",
    "more",
    "provider: digitalocean",
    MATCH,
    "dnsRecordSet:",
    `  zone: ${zone}`,
    `  recordName: ${recordName}`,
  );
const routedIP = (issuer: string, service: string): string =>
  manifest("RoutedIP", "vip", `issuer: ${issuer}`, `serviceName: ${service}`, "address: 203.0.113.99");

/** Each finding of a text as `LINE:COLUMN CODE PATH: MESSAGE`, besides warnings. */
async function found(text: string, ...args: readonly string[]): Promise<readonly string[]> {
  const file = join(root, "it.yaml");
  writeFileSync(file, text);
  const { stdout, stderr, exitCode } = await run(
    ["validate", "--cluster", "-o", "json", ...args, file],
    envOf(sandbox),
  );
  expect(stderr).toBe("");
  const { findings, ...document } = JSON.parse(stdout);
  expect(schemaErrors({ ...document, findings }, "Findings")).toEqual([]);
  const errors = findings.filter(({ severity }: { severity: string }) => severity === "error");
  expect(exitCode).toBe(errors.length === 0 ? 0 : 6);
  return errors.map(
    (one: { line: number; column: number; code: string; path: string; message: string }) =>
      `${one.line}:${one.column} ${one.code} ${one.path}: ${one.message}`,
  );
}

test.for([
  [
    "an address of another object",
    pool("more", "ips:", "  - 203.0.113.12", MATCH),
    /^7:7 FLP240 spec\.ips\[0\]: Conflict: .*ingress\/web/,
  ],
  ["an address that does not exist", web(MATCH).replace(".12]", ".77]"), /^6:37 FLP240 spec\.ips\[2\]: IPNotFound: /],
  [
    "a name of another object",
    recordSet("example.com", "www"),
    /^9:17 FLP240 spec\.dnsRecordSet\.recordName: Conflict: It is owned by pool ingress\/web, which is older\./,
  ],
  [
    "a zone that the account lacks",
    recordSet("example.org", "www"),
    /^8:11 FLP240 spec\.dnsRecordSet\.zone: ZoneNotFound: .*example\.org/,
  ],
  [
    "more addresses than the account may have",
    web("region: nyc3", MATCH, "desiredIPs: 9"),
    /^9:15 FLP240 spec\.desiredIPs: QuotaExceeded: /,
  ],
  ["a Service that is not there", routedIP("edge", "nobody"), /^6:16 FLP240 spec\.serviceName: InvalidSpec: .*nobody/],
  ["an issuer that is nowhere", routedIP("nobody", "web"), /^5:11 FLP240 spec\.issuer: InvalidSpec: .*nobody/],
  [
    "a label that no pod has",
    web("match:", "  podNamespace: ingress", "  podLabel: app=wbe"),
    /^9:15 FLP240 spec\.match\.podLabel: EmptyTarget: podLabel app=wbe selects no pod/,
  ],
  [
    "a label that no node has",
    web("match:", "  nodeLabel: tier=edge"),
    /^8:16 FLP240 spec\.match\.nodeLabel: EmptyTarget: nodeLabel tier=edge selects no node/,
  ],
] as const)("%s is found at its field", async ([, text, told]) => {
  expect(await found(text)).toEqual([expect.stringMatching(told)]);
  expect(await found(text, "--suppress", "FLP240")).toEqual([]);
});

test("what is as the cluster has it, or good in it, is fine; an issuer may be in the cluster", async () => {
  expect(await found(web(MATCH, "dnsRecordSet: { zone: example.com, recordName: www }"))).toEqual([]);
  expect(await found(routedIP("edge", "web"))).toEqual([]);
  expect(await found(recordSet("example.com", "more"))).toEqual([]);
});

test("what is wrong without a cluster is said once", async () => {
  expect(await found(web("match: { podLabel: 'app in (' }"))).toEqual([expect.stringMatching(/^7:\d+ FLP213 /)]);
  const twice = `${pool("a", "ips: [203.0.113.12]", MATCH)}---\n${pool("b", "ips: [203.0.113.12]", MATCH)}`;
  expect(
    (await found(twice)).map((line) =>
      line
        .replace(/:[^:]*$/, "")
        .split(":", 2)
        .join(":"),
    ),
  ).toEqual(["6:9 FLP240 spec.ips[0]", "14:9 FLP216 spec.ips[0]"]);
});

test("nothing is written: all that is sent are GETs and dry runs", async () => {
  const files = ["pools.yaml", "dns.yaml", "routed-ips.yaml"].map((name) => join(sandbox.dir, name));
  const texts = (): readonly string[] => files.map((file) => readFileSync(file, "utf8"));
  const before = texts();
  await found(
    `${web(MATCH, "desiredIPs: 9", "region: nyc3")}---\n${recordSet("example.com", "more")}---\n${routedIP("edge", "web")}`,
  );
  const writes = calls.filter(({ method }) => method !== "GET");
  expect(writes.map(({ method, path }) => `${method} ${path.split("/").slice(6).join("/")}`)).toEqual([
    "POST floatingippools",
    "PATCH floatingippools/web",
    "POST nodednsrecordsets",
    "POST routedips",
  ]);
  for (const { query, server } of writes) {
    expect(server).toBe("kubernetes");
    expect(new URLSearchParams(query).getAll("dryRun")).toEqual(["All"]);
  }
  expect(texts()).toEqual(before);
});

const status = (code: number, reason: string, message: string): object => ({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason,
  message,
  code,
});

test.for([
  [
    'FloatingIPPool.flipop.digitalocean.com "web" is invalid: spec.ips[1]: Invalid value: "x": no',
    "6:23 FLP241 spec.ips[1]",
  ],
  [
    'FloatingIPPool in version "v1alpha1" cannot be handled: strict decoding error: unknown field "spec.match"',
    "7:10 FLP241 spec.match",
  ],
  ["a policy of this cluster forbids it", "1:1 FLP241 "],
] as const)("a refusal is told where it names a field: %s", async ([message, place]) => {
  faults.add({ server: "kubernetes", method: "POST", times: 0, status: 422, body: status(422, "Invalid", message) });
  expect(await found(web(MATCH))).toEqual([`${place}: ${message} (422)`]);
});

test("who may not create objects is told that nobody knows, and the rest is found", async () => {
  const why = 'floatingippools is forbidden: User "ana" cannot create resource "floatingippools"';
  faults.add({ server: "kubernetes", method: "POST", times: 0, status: 403, body: status(403, "Forbidden", why) });
  const file = join(root, "it.yaml");
  writeFileSync(
    file,
    `${web("match: { podNamespace: ingress, podLabel: app=wbe }")}---\n${recordSet("example.com", "more")}`,
  );
  const { stdout, stderr, exitCode } = await run(["validate", "--cluster", file], envOf(sandbox));
  expect(stdout.match(/FLP\d+/g)).toEqual(["FLP240"]);
  expect(stderr).toMatch(
    /^flipop: whether the API server would take 2 objects is not known: Cannot create floatingippools/,
  );
  expect(exitCode).toBe(6);
});

test("without a cluster --cluster fails, and nothing else does", async () => {
  const file = join(root, "it.yaml");
  writeFileSync(file, web(MATCH));
  const env = { KUBECONFIG: "/nonexistent/kubeconfig" };
  expect((await run(["validate", file], env)).exitCode).toBe(0);
  const { exitCode, stdout, stderr } = await run(["validate", "--cluster", file], env);
  expect({ exitCode, stdout }).toEqual({ exitCode: 78, stdout: "" });
  expect(stderr).toContain("/nonexistent/kubeconfig");
  await sandbox.close();
  expect((await run(["validate", "--cluster", file], envOf(sandbox))).exitCode).not.toBe(0);
});
