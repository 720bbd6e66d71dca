import { describe, expect, test } from "vitest";
import { canonicalIPv6Network, firstAddressOf, ipv6NetworkOf, networkBits } from "../../src/model/ipv6-network.ts";

describe("an IPv6 network", () => {
  test.each([
    ["2001:db8:1:2::/64", "2001:db8:1:2::/64", "2001:db8:1:2::1"],
    ["2001:DB8:0001:2:0:0:0:0/64", "2001:db8:1:2::/64", "2001:db8:1:2::1"],
    ["2001:db8:1:2::5/64", "2001:db8:1:2::/64", "2001:db8:1:2::1"],
    ["2001:db8:1:2ff::/56", "2001:db8:1:200::/56", "2001:db8:1:200::1"],
    ["2001:db8::7/128", "2001:db8::7/128", "2001:db8::7"],
    ["2001:db8::6/127", "2001:db8::6/127", "2001:db8::7"],
    ["::/0", "::/0", "::1"],
    ["1:2:3:4:5:6:7:8/112", "1:2:3:4:5:6:7:0/112", "1:2:3:4:5:6:7:1"],
  ])("%s is written %s, and begins with %s", (text, network, first) => {
    expect(canonicalIPv6Network(text)).toBe(network);
    expect(firstAddressOf(network)).toBe(first);
    expect(ipv6NetworkOf(first, networkBits(network))).toBe(network);
  });

  test.each([
    "",
    "2001:db8::1",
    "2001:db8::/",
    "2001:db8::/129",
    "2001:db8::/-1",
    "2001:db8::/064x",
    "203.0.113.0/24",
    "::ffff:0:1/64",
    "/64",
  ])("%j is none", (text) => {
    expect(canonicalIPv6Network(text)).toBeUndefined();
  });

  test("holds the addresses that begin as it does, and no others", () => {
    for (const ip of ["2001:db8:1:2::", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2:0:0:1:0"])
      expect(ipv6NetworkOf(ip, 64)).toBe("2001:db8:1:2::/64");
    for (const ip of ["2001:db8:1:3::", "2001:db8:1:1:ffff:ffff:ffff:ffff", "::1"])
      expect(ipv6NetworkOf(ip, 64)).not.toBe("2001:db8:1:2::/64");
  });
});
