import { describe, expect, test } from "vitest";
import { dnsWebhooksOf } from "../../src/cli/dns-webhooks.ts";
import { invoke } from "./invoke.ts";

describe("--dns-webhook", () => {
  test("names webhooks, with or without a name; those elsewhere with a token", () => {
    expect(
      dnsWebhooksOf({
        dnsWebhook: [
          "http://127.0.0.1:8888",
          "webhook-route53=http://localhost:8889/prefix",
          "webhook-far=https://dns.example.com",
          "webhook-v6=http://[::1]:8890",
        ],
        dnsTokenFile: ["webhook-far=/run/token=1"],
      }),
    ).toEqual([
      { name: "webhook", url: "http://127.0.0.1:8888" },
      { name: "webhook-route53", url: "http://localhost:8889/prefix" },
      { name: "webhook-far", url: "https://dns.example.com", tokenFile: "/run/token=1" },
      { name: "webhook-v6", url: "http://[::1]:8890" },
    ]);
    expect(dnsWebhooksOf({ dnsWebhook: [], dnsTokenFile: [] })).toEqual([]);
  });

  test.for<[flags: readonly string[], said: string]>([
    [
      ["--dns-webhook", "route53=http://127.0.0.1:8888"],
      "has no name of a webhook. Write it like webhook, or webhook-route53.",
    ],
    [["--dns-webhook", "digitalocean=http://127.0.0.1:8888"], "has no name of a webhook."],
    [["--dns-webhook", "=http://127.0.0.1:8888"], "has no name of a webhook."],
    [["--dns-webhook", "webhook="], "says nothing behind the name."],
    [
      ["--dns-webhook", "127.0.0.1:8888"],
      "--dns-webhook '127.0.0.1:8888' is no URL. Write it like webhook=http://127.0.0.1:8888.",
    ],
    [["--dns-webhook", "webhook=ftp://127.0.0.1"], "is no URL."],
    [["--dns-webhook", "webhook=http://dns.example.com"], "leads to another machine in plain text."],
    [["--dns-webhook", "webhook=http://0.0.0.0:8888"], "leads to another machine in plain text."],
    [["--dns-webhook", "webhook=https://dns.example.com"], "Name the file with its token: --dns-token-file NAME=FILE."],
    [["--dns-webhook", "webhook=http://me:pass@127.0.0.1:8888"], "must have no user, password, query or fragment."],
    [["--dns-webhook", "webhook=http://127.0.0.1:8888/?key=pass@"], "must have no user, password, query or fragment."],
    [
      ["--dns-webhook", "http://127.0.0.1:1", "--dns-webhook", "webhook=http://127.0.0.1:2"],
      "names webhook for the second time.",
    ],
    [["--dns-token-file", "webhook-far=/run/token"], "is of no webhook. Name it with --dns-webhook, too."],
  ])("%j is a mistake of the command line", async ([flags, said]) => {
    const { exitCode, stderr } = await invoke(["plan", ...flags]);
    expect(exitCode).toBe(64);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("pass@");
  });

  test("may come from the environment, several with commas", async () => {
    const env = { FLIPOP_DNS_WEBHOOK: "http://127.0.0.1:1,webhook=http://127.0.0.1:2" };
    const { exitCode, stderr } = await invoke(["plan"], { env });
    expect([exitCode, stderr]).toEqual([64, expect.stringContaining("names webhook for the second time.")]);
  });
});
