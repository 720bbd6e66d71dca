// What other people's programs do with a served sandbox: kubectl, doctl and curl.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProgramRun, runCommand, runProgram } from "../cli/cluster-run.ts";
import { toolOrSkip } from "../cluster/assets.ts";
import { debianProgram } from "./debian-program.ts";
import { allWritten, type ServedSandbox, serveSandbox } from "./served-sandbox.ts";

const [kubectl, doctl, curl] = [
  await toolOrSkip("kubectl"),
  await toolOrSkip("doctl"),
  await debianProgram("curl", "curl"),
];

const home = mkdtempSync(join(tmpdir(), "flipop-clients-"));
const world = join(home, "world");
let sandbox: ServedSandbox;
beforeAll(async () => {
  sandbox = await serveSandbox(world, { env: { HOME: home } });
});
afterAll(async () => {
  await sandbox.end();
  rmSync(home, { recursive: true });
});

/** A file of the world, with all that was answered. */
async function fileOf(name: string): Promise<string> {
  await allWritten(world);
  return readFileSync(join(world, name), "utf8");
}

/** Runs a command whose words are parted by blanks. */
async function run(program: string | undefined, line: string, ...last: readonly string[]): Promise<ProgramRun> {
  return await runCommand([program ?? "", ...line.split(" "), ...last], { ...sandbox.env, HOME: home });
}

describe.skipIf(kubectl === undefined)("kubectl", () => {
  test.for<[command: string, says: string]>([
    ["logs web-2 -n ingress", "(NotImplemented): the sandbox runs no containers: pod web-2 has no log"],
    ["exec web-2 -n ingress -- ls", "(NotImplemented): the sandbox runs no containers: pod web-2 has no exec"],
    ["port-forward web-2 -n ingress 8080:80", "the sandbox runs no containers: pod web-2 has no portforward"],
    ["attach web-2 -n ingress", "(NotImplemented): the sandbox runs no containers: pod web-2 has no attach"],
    ["create secret generic s --from-literal=a=b", "the sandbox has no secrets in v1"],
    ["create token default", "the sandbox has no serviceaccounts/token in v1"],
    [
      "create role r --verb=get --resource=pods",
      "(NotFound): the sandbox has no roles in rbac.authorization.k8s.io/v1",
    ],
    ["create job j --image=x", "the sandbox has no jobs in batch/v1"],
    ["debug node/worker-3 --image=x", "(UnsupportedMediaType): the sandbox does not read a Pod in protobuf"],
    ["scale deployment web --replicas=2", 'deployments.apps "web" not found'],
    ["get secrets", `the server doesn't have a resource type "secrets"`],
  ])("is told what the sandbox does not do: %s", async ([command, says]) => {
    const { code, stderr } = await run(kubectl, command);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  });

  test("finds built-in kinds without a description", async () => {
    const { code, stdout } = await run(kubectl, "explain node.spec");
    expect([code, stdout]).toEqual([0, expect.stringContaining("The sandbox does not describe the built-in kinds.")]);
  });

  test("sees what a person edits by hand while it watches, and an apply meets it as a conflict", async () => {
    const file = join(home, "issuer.yaml");
    writeFileSync(
      file,
      `{apiVersion: flipop.digitalocean.com/v1alpha1, kind: RoutedIPIssuer, metadata: {name: own, namespace: ingress}, spec: {provider: digitalocean, region: nyc3}}`,
    );
    const apply = "apply --server-side -f";
    expect(await run(kubectl, apply, file)).toMatchObject({ code: 0, stderr: "" });
    const watching = spawn(kubectl ?? "", ["get", "ripissuer", "-n", "ingress", "-w", "--no-headers"], {
      env: { ...sandbox.env, HOME: home },
    });
    let seen = "";
    watching.stdout.setEncoding("utf8").on("data", (text: string) => (seen += text));
    await expect.poll(() => seen).toMatch(/^own +digitalocean +nyc3/m);
    const issuers = join(world, "issuers.yaml");
    const text = await fileOf("issuers.yaml");
    const at = text.indexOf("region:", text.indexOf("name: own"));
    writeFileSync(issuers, `${text.slice(0, at)}${text.slice(at).replace("nyc3", "ams3")}`);
    await expect.poll(() => seen).toMatch(/^own +digitalocean +ams3/m);
    watching.kill();
    const refused = await run(kubectl, apply, file);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        'Apply failed with 1 conflict: conflict with "by-hand" using flipop.digitalocean.com/v1alpha1: .spec.region',
      ),
    ]);
    expect(await run(kubectl, `${apply} ${file} --force-conflicts`)).toMatchObject({ code: 0 });
    expect(await fileOf("issuers.yaml")).not.toContain("ams3");
  });

  test("a pod that it deletes or evicts ends where its node is ready, and stays where it is not", async () => {
    expect(await run(kubectl, "delete pod web-4 -n ingress --timeout=20s")).toMatchObject({ code: 0 });
    const drained = await run(kubectl, "drain worker-5 --force --timeout=20s");
    expect(drained).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("pod/web-5 evicted\nnode/worker-5 drained\n"),
    });
    expect(await run(kubectl, "delete pod web-7 -n ingress --wait=false")).toMatchObject({ code: 0 });
    const { stdout } = await run(kubectl, "get pods -n ingress --no-headers");
    const pods = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/ +\d+s$/, "").replaceAll(/ +/g, " "));
    expect(pods).toContain("web-7 0/1 Terminating 0");
    expect(pods.some((pod) => /^web-[45] /.test(pod))).toBe(false);
  });

  test("who owns a field is known after a restart", async () => {
    const other = join(home, "restarted");
    const first = await serveSandbox(other);
    const label = ["label", "svc", "web", "-n", "ingress"];
    const file = join(home, "service.yaml");
    writeFileSync(
      file,
      "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}], type: NodePort}}",
    );
    const env = { ...first.env, HOME: home };
    expect(await runCommand([kubectl ?? "", ...label, "a=b"], env)).toMatchObject({ code: 0 });
    expect(await runCommand([kubectl ?? "", "apply", "--server-side", "-f", file], env)).toMatchObject({ code: 0 });
    await first.end();
    const second = await serveSandbox(other);
    writeFileSync(file, readFileSync(file, "utf8").replace("NodePort", "ClusterIP"));
    const refused = await runCommand([kubectl ?? "", "apply", "--server-side", "--field-manager=x", "-f", file], {
      ...second.env,
      HOME: home,
    });
    await second.end();
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.type');
  });
});

