import { describe, expect, test } from "vitest";
import { canonicalAddress, canonicalIPv6 } from "../../src/model/address.ts";
import { memoryOf, setNamed, setText, withMemory } from "../../src/model/record-types.ts";

describe("an IPv6 address", () => {
  test.each([
    ["2001:DB8:0:0::0001", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::", "::"],
    ["::1", "::1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ])("%s is written %s", (text, canonical) => {
    expect(canonicalIPv6(text)).toBe(canonical);
    expect(canonicalIPv6(canonical)).toBe(canonical);
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    "",
    ":",
    "1:2",
    "12:30:45",
    "2001:db8::12345",
    "2001:db8::1::2",
    "fe80::1%eth0",
    "::ffff:192.0.2.1",
    "::1]",
    "[::1]",
    "::1/64",
    " ::1",
    "192.0.2.1",
  ])("%j is none", (text) => expect(canonicalIPv6(text)).toBeUndefined());
});

describe("a set of records", () => {
  test.each([
    [{ fqdn: "www.example.com", type: "A" }, "www.example.com"],
    [{ fqdn: "www.example.com", type: "AAAA" }, "www.example.com AAAA"],
    [{ fqdn: "", type: "AAAA" }, " AAAA"],
  ] as const)("%j is one text and back", (set, text) => {
    expect(setText(set)).toBe(text);
    expect(setNamed(text)).toEqual(set);
  });

  test("of each type has its own memory", () => {
    const status = { formerDNS: [{ provider: "p", zone: "z", name: "n", addresses: [] }] };
    expect(memoryOf(status, "A")).toBe(status);
    expect(memoryOf(status, "AAAA")).toEqual({ formerDNS: [] });
    expect(withMemory(status, "AAAA", {})).toBe(status);
    const published = { publishedDNS: { provider: "p", zone: "z", name: "n AAAA", addresses: ["::1"] } };
    expect(withMemory(status, "AAAA", published)).toEqual({ ...status, ipv6: { formerDNS: [], ...published } });
    expect(withMemory(status, "A", published)).toEqual({ ...status, ...published });
  });
});
