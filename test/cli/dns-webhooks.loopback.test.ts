import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { startSandbox } from "../../src/sandbox/start.ts";
import { type Printed, realCommand } from "./real-command.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-webhook-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs a command line on the embedded world of a folder. */
async function flipop(world: string, ...args: readonly string[]): Promise<Printed> {
  return await realCommand([`--sandbox=${join(dir, world)}`, ...args], { identity: "webhooks" });
}

/** A file with the record set of the example world, at this provider. */
function recordSetAt(provider: string, zone = "example.org"): string {
  const path = join(dir, `${provider} ${zone}.json`);
  const dnsRecordSet = { zone, recordName: "nodes", ttl: 60 };
  const match = { podNamespace: "ingress", podLabel: "app=web" };
  const object = {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "NodeDNSRecordSet",
    metadata: { name: "nodes", namespace: "ingress" },
    spec: { provider, addressType: "ExternalIP", dnsRecordSet, match },
  };
  writeFileSync(path, JSON.stringify(object));
  return path;
}

/** Puts the record set of a world at this provider, and runs. */
async function published(world: string, provider: string): Promise<Printed> {
  const path = join(dir, world, "dns.yaml");
  await flipop(world, "status");
  writeFileSync(path, readFileSync(recordSetAt(provider), "utf8"));
  return await flipop(world, "reconcile");
}

/** The targets that the webhook of a world has for a name. */
function targetsOf(world: string, fqdn: string): readonly string[] {
  const { records } = parse(readFileSync(join(dir, world, "webhook.yaml"), "utf8"));
  const found = records.find(({ dnsName }: { readonly dnsName: string }) => dnsName === fqdn);
  return found?.targets ?? [];
}

test("a name at a webhook is planned, written, verified, and left alone then", async () => {
  const planned = await flipop("written", "plan", "-f", recordSetAt("webhook"));
  expect(planned.stdout).toContain("update DNS nodes.example.org at webhook");
  const { exitCode, stderr } = await published("written", "webhook");
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(targetsOf("written", "nodes.example.org")).toHaveLength(5);
  expect(targetsOf("written", "example.org")).toEqual(["198.51.100.8"]);
  const { stdout } = await flipop("written", "plan", "--detailed-exitcode", "dns/ingress/nodes");
  expect(stdout).toContain("Nothing to do: 1 record set as desired.");
  const live = await flipop("written", "status", "--live", "dns/ingress/nodes");
  expect(live.stdout).toMatch(/nodes\.example\.org at webhook/);
});

test("a change by hand is put right", async () => {
  await published("drift", "webhook");
  const file = join(dir, "drift", "webhook.yaml");
  const all = targetsOf("drift", "nodes.example.org");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(all[0] ?? "", "198.51.100.250"));
  await flipop("drift", "reconcile");
  expect(targetsOf("drift", "nodes.example.org")).toEqual(all);
});

test("a name at a webhook that nobody has set up waits for a person, who is told what to set", async () => {
  const { stdout } = await flipop("unset", "plan", "-f", recordSetAt("webhook-route53"));
  expect(stdout).toContain('Provider "webhook-route53" cannot be used: set --dns-webhook or FLIPOP_DNS_WEBHOOK.');
  await published("unset", "webhook-route53");
  const doctor = await flipop("unset", "doctor");
  expect(doctor.stdout).toMatch(/webhook-route53/);
  expect(doctor.stdout).toMatch(/--dns-webhook/);
});

test("a zone that the webhook does not look after waits for a person, who is told which one it does", async () => {
  const { stdout } = await flipop("zone", "plan", "-f", recordSetAt("webhook", "exmaple.org"));
  expect(stdout).toContain("it shows example.org");
});

test("a wrong letter in the provider is an unknown provider; any name of a webhook is known", async () => {
  const wrong = await realCommand(["validate", recordSetAt("webhok")], { identity: "webhooks" });
  expect(wrong.stdout).toContain('unknown provider "webhok"');
  const right = await realCommand(["validate", recordSetAt("webhook-route53")], { identity: "webhooks" });
  expect([right.exitCode, right.stderr]).toEqual([0, ""]);
});

test("a webhook with a token file gets the token, and a wrong one is told without showing it", async () => {
  const world = join(dir, "token");
  const sandbox = await startSandbox({ dir: world });
  try {
    const file = join(world, "webhook.yaml");
    const text = readFileSync(file, "utf8").replace('token: ""', "token: right-and-secret");
    writeFileSync(file, text);
    expect(text).toContain("right-and-secret");
    const run = (token: string): Promise<Printed> => {
      const tokenFile = join(dir, "token.txt");
      writeFileSync(tokenFile, `${token}\n`);
      const flags = ["--dns-webhook", `webhook=${sandbox.webhookURL}`, "--dns-token-file", `webhook=${tokenFile}`];
      const env = { KUBECONFIG: sandbox.kubeconfig };
      return realCommand(["plan", "-f", recordSetAt("webhook"), ...flags], { env, identity: "webhooks" });
    };
    expect((await run("right-and-secret")).stdout).toContain("update DNS nodes.example.org at webhook");
    const { stdout } = await run("wrong-and-secret");
    expect(stdout).toContain("The DNS webhook did not accept the token");
    expect(stdout).not.toContain("and-secret");
    expect((await run("")).stdout).toMatch(
      /Provider "webhook" cannot be used: the token file \S+token\.txt that --dns-token-file webhook names is empty\.\n/,
    );
  } finally {
    await sandbox.close();
  }
});

test("an anonymized snapshot hides what webhooks are called, and they stay webhooks", async () => {
  await published("snapshot", "webhook-acme");
  const file = join(dir, "taken.yaml");
  const { exitCode } = await flipop("snapshot", "snapshot", "--anonymize", file);
  // What nobody has set up is not read.
  expect(exitCode).toBe(3);
  const text = readFileSync(file, "utf8");
  expect(text).not.toMatch(/example\.org|acme/);
  const { stdout } = await realCommand(["plan", "--from", file], { identity: "webhooks" });
  expect(stdout).toMatch(/provider "webhook-n\d+" cannot be used/i);
});
