import { createSocket, type Socket } from "node:dgram";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createZoneServers } from "../../../src/adapters/resolver/zone-servers.ts";

/** What a server answers to a question: records, a name that does not exist, an answer that is too long for UDP, or nothing. */
type Answer =
  | { readonly A: readonly string[] }
  | { readonly NS: readonly string[] }
  | "no such name"
  | "too long"
  | "silence";

/** Questions that a server got, such as `udp A www.example.com`. */
type Log = string[];

const TYPES: Readonly<Record<number, string>> = { 1: "A", 2: "NS" };
const open: (Socket | Server)[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => new Promise<void>((resolve) => one.close(() => resolve()))));
});

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);
}

function recordBytes(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 42, 0, data.length]);
  return Buffer.concat([head, data]);
}

/** What a message asks, such as `A www.example.com`, and where its question ends. */
function questionOf(message: Buffer): { readonly question: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { question: `${TYPES[message.readUInt16BE(at + 1)]} ${labels.join(".").toLowerCase()}`, end: at + 5 };
}

function recordsOf(answer: Exclude<Answer, "silence">, way: "udp" | "tcp"): readonly Buffer[] {
  const address = (ip: string): Buffer => recordBytes(1, Buffer.from(ip.split(".").map(Number)));
  if (answer === "too long") return way === "tcp" ? [address("203.0.113.77")] : [];
  if (answer === "no such name") return [];
  return "A" in answer ? answer.A.map(address) : answer.NS.map((name) => recordBytes(2, nameBytes(name)));
}

function reply(
  message: Buffer,
  way: "udp" | "tcp",
  answers: (question: string) => Answer,
  log: Log,
): Buffer | undefined {
  const { question, end } = questionOf(message);
  log.push(`${way} ${question}`);
  const answer = answers(question);
  if (answer === "silence") return undefined;
  const records = recordsOf(answer, way);
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  const isCut = answer === "too long" && way === "udp";
  header.writeUInt16BE(0x8480 | (isCut ? 0x0200 : 0) | (answer === "no such name" ? 3 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, message.subarray(12, end), ...records]);
}