describe.skipIf(doctl === undefined)("doctl", () => {
  const ask = (line: string): Promise<ProgramRun> => run(doctl, `-u ${sandbox.env["DIGITALOCEAN_API_URL"]} ${line}`);

  test.for<[command: string, rows: readonly RegExp[]]>([
    ["compute reserved-ip list", [/^203\.0\.113\.10 +nyc3 +1001 +worker-1 /m, /^203\.0\.113\.11 +nyc3 /m]],
    ["compute domain list", [/^example\.com +1800$/m]],
    ["compute domain records list example.com", [/^\d+ +A +www +203\.0\.113\.10 +0 +0 +60 +0$/m, /^\d+ +NS +@ /m]],
    ["compute droplet list", [/^1001 +worker-1 +203\.0\.113\.10 +10\.0\.0\.1 .*Ubuntu 24\.04/m]],
    ["compute firewall list", [/^[\da-f-]{36} +web +succeeded /m]],
    ["account get", [/^sandbox@example\.com /m]],
    ["account ratelimit", [/^5000 +\d+ /m]],
  ])("reads the account: %s", async ([command, rows]) => {
    const { code, stdout, stderr } = await ask(command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const row of rows) expect(stdout).toMatch(row);
  });

  test("buys an address, publishes it and gives it back, and is refused as by DigitalOcean", async () => {
    const bought = await ask("compute reserved-ip create --region nyc3 --format IP --no-header");
    const ip = bought.stdout.trim();
    expect(bought.code).toBe(0);
    expect(await fileOf("digitalocean.yaml")).toContain(ip);
    const record = `--record-type A --record-name own --record-data ${ip} --record-ttl 60`;
    expect(await ask(`compute domain records create example.com ${record}`)).toMatchObject({ code: 0 });
    const taken = await ask(`compute reserved-ip-action assign ${ip} 1004`);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("Droplet already has a reserved IP.")]);
    expect(await ask(`compute reserved-ip delete ${ip} --force`)).toMatchObject({ code: 0 });
    expect((await ask("compute reserved-ip list")).stdout).not.toContain(ip);
  });
});

describe.skipIf(curl === undefined)("curl", () => {
  test("reads each API, and is told which paths there are none", async () => {
    const { DIGITALOCEAN_API_URL, CLOUDFLARE_API_URL, KUBECONFIG = "" } = sandbox.env;
    const [, server] = /server: (\S+)/.exec(readFileSync(KUBECONFIG, "utf8")) ?? [];
    const ask = async (url: string): Promise<string> => {
      const token = "authorization: Bearer sandbox";
      return (await runCommand([curl ?? "", "-s", "-w", " %{http_code}", "-H", token, url], { HOME: home })).stdout;
    };
    expect(await ask(`${DIGITALOCEAN_API_URL}/v2/reserved_ips/203.0.113.11`)).toMatch(/^\{"reserved_ip":.* 200$/);
    expect(await ask(`${CLOUDFLARE_API_URL}/zones?name=example.net`)).toMatch(/^\{"success":true,.* 200$/);
    expect(await ask(`${server}/api/v1/nodes/worker-1`)).toMatch(/^\{"apiVersion":"v1","kind":"Node".* 200$/);
    expect(await ask(`${server}/readyz`)).toBe("ok 200");
    expect(await ask(`${server}/nonsense`)).toBe("404 page not found\n 404");
  });

  test("writes YAML as well as JSON", async () => {
    const [, server] = /server: (\S+)/.exec(readFileSync(sandbox.env["KUBECONFIG"] ?? "", "utf8")) ?? [];
    const send = async (type: string, body: string): Promise<string> => {
      const args = [
        "-s",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        "-H",
        `content-type: ${type}`,
        "--data-binary",
        body,
      ];
      return (await runCommand([curl ?? "", ...args, `${server}/api/v1/namespaces`], { HOME: home })).stdout;
    };
    const named = (name: string): string => JSON.stringify({ metadata: { name } });
    expect(await send("application/json", named("from-json"))).toBe("201");
    expect(await send("application/yaml", "metadata:\n  name: from-yaml\n")).toBe("201");
    expect(await send("application/yaml", "metadata: {name")).toBe("400");
    expect(await send("application/json", "metadata:")).toBe("400");
    expect(await send("text/csv", named("from-csv"))).toBe("415");
    const { stdout } = await runProgram(["status", "-o", "json"], { ...sandbox.env });
    expect(JSON.parse(stdout).kind).toBe("Status");
  });
});
