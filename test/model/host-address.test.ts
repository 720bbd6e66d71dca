import { expect, test } from "vitest";
import { hostAddressesText, readHostAddresses } from "../../src/model/host-address.ts";

test.for<[text: string | undefined, ips: readonly string[], refused: readonly string[]]>([
  [undefined, [], []],
  ["", [], []],
  ["203.0.113.7", ["203.0.113.7"], []],
  [" 203.0.113.8 ,203.0.113.7,203.0.113.8,", ["203.0.113.7", "203.0.113.8"], []],
  ["2001:DB8:0::7,2001:db8::7", ["2001:db8::7"], []],
  ["203.0.113.07", [], ["203.0.113.07: it is no IP address"]],
  ["rubbish,203.0.113.7", ["203.0.113.7"], ["rubbish: it is no IP address"]],
  ["203.0.113.7/32", [], ["203.0.113.7/32: it is no IP address"]],
  ["2001:db8::7%eth0", [], ["2001:db8::7%eth0: it is no IP address"]],
  ["127.0.0.1,::1", [], ["127.0.0.1: it is the host itself", "::1: it is the host itself"]],
  ["0.0.0.0,::", [], ["0.0.0.0: it stands for no address", "::: it stands for no address"]],
  ["169.254.169.254,FE80::1", [], ["169.254.169.254: it is link-local", "FE80::1: it is link-local"]],
  [
    "224.0.0.1,255.255.255.255",
    [],
    ["224.0.0.1: it is no address of one host", "255.255.255.255: it is no address of one host"],
  ],
  ["ff02::1", [], ["ff02::1: it is no address of one host"]],
  ["::ffff:203.0.113.7", [], ["::ffff:203.0.113.7: it is no IP address"]],
  ["223.255.255.254", ["223.255.255.254"], []],
])("the annotation %j asks for %j", ([text, ips, refused]) => {
  const read = readHostAddresses(text);
  expect(read.ips).toEqual(ips);
  expect(read.refused.map((one) => `${one.text}: ${one.why}`)).toEqual(refused);
});

test("what is refused cannot steer a terminal, and is cut", () => {
  const [refused] = readHostAddresses(`\u001b[31m${"x".repeat(500)}`).refused;
  expect(refused?.text).not.toContain("\u001b");
  expect(refused?.text.length).toBe(60);
});

test("addresses are written sorted and once, and none as nothing", () => {
  expect(hostAddressesText(["203.0.113.8", "203.0.113.7", "203.0.113.8"])).toBe("203.0.113.7,203.0.113.8");
  expect(hostAddressesText([])).toBeUndefined();
});