/** Serves DNS over UDP. Returns the port. */
async function serve(
  host: string,
  port: number,
  answers: (question: string) => Answer,
  log: Log = [],
): Promise<number> {
  const socket = createSocket("udp4");
  open.push(socket);
  socket.on("message", (message, from) => {
    const bytes = reply(message, "udp", answers, log);
    if (bytes !== undefined) socket.send(bytes, from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(port, host, resolve));
  return (socket.address() as AddressInfo).port;
}

/** Serves DNS over TCP. */
async function serveTCP(host: string, port: number, answers: (question: string) => Answer): Promise<void> {
  const server = createServer((connection) => {
    connection.on("data", (bytes) => {
      const message = reply(bytes.subarray(2), "tcp", answers, []);
      if (message === undefined) return;
      connection.end(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]));
    });
    connection.on("error", () => {});
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
}

const HOSTS: Readonly<Record<string, string>> = {
  "ns1.example.com": "127.0.0.1",
  "ns2.example.com": "127.0.0.2",
  "ns3.example.com": "127.0.0.3",
};

/** A resolver that names these servers for zones. */
function finderOf(zones: Readonly<Record<string, readonly string[]>>): (question: string) => Answer {
  return (question) => {
    const [type = "", name = ""] = question.split(" ");
    if (type === "NS") return zones[name] === undefined ? "no such name" : { NS: zones[name] };
    return HOSTS[name] === undefined ? "no such name" : { A: [HOSTS[name]] };
  };
}

const says =
  (...A: readonly string[]) =>
  (): Answer => ({ A });

async function finder(zones: Readonly<Record<string, readonly string[]>>, log?: Log): Promise<string> {
  return `127.0.0.1:${await serve("127.0.0.1", 0, finderOf(zones), log)}`;
}

test("every server of the zone is asked, over TCP where its answer is too long; one that does not answer says why", async () => {
  const port = await serve("127.0.0.1", 0, says("203.0.113.2", "203.0.113.1"));
  await serve("127.0.0.2", port, () => "too long");
  await serveTCP("127.0.0.2", port, () => "too long");
  const at = await finder({
    "example.com": ["NS3.example.com", "ns2.example.com", "ns1.example.com", "gone.example.com"],
  });
  const answer = await createZoneServers({ finder: at, port }).answerOf("www.example.com", "example.com");
  expect(answer).toEqual({
    servers: [
      { server: "gone.example.com", error: "its name has no IPv4 address" },
      { server: "ns1.example.com", addresses: ["203.0.113.1", "203.0.113.2"], ttlSeconds: 42 },
      { server: "ns2.example.com", addresses: ["203.0.113.77"], ttlSeconds: 42 },
      { server: "ns3.example.com", error: expect.stringMatching(/^queryA E[A-Z]+$/) },
    ],
  });
});

test("a name without records is an answer; a zone without servers is none", async () => {
  const port = await serve("127.0.0.1", 0, () => "no such name");
  const at = await finder({ "example.com": ["ns1.example.com"] });
  const servers = createZoneServers({ finder: at, port });
  expect(await servers.answerOf("www.example.com", "example.com")).toEqual({
    servers: [{ server: "ns1.example.com", addresses: [] }],
  });
  expect(await servers.answerOf("www.example.org", "example.org")).toEqual({
    error: "DNS names no server for example.org",
  });
  const nobody = createZoneServers({ finder: "127.0.0.1:1" });
  expect(await nobody.answerOf("www.example.com", "example.com")).toEqual({
    error: expect.stringMatching(/^the servers of example\.com: /),
  });
});

test("where the zone is not known, the servers of the nearest name above are asked", async () => {
  const log: Log = [];
  const port = await serve("127.0.0.1", 0, says("203.0.113.1"));
  const at = await finder({ "example.com": ["ns1.example.com"] }, log);
  const servers = createZoneServers({ finder: at, port });
  expect(await servers.answerOf("a.b.example.com")).toEqual({
    servers: [{ server: "ns1.example.com", addresses: ["203.0.113.1"], ttlSeconds: 42 }],
  });
  expect(log.filter((line) => line.includes(" NS "))).toEqual([
    "udp NS a.b.example.com",
    "udp NS b.example.com",
    "udp NS example.com",
  ]);
});

test("the servers of a zone are found once, and each is asked once for a name, at most four at a time", async () => {
  const found: Log = [];
  const asked: Log = [];
  const waiting: (() => void)[] = [];
  let most = 0;
  const socket = createSocket("udp4");
  open.push(socket);
  let pending = 0;
  socket.on("message", (message, from) => {
    pending += 1;
    most = Math.max(most, pending);
    waiting.push(() => {
      pending -= 1;
      const bytes = reply(message, "udp", says("203.0.113.1"), asked);
      if (bytes !== undefined) socket.send(bytes, from.port, from.address);
    });
    setTimeout(() => waiting.shift()?.(), 20);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address() as AddressInfo;
  const at = await finder({ "example.com": ["ns1.example.com"] }, found);
  const servers = createZoneServers({ finder: at, port });
  const names = Array.from({ length: 10 }, (_, number) => `n${number}.example.com`);
  await Promise.all([...names, ...names].map((name) => servers.answerOf(name, "example.com")));
  expect(found).toEqual(["udp NS example.com", "udp A ns1.example.com"]);
  expect(asked.toSorted()).toEqual(names.map((name) => `udp A ${name}`).toSorted());
  expect(most).toBeLessThanOrEqual(4);
});

test("one server may stand for those of every zone", async () => {
  const port = await serve("127.0.0.1", 0, says("203.0.113.1"));
  const only = `127.0.0.1:${port}`;
  expect(await createZoneServers({ only }).answerOf("www.example.com", "example.com")).toEqual({
    servers: [{ server: only, addresses: ["203.0.113.1"], ttlSeconds: 42 }],
  });
});
