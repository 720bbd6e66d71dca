import { describe, expect, test } from "vitest";
import { proxyChoice, proxyText, readProxy } from "../../../src/adapters/http/proxy-choice.ts";
import { type Environment, resolveProxies } from "../../../src/cli/environment.ts";

const choose = (env: Environment, target: string): string => {
  const proxy = proxyChoice(resolveProxies(env))(new URL(target));
  return proxy === undefined ? "direct" : proxy.url.href.replace(/\/$/, "");
};

// Every row was put to Go's own httpproxy (golang.org/x/net v0.51.0, run on 2026-11-22), which said the same.
const EXCEPTIONS: readonly (readonly [exceptions: string, target: string, way: "direct" | "proxied"])[] = [
  ["", "https://api.example.com", "proxied"],
  ["", "http://api.example.com", "proxied"],
  ["", "https://localhost", "direct"],
  ["", "https://localhost:6443", "direct"],
  ["", "https://127.0.0.1:6443", "direct"],
  ["", "https://127.8.9.10", "direct"],
  ["", "https://[::1]:6443", "direct"],
  ["", "https://[::ffff:127.0.0.1]", "direct"],
  ["", "https://0.0.0.0", "proxied"],
  ["", "https://10.0.0.1", "proxied"],
  ["", "https://localhost.", "proxied"],
  ["", "https://foo.localhost", "proxied"],
  ["", "https://[fd00::1]:6443", "proxied"],
  ["*", "https://api.example.com", "direct"],
  ["*", "http://10.0.0.1", "direct"],
  ["a.com,*,b.com", "https://api.example.com", "direct"],
  ["example.com", "https://example.com", "direct"],
  ["example.com", "https://api.example.com", "direct"],
  ["example.com", "https://a.b.example.com:6443", "direct"],
  ["example.com", "https://notexample.com", "proxied"],
  ["example.com", "https://example.com.evil.org", "proxied"],
  ["example.com", "https://EXAMPLE.com", "direct"],
  [".example.com", "https://example.com", "proxied"],
  [".example.com", "https://api.example.com", "direct"],
  ["*.example.com", "https://example.com", "proxied"],
  ["*.example.com", "https://api.example.com", "direct"],
  ["api.*.com", "https://api.example.com", "proxied"],
  [" example.com , other.org ", "https://api.example.com", "direct"],
  [" example.com , other.org ", "https://other.org", "direct"],
  ["other.org example.com", "https://api.example.com", "proxied"],
  ["EXAMPLE.COM", "https://api.example.com", "direct"],
  ["example.com:6443", "https://api.example.com:6443", "direct"],
  ["example.com:6443", "https://api.example.com", "proxied"],
  ["example.com:443", "https://api.example.com", "direct"],
  ["example.com:443", "http://api.example.com", "proxied"],
  ["example.com:80", "http://api.example.com", "direct"],
  ["example.com:80", "https://api.example.com", "proxied"],
  ["example.com:", "https://api.example.com", "direct"],
  ["example.com:", "https://api.example.com:6443", "direct"],
  [".example.com:6443", "https://example.com:6443", "proxied"],
  [".example.com:6443", "https://api.example.com:6443", "direct"],
  [":6443", "https://api.example.com:6443", "proxied"],
  ["10.0.0.0/8", "https://10.1.2.3:6443", "direct"],
  ["10.0.0.0/8", "https://11.0.0.1", "proxied"],
  ["10.0.0.0/8", "https://api.example.com", "proxied"],
  ["10.0.0.0/8", "https://[::ffff:10.1.2.3]", "direct"],
  ["10.1.2.3/8", "https://10.9.9.9", "direct"],
  ["10.0.0.0/9", "https://10.127.0.1", "direct"],
  ["10.0.0.0/9", "https://10.128.0.1", "proxied"],
  ["10.0.0.0/32", "https://10.0.0.0", "direct"],
  ["10.0.0.0/32", "https://10.0.0.1", "proxied"],
  ["0.0.0.0/0", "https://10.0.0.0", "direct"],
  ["0.0.0.0/0", "https://[fd00::1]", "proxied"],
  ["0.0.0.0/0", "https://a.com", "proxied"],
  ["10.0.0.0/33", "https://10.0.0.0", "proxied"],
  ["10.0.0.0/", "https://10.0.0.0", "proxied"],
  ["10.0.0/8", "https://10.0.0.0", "proxied"],
  ["10.0.0.0/8:6443", "https://10.0.0.0:6443", "proxied"],
  ["010.0.0.1", "https://10.0.0.1", "proxied"],
  ["fd00::/8", "https://[fd00::1]:6443", "direct"],
  ["fd00::/8", "https://[fe00::1]", "proxied"],
  ["fd00::/8", "https://10.0.0.1", "proxied"],
  ["fd12:3456:7890::/44", "https://[fd12:3456:7890::1]", "direct"],
  ["fd12:3456:7890::/44", "https://[fd12:3456:78a0::1]", "proxied"],
  ["fd12:3456:7890::/44", "https://[fd12:3456:789f::1]", "direct"],
  ["::/0", "https://[fd00::1]", "direct"],
  ["::/0", "https://10.0.0.1", "proxied"],
  ["::ffff:10.0.0.0/104", "https://10.1.2.3", "direct"],
  ["::ffff:10.0.0.0/104", "https://11.1.2.3", "proxied"],
  ["10.0.0.1", "https://10.0.0.1", "direct"],
  ["10.0.0.1", "https://10.0.0.1:6443", "direct"],
  ["10.0.0.1", "https://10.0.0.11", "proxied"],
  ["10.0.0.1", "https://10.0.0.1.example.com", "proxied"],
  ["10.0.0.1:6443", "https://10.0.0.1:6443", "direct"],
  ["10.0.0.1:6443", "https://10.0.0.1", "proxied"],
  ["fd00::1", "https://[fd00::1]:6443", "direct"],
  ["fd00::1", "https://[fd00:0:0::1]", "direct"],
  ["fd00::1", "https://[fd00::2]", "proxied"],
  ["[fd00::1]:6443", "https://[fd00::1]:6443", "direct"],
  ["[fd00::1]:6443", "https://[fd00::1]", "proxied"],
  ["[fd00::1]", "https://[fd00::1]", "proxied"],
  ["::ffff:10.0.0.1", "https://10.0.0.1", "direct"],
  ["10.0.0.", "https://10.0.0.1", "proxied"],
  ["10.0", "https://10.0.0.1", "proxied"],
  ["com", "https://api.example.com", "direct"],
  [",,", "https://api.example.com", "proxied"],
  [".", "https://api.example.com", "proxied"],
  ["*.", "https://api.example.com", "proxied"],
  ["xn--bcher-kva.example", "https://bücher.example", "direct"],
  ["bücher.example", "https://bücher.example", "direct"],
  ["bücher.example", "https://www.bücher.example", "direct"],
  ["a.com,10.0.0.0/8,b.com:444", "https://b.com:444", "direct"],
  ["a.com,10.0.0.0/8,b.com:444", "https://b.com", "proxied"],
  ["a.com,10.0.0.0/8,b.com:444", "https://10.0.0.1", "direct"],
  ["a.com,10.0.0.0/8,b.com:444", "https://x.a.com", "direct"],
  ["kubernetes.default.svc", "https://kubernetes.default.svc", "direct"],
  ["kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local", "proxied"],
  ["svc,.local", "https://kubernetes.default.svc", "direct"],
  ["svc,.local", "https://kubernetes.default.svc.cluster.local", "direct"],
];

