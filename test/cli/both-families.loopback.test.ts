import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-families-"));
const dir = join(root, "world");
afterAll(() => rmSync(root, { recursive: true }));

const flipop = (...argv: readonly string[]): Promise<Printed> =>
  realCommand(["--sandbox", dir, ...argv], { identity: "families" });

function edit(file: string, pattern: RegExp, by: string): void {
  const path = join(dir, file);
  writeFileSync(path, readFileSync(path, "utf8").replace(pattern, by));
}

const AAAA = "nodes.example.net AAAA";
const SIX = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::5"];

beforeAll(async () => {
  await flipop("plan");
  edit(
    "nodes.yaml",
    /^( *)- \{ type: ExternalIP, address: 192\.0\.2\.([1235]) \}$/gm,
    '$&\n$1- { type: ExternalIP, address: "2001:DB8:0::$2" }',
  );
  edit("dns.yaml", /^ {2}addressType:.*$/m, "$&\n  ipFamilies: [IPv4, IPv6]");
});

test("both families of a record set are planned, published, shown, looked up and repaired", async () => {
  const plan = await flipop("plan");
  expect(plan.stdout).toContain(`+ update DNS ${AAAA} at cloudflare\n      + ${SIX.join(", ")}\n`);
  const planned = JSON.parse((await flipop("plan", "-o", "json")).stdout);
  expect(schemaErrors(planned, "Plan")).toEqual([]);
  expect(planned.recordSets[0].ipv6).toEqual({ name: AAAA, published: [] });
  expect((await flipop("reconcile")).exitCode).toBe(0);
  expect((await flipop("plan", "--detailed-exitcode")).exitCode).toBe(0);
  const status = await flipop("status");
  expect(status.stdout).toMatch(/ingress\/nodes +True +nodes\.example\.net AAAA +cloudflare +active +2001:db8::1, /);
  const shown = JSON.parse((await flipop("status", "-o", "json")).stdout);
  expect(schemaErrors(shown, "Status")).toEqual([]);
  expect(shown.recordSets[0].ipv6).toMatchObject({
    dns: { name: AAAA, isPublished: true, addresses: SIX },
    formerDNS: [],
  });
  const live = JSON.parse((await flipop("status", "--live", "-o", "json")).stdout);
  expect(schemaErrors(live, "Status")).toEqual([]);
  const [answered] = live.live.objects.filter(({ name }: { name: { name: string } }) => name.name === AAAA);
  expect(answered.name.answered.map(({ addresses }: { addresses: unknown }) => addresses)).toEqual([SIX]);
  expect(live.live.differences).toEqual([]);
  expect((await flipop("explain", "nodes.example.net")).stdout).toContain(
    `${AAAA} shows ${SIX.join(", ")}: as desired.`,
  );
  expect((await flipop("history", "dns/ingress/nodes")).stdout).toContain(`updated DNS ${AAAA} at cloudflare`);
  const doctor = await flipop("doctor", "--names");
  expect(doctor.stdout).not.toContain("2001:db8");
  // Somebody changes an AAAA record: only that one is repaired.
  edit("cloudflare.yaml", /2001:db8::2/, "2001:db8::77");
  const repair = await flipop("plan");
  expect(repair.stdout).toContain(`~ update DNS ${AAAA} at cloudflare\n`);
  expect(repair.stdout).not.toContain("update DNS nodes.example.net at");
  expect((await flipop("reconcile")).exitCode).toBe(0);
  expect(readFileSync(join(dir, "cloudflare.yaml"), "utf8")).not.toContain("2001:db8::77");
});

test("validate names what is wrong with families", async () => {
  const file = join(root, "wrong.yaml");
  const manifest = {
    apiVersion: "flipop.digitalocean.com/v1alpha1",
    kind: "NodeDNSRecordSet",
    metadata: { name: "nodes", namespace: "ingress" },
    spec: { ipFamilies: ["IPv4", "IPv5"], dnsRecordSet: { zone: "example.com", recordName: "www" } },
  };
  writeFileSync(file, JSON.stringify(manifest));
  const { stdout, exitCode } = await flipop("validate", file);
  expect(exitCode).toBe(6);
  expect(stdout).toContain('FLP202   spec.ipFamilies: ipFamilies "IPv5" must be IPv4 or IPv6');
});
