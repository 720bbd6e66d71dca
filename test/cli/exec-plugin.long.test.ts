import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failure, type ScriptedServer, scriptedServer } from "../adapters/kube/scripted-server.ts";
import { CLOUDFLARE_SECRET, PUSH_PASSWORD, SECRET_TOKEN, shownTokens } from "../fake/fake-tokens.ts";
import { FLIPOP } from "../programs/entry.ts";
import { runCommand } from "./cluster-run.ts";

let folder: string;
let server: ScriptedServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flipop-plugin-"));
  mkdirSync(join(folder, "kube"));
  const kubeconfig = `
current-context: x
clusters: [{name: c, cluster: {server: "URL"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, interactiveMode: Never, env: [{name: OUT, value: ${folder}/env}]}}}]
`;
  const login = `#!/bin/sh\nenv > "$OUT"\necho '{"kind":"ExecCredential","status":{"token":"from-the-plugin"}}'\n`;
  server = await scriptedServer([failure(403, "Forbidden", "no")]);
  writeFileSync(join(folder, "kube/config"), kubeconfig.replace("URL", server.url));
  writeFileSync(join(folder, "kube/login"), login, { mode: 0o755 });
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const SECRETS = {
  DIGITALOCEAN_ACCESS_TOKEN: SECRET_TOKEN,
  DIGITALOCEAN_TOKEN_FILE: "/run/do-token",
  CLOUDFLARE_API_TOKEN: CLOUDFLARE_SECRET,
  PUSHGATEWAY_PASSWORD: PUSH_PASSWORD,
  PUSHGATEWAY_TOKEN: `${PUSH_PASSWORD}-2`,
};

test.for([
  ["in the same folder", "kube", "config"],
  ["from its parent", ".", "kube/config"],
  ["by a whole path", "/", "FOLDER/kube/config"],
] as const)(
  "the plugin ./login lies beside its kubeconfig, named %s, and gets no token of a provider",
  async ([, cwd, name]) => {
    const kubeconfig = name.replace("FOLDER", folder);
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...SECRETS, NO_COLOR: "1" };
    const command = `cd '${join(cwd === "/" ? "/" : folder, cwd)}' && exec '${FLIPOP}' status --kubeconfig '${kubeconfig}'`;
    const run = await runCommand(["/bin/sh", "-c", command], env);
    expect(run).toMatchObject({ code: 77, stderr: expect.stringContaining("Cannot list") });
    expect(server.asked[0]?.headers.authorization).toBe("Bearer from-the-plugin");
    const inherited = readFileSync(join(folder, "env"), "utf8");
    expect(shownTokens(inherited)).toEqual([]);
    expect(inherited).not.toMatch(/^(DIGITALOCEAN|CLOUDFLARE|PUSHGATEWAY)_/m);
    expect(inherited).toContain(`HOME=${folder}\n`);
    expect(inherited).toContain("NO_COLOR=1\n");
  },
);

test("a plugin that takes longer than one call about the Lease may, is waited for, and the run goes on", async () => {
  const login = `#!/bin/sh\nsleep 2\necho '{"kind":"ExecCredential","status":{"token":"from-the-plugin"}}'\n`;
  writeFileSync(join(folder, "kube/login"), login, { mode: 0o755 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, NO_COLOR: "1" };
  const kubeconfig = join(folder, "kube/config");
  // One call about the Lease may take 1 s: half of the renew deadline, which is shortened to fit the timeout.
  const run = await runCommand([FLIPOP, "reconcile", "--timeout", "6s", "--kubeconfig", kubeconfig], env);
  expect(run).toMatchObject({ code: 77, stderr: expect.stringContaining("Cannot get leases") });
  expect(server.asked[0]?.headers.authorization).toBe("Bearer from-the-plugin");
});

test("the program of a legacy auth-provider gets no token of a provider either", async () => {
  const login = join(folder, "kube/gcloud");
  const answer = `{"token":"from-gcloud","expiry":"2999-01-01T00:00:00Z"}`;
  writeFileSync(login, `#!/bin/sh\nenv > '${folder}/env'\necho '${answer}'\n`, { mode: 0o755 });
  const provider = `{name: gcp, config: {cmd-path: ${login}, token-key: "{.token}", expiry-key: "{.expiry}"}}`;
  const text = readFileSync(join(folder, "kube/config"), "utf8").replace(
    /user: \{exec: .*/,
    `user: {auth-provider: ${provider}}}]`,
  );
  writeFileSync(join(folder, "kube/config"), text);
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...SECRETS };
  await runCommand([FLIPOP, "status", "--kubeconfig", join(folder, "kube/config")], env);
  expect(server.asked[0]?.headers.authorization).toBe("Bearer from-gcloud");
  expect(shownTokens(readFileSync(join(folder, "env"), "utf8"))).toEqual([]);
});

test("a plugin of that name in the working folder is not run in place of the one on the PATH", async () => {
  const text = readFileSync(join(folder, "kube/config"), "utf8").replace("./login", "login");
  writeFileSync(join(folder, "kube/config"), text);
  const command = `cd '${folder}/kube' && exec '${FLIPOP}' status --kubeconfig config`;
  const path = ["", ".", process.env["PATH"] ?? ""].join(delimiter);
  const run = await runCommand(["/bin/sh", "-c", command], { PATH: path, HOME: folder });
  expect(run).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('Cannot log in with the exec plugin "login" of context "x" of config'),
  });
  expect(server.asked).toEqual([]);
});