test.for(EXCEPTIONS)("with NO_PROXY=%j the way to %s is %s", ([exceptions, target, way]) => {
  const env = { HTTPS_PROXY: "http://secure:3128", HTTP_PROXY: "http://plain:3128", NO_PROXY: exceptions };
  const proxy = target.startsWith("https:") ? "http://secure:3128" : "http://plain:3128";
  expect(choose(env, target)).toBe(way === "direct" ? "direct" : proxy);
});

// As above.
const VARIABLES: readonly (readonly [env: Environment, target: string, way: string])[] = [
  [{ https_proxy: "http://lower:1" }, "https://api.example.com/x", "http://lower:1"],
  [{ HTTPS_PROXY: "http://upper:1", https_proxy: "http://lower:1" }, "https://api.example.com/x", "http://upper:1"],
  [{ HTTPS_PROXY: "", https_proxy: "http://lower:1" }, "https://api.example.com/x", "http://lower:1"],
  [{ HTTP_PROXY: "http://plain:1" }, "https://api.example.com/x", "direct"],
  [{ ALL_PROXY: "http://all:1" }, "https://api.example.com/x", "direct"],
  [{ HTTPS_PROXY: "proxy:3128" }, "https://api.example.com/x", "http://proxy:3128"],
  [{ HTTPS_PROXY: "10.0.0.9:3128" }, "https://api.example.com/x", "http://10.0.0.9:3128"],
  [{ HTTPS_PROXY: "proxy" }, "https://api.example.com/x", "http://proxy"],
  [{ HTTPS_PROXY: "user:pa%20ss@proxy:3128" }, "https://api.example.com/x", "http://user:pa%20ss@proxy:3128"],
  [{ HTTPS_PROXY: "https://user:p@proxy" }, "https://api.example.com/x", "https://user:p@proxy"],
  [{ HTTPS_PROXY: "socks5://proxy:1080" }, "https://api.example.com/x", "socks5://proxy:1080"],
  [{ HTTPS_PROXY: "http://proxy:1", no_proxy: "example.com" }, "https://api.example.com/x", "direct"],
  [
    { HTTPS_PROXY: "http://proxy:1", NO_PROXY: "other.com", no_proxy: "example.com" },
    "https://api.example.com/x",
    "http://proxy:1",
  ],
  [{ HTTPS_PROXY: "http://proxy:1", NO_PROXY: "", no_proxy: "example.com" }, "https://api.example.com/x", "direct"],
  [{ https_proxy: "http://lower:1" }, "http://api.example.com", "direct"],
  [{ http_proxy: "http://lower:1" }, "http://api.example.com", "http://lower:1"],
  [{ HTTPS_PROXY: "http://plain:1", REQUEST_METHOD: "GET" }, "https://api.example.com", "http://plain:1"],
];

