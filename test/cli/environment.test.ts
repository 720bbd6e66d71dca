import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { resolveEnvironment, resolvePushgateway, type TokenSource, withoutSecrets } from "../../src/cli/environment.ts";
import { readToken } from "../../src/cli/providers.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-token-"));
afterAll(() => rmSync(dir, { recursive: true }));

function sourceOf(env: Readonly<Record<string, string>>, provider = "digitalocean"): TokenSource {
  return resolveEnvironment(env).providers[provider]?.token ?? { kind: "none", variables: [] };
}

function tokenOf(env: Readonly<Record<string, string>>): string | undefined {
  return readToken(sourceOf(env));
}

describe("the token", () => {
  test.for([
    ["DIGITALOCEAN_ACCESS_TOKEN", { DIGITALOCEAN_ACCESS_TOKEN: "a" }, "a"],
    ["its alias", { DIGITALOCEAN_TOKEN: "b" }, "b"],
    ["the first of two", { DIGITALOCEAN_ACCESS_TOKEN: "a", DIGITALOCEAN_TOKEN: "b" }, "a"],
    ["the alias when the first is empty", { DIGITALOCEAN_ACCESS_TOKEN: "", DIGITALOCEAN_TOKEN: "b" }, "b"],
    ["nothing when all are empty", { DIGITALOCEAN_ACCESS_TOKEN: "" }, undefined],
  ] as const)("comes from %s", ([, env, token]) => {
    expect(tokenOf(env)).toBe(token);
  });

  test.for([
    ["CLOUDFLARE_TOKEN", { CLOUDFLARE_TOKEN: "a", CLOUDFLARE_API_TOKEN: "b" }, "a"],
    ["its alias", { CLOUDFLARE_API_TOKEN: "b" }, "b"],
    ["nothing that is DigitalOcean's", { DIGITALOCEAN_TOKEN: "c" }, undefined],
  ] as const)("of Cloudflare comes from %s", ([, env, token]) => {
    expect(readToken(sourceOf(env, "cloudflare"))).toBe(token);
  });

  test("is read from its file again each time, without the line end", () => {
    const path = join(dir, "token");
    const source = sourceOf({ DIGITALOCEAN_ACCESS_TOKEN_FILE: path });
    writeFileSync(path, "first\n");
    expect(readToken(source)).toBe("first");
    writeFileSync(path, "second\r\n");
    expect(readToken(source)).toBe("second");
  });

  test("is absent when its file is empty", () => {
    const path = join(dir, "empty");
    writeFileSync(path, "\n");
    expect(tokenOf({ DIGITALOCEAN_TOKEN_FILE: path })).toBeUndefined();
  });

  test("is refused by variable and path when its file cannot be read", () => {
    const path = join(dir, "absent");
    expect(() => tokenOf({ DIGITALOCEAN_TOKEN_FILE: path })).toThrow(
      `Cannot read the token file ${path} that DIGITALOCEAN_TOKEN_FILE names (ENOENT). Correct the path or its permissions.`,
    );
  });

  test("is refused without being shown when it has a line end inside", () => {
    const read = (): unknown => tokenOf({ DIGITALOCEAN_ACCESS_TOKEN: "sec\nret" });
    expect(read).toThrow("The token in DIGITALOCEAN_ACCESS_TOKEN has characters that no token has");
    expect(read).not.toThrow(/sec|ret\b/);
  });
});

describe("the environment", () => {
  test("is left to others without the secrets that flipop reads, and without the files that hold them", () => {
    const read = new Set<string>();
    const watched = new Proxy<Readonly<Record<string, string>>>({}, { get: (_, name) => void read.add(String(name)) });
    resolveEnvironment(watched);
    resolvePushgateway(watched);
    // Whatever is read with a twin that names a file is a secret: a new one is found by this test.
    const secrets = [...read].filter((name) => read.has(`${name}_FILE`));
    expect(secrets.sort()).toEqual([
      "CLOUDFLARE_API_TOKEN",
      "CLOUDFLARE_TOKEN",
      "DIGITALOCEAN_ACCESS_TOKEN",
      "DIGITALOCEAN_TOKEN",
      "HCLOUD_API_TOKEN",
      "HCLOUD_TOKEN",
      "PUSHGATEWAY_PASSWORD",
      "PUSHGATEWAY_TOKEN",
    ]);
    const env = Object.fromEntries(
      secrets.flatMap((name) => [
        [name, "s"],
        [`${name}_FILE`, "/s"],
      ]),
    );
    const others = { PATH: "/bin", HOME: "/h", HTTPS_PROXY: "http://p", AWS_PROFILE: "x", PUSHGATEWAY_URL: "http://g" };
    expect(withoutSecrets({ ...env, ...others })).toEqual(others);
  });

  test("keeps the two providers apart", () => {
    const { providers } = resolveEnvironment({
      DIGITALOCEAN_API_URL: "http://do",
      CLOUDFLARE_API_URL: "http://cf/client/v4",
      CLOUDFLARE_USER_AGENT: "me",
    });
    expect([providers["digitalocean"]?.apiURL, providers["digitalocean"]?.userAgent]).toEqual(["http://do", undefined]);
    expect([providers["cloudflare"]?.apiURL, providers["cloudflare"]?.userAgent]).toEqual([
      "http://cf/client/v4",
      "me",
    ]);
  });

  test("finds Hetzner's API where Hetzner's own tools look for it, unless our variable says where", () => {
    const urlOf = (env: Record<string, string>): string | undefined =>
      resolveEnvironment(env).providers["hetzner"]?.apiURL;
    const endpoint = { HCLOUD_ENDPOINT: "http://theirs/v1" };
    expect(urlOf(endpoint)).toBe("http://theirs/v1");
    expect(urlOf({ ...endpoint, HCLOUD_API_URL: "http://ours/v1" })).toBe("http://ours/v1");
    expect(urlOf({ HCLOUD_ENDPOINT: "" })).toBeUndefined();
  });

  test("is frozen once resolved, and empty variables count as absent", () => {
    const settings = resolveEnvironment({ DIGITALOCEAN_API_URL: "", KUBECONFIG: "", HOME: "/h" });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(settings).toEqual({
      providers: {
        digitalocean: { token: { kind: "none", variables: expect.any(Array) } },
        cloudflare: { token: { kind: "none", variables: expect.any(Array) } },
        hetzner: { token: { kind: "none", variables: expect.any(Array) } },
      },
      kube: { home: "/h", inCluster: {}, environment: expect.any(Object) },
      chooseProxy: expect.any(Function),
    });
  });
});
