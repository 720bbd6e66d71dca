import { describe, expect, test } from "vitest";
import { canonicalDNSName, relativeName } from "../../src/model/dns.ts";

describe("canonicalDNSName", () => {
  test.for([
    ["example.com", "example.com"],
    ["Example.COM.", "example.com"],
    ["_acme._tcp.example.com", "_acme._tcp.example.com"],
    ["*.example.com", "*.example.com"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    [`${"x".repeat(63)}.com`, `${"x".repeat(63)}.com`],
    ["com", "com"],
  ] as const)("of %j is %j", ([text, name]) => {
    expect(canonicalDNSName(text)).toBe(name);
  });

  test.for([
    "",
    ".",
    "..",
    "a..b",
    ".a",
    "a b",
    "a/b",
    "a?b",
    "a%2eb",
    "-a.com",
    "a-.com",
    "a.*.com",
    "a*.com",
    "bücher.example",
    "@",
    `${"x".repeat(64)}.com`,
    `${"x.".repeat(127)}com`,
  ])("of %j is undefined", (text) => {
    expect(canonicalDNSName(text)).toBeUndefined();
  });
});

describe("relativeName", () => {
  test.for([
    ["www.example.com", "www"],
    ["example.com", "@"],
    ["a.b.example.com", "a.b"],
    ["example.com.example.com", "example.com"],
    ["wwwexample.com", undefined],
    ["com", undefined],
    ["www.example.org", undefined],
  ] as const)("of %s in example.com is %s", ([fqdn, relative]) => {
    expect(relativeName("example.com", fqdn)).toBe(relative);
  });
});
