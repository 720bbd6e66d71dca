import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createResolver, isResolverAddress } from "../../../src/adapters/resolver/resolver.ts";
import { type AnswerRecord, type DNSServer, serveDNS } from "../../../src/sandbox/dns-server.ts";

let server: DNSServer | undefined;
let records: () => readonly AnswerRecord[] = () => [];

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function asked(fqdn: string, all: () => readonly AnswerRecord[]): Promise<unknown> {
  records = all;
  server ??= await serveDNS(() => records(), undefined);
  return await createResolver(server.address).addressesOf(fqdn);
}

const record = (fqdn: string, address: string): AnswerRecord => ({ fqdn, address, ttl: 60 });

test("a name answers with all its addresses, sorted, in whatever case it is asked for", async () => {
  const all = [
    record("www.example.com", "203.0.113.2"),
    record("www.example.com", "203.0.113.1"),
    record("example.com", "192.0.2.1"),
  ];
  expect(await asked("www.example.com", () => all)).toEqual({ addresses: ["203.0.113.1", "203.0.113.2"] });
  expect(await asked("WWW.example.COM", () => all)).toEqual({ addresses: ["203.0.113.1", "203.0.113.2"] });
});

test("a name without records has no address, unless a wildcard is above it", async () => {
  expect(await asked("nobody.example.com", () => [record("www.example.com", "203.0.113.1")])).toEqual({
    addresses: [],
  });
  expect(await asked("any.example.com", () => [record("*.example.com", "203.0.113.9")])).toEqual({
    addresses: ["203.0.113.9"],
  });
});

test("a server that fails, and one that is not there, answer nothing", async () => {
  const broken = await asked("www.example.com", () => {
    throw new Error("the file is broken");
  });
  expect(broken).toEqual({ error: "queryA ESERVFAIL" });
  expect(await createResolver("127.0.0.1:1").addressesOf("www.example.com")).toEqual({ error: expect.any(String) });
});

test("what is no question is not answered, and does no harm", async () => {
  server = await serveDNS(() => [record("www.example.com", "203.0.113.1")], undefined);
  const [host = "", port = ""] = server.address.split(":");
  const socket = createSocket("udp4");
  const answers: Buffer[] = [];
  socket.on("message", (message) => answers.push(message));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  expect((socket.address() as AddressInfo).port).toBeGreaterThan(0);
  const question = Buffer.from("0001010000010000000000000377777707", "hex");
  for (const bad of [Buffer.from(""), Buffer.from("short"), question, Buffer.concat([question, Buffer.alloc(3)])])
    socket.send(bad, Number(port), host);
  expect(await createResolver(server.address).addressesOf("www.example.com")).toEqual({ addresses: ["203.0.113.1"] });
  expect(answers).toEqual([]);
  await new Promise<void>((resolve) => socket.close(() => resolve()));
});

test.for([
  ["9.9.9.9", true],
  ["127.0.0.1:5353", true],
  ["[2620:fe::fe]:53", true],
  ["dns.example.com", false],
  ["9.9.9.9:99999", false],
  ["", false],
] as const)("%s as a server: %s", ([text, isOne]) => {
  expect(isResolverAddress(text)).toBe(isOne);
});
