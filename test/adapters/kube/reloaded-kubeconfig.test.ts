import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type KubeConfigInputs, loadConfig } from "../../../src/adapters/kube/config.ts";
import { Credentials } from "../../../src/adapters/kube/credentials.ts";
import { FakeClock } from "../../fake/fake-clock.ts";

const folder = mkdtempSync(join(tmpdir(), "flipop-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SERVER = "https://a.example";

function kubeconfig(token: string, server = SERVER): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: { token } }],
  });
}

/** What a process sends that was started with one kubeconfig, eleven seconds after there was another. */
async function sentAfter(replace: (file: string) => void): Promise<readonly unknown[]> {
  const file = join(folder, "config");
  writeFileSync(file, kubeconfig("first"));
  const inputs: KubeConfigInputs = { kubeconfig: file, home: "", inCluster: {}, environment: {} };
  const clock = new FakeClock();
  const credentials = new Credentials(await loadConfig(inputs), clock, () => loadConfig(inputs));
  const sent = async (): Promise<unknown> => (await credentials.current()).headers["Authorization"];
  const before = await sent();
  replace(file);
  const soon = await sent();
  await clock.advance(11_000);
  return [before, soon, await sent()];
}

test("a token that is replaced in the kubeconfig is used within ten seconds", async () => {
  const sent = await sentAfter((file) => writeFileSync(file, kubeconfig("second")));
  expect(sent).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
});

test.for<[string, (file: string) => void]>([
  ["is gone", (file) => rmSync(file)],
  ["is half written", (file) => writeFileSync(file, kubeconfig("second").slice(0, 40))],
  ["names another server", (file) => writeFileSync(file, kubeconfig("second", "https://b.example"))],
])("a kubeconfig that %s while a process runs changes nothing for it", async ([, replace]) => {
  expect(await sentAfter(replace)).toEqual(["Bearer first", "Bearer first", "Bearer first"]);
});

test("a refused token is read again in the kubeconfig at once", async () => {
  const file = join(folder, "config");
  writeFileSync(file, kubeconfig("first"));
  const inputs: KubeConfigInputs = { kubeconfig: file, home: "", inCluster: {}, environment: {} };
  const credentials = new Credentials(await loadConfig(inputs), new FakeClock(), () => loadConfig(inputs));
  const refused = await credentials.current();
  expect(await credentials.renewed(refused)).toBeUndefined();
  writeFileSync(file, kubeconfig("second"));
  const again = new Credentials(await loadConfig(inputs), new FakeClock(), () => loadConfig(inputs));
  const known = await again.current();
  writeFileSync(file, kubeconfig("third"));
  expect((await again.renewed(known))?.headers["Authorization"]).toBe("Bearer third");
});