test.for(VARIABLES)("with %j the way to %s is %s", ([env, target, way]) => {
  expect(choose(env, target)).toBe(way);
});

describe("a proxy that cannot be one", () => {
  test.for([
    "ftp://hunter2@proxy",
    "http://",
    "http://hunter2@",
    "http://pro xy",
    "socks4://proxy",
    "http://proxy:99999",
  ])("is a ConfigError that does not show it, where a request would need it: %s", (text) => {
    const env = { HTTPS_PROXY: text, NO_PROXY: "example.org" };
    expect(() => choose(env, "https://api.example.com")).toThrow(
      expect.objectContaining({
        name: "ConfigError",
        kind: "invalid",
        message: expect.stringContaining("of HTTPS_PROXY"),
      }),
    );
    expect(() => choose(env, "https://api.example.com")).not.toThrow(/hunter2/);
    expect(choose(env, "https://example.org")).toBe("direct");
  });

  test("is HTTP_PROXY where REQUEST_METHOD is set, since a stranger's header may have set it", () => {
    const env = { HTTP_PROXY: "http://proxy:1", REQUEST_METHOD: "GET" };
    expect(() => choose(env, "http://api.example.com")).toThrow("HTTP_PROXY");
    expect(choose(env, "https://api.example.com")).toBe("direct");
  });
});

test("the source of a proxy is the variable that is set, and its text shows no password", () => {
  const proxy = proxyChoice(resolveProxies({ https_proxy: "http://user:hunter2@proxy:3128" }))(new URL("https://a.b"));
  expect(proxy?.source).toBe("https_proxy");
  expect(proxy === undefined ? "" : proxyText(proxy)).toBe("http://proxy:3128");
  expect(proxyText(readProxy("https://u:p@[fd00::1]:443", "x"))).toBe("https://[fd00::1]");
});
