import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** A running DNS server of the embedded world. */
export interface DNSServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  close(): Promise<void>;
}

/** An address record of the embedded world: A or AAAA, as its address is. */
export interface AnswerRecord {
  /** Lower case without trailing dot. */
  readonly fqdn: string;
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/**
 * Answers questions for A and AAAA records on loopback, over UDP; a name without records takes those of a wildcard above it.
 * @param records - asked for at each question
 * @param onError - told of what `records` throws; the question then fails
 */
export async function serveDNS(
  records: () => readonly AnswerRecord[],
  onError: ((error: unknown) => void) | undefined,
): Promise<DNSServer> {
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const answer = answerTo(message, records, onError);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(0, "127.0.0.1", resolve);
  });
  const { port } = socket.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    address: `127.0.0.1:${port}`,
    close: () => {
      closed ??= new Promise((resolve) => socket.close(() => resolve()));
      return closed;
    },
  };
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
const CODES = { answered: 0, failed: 2, noSuchName: 3 } as const;
/** The longest answer over UDP without extensions; what does not fit is left out. */
const MOST_ANSWERS = 29;
const MOST_LONG_ANSWERS = 16;

/** Returns the message that answers another one (RFC 1035, section 4); undefined for what is no question. */
function answerTo(
  message: Buffer,
  records: () => readonly AnswerRecord[],
  onError: ((error: unknown) => void) | undefined,
): Buffer | undefined {
  const question = questionOf(message);
  if (question === undefined) return undefined;
  const { name, type, end } = question;
  const reply = (code: number, answers: readonly AnswerRecord[]): Buffer => {
    const header = Buffer.alloc(HEADER_BYTES);
    message.copy(header, 0, 0, 2);
    // An authoritative answer, which repeats whether recursion was wanted.
    header.writeUInt16BE(0x8480 | (message.readUInt16BE(2) & 0x0100) | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...answers.map(recordBytes)]);
  };
  try {
    const all = records();
    const own = all.filter(({ fqdn }) => fqdn === name);
    const wild = all.filter(({ fqdn }) => fqdn === `*${name.slice(Math.max(0, name.indexOf(".")))}`);
    const found = own.length > 0 ? own : wild;
    if (found.length === 0) return reply(CODES.noSuchName, []);
    const asked = found.filter(({ address }) => typeOf(address) === type);
    return reply(CODES.answered, asked.slice(0, type === TYPE_A ? MOST_ANSWERS : MOST_LONG_ANSWERS));
  } catch (error) {
    onError?.(error);
    return reply(CODES.failed, []);
  }
}

/** What a message asks for, and where its question ends. */
function questionOf(
  message: Buffer,
): { readonly name: string; readonly type: number; readonly end: number } | undefined {
  if (message.length < HEADER_BYTES || message.readUInt16BE(4) !== 1 || message.readUInt16BE(2) >= 0x8000)
    return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at]; length !== 0; length = message[at]) {
    if (length === undefined || length > 63) return undefined;
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const end = at + 5;
  if (end > message.length) return undefined;
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end };
}

/** A record, its name as a pointer to that of the question. */
function recordBytes({ address, ttl }: AnswerRecord): Buffer {
  const data = typeOf(address) === TYPE_A ? address.split(".").map(Number) : longBytes(address);
  const bytes = Buffer.from([0xc0, HEADER_BYTES, 0, typeOf(address), 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
  bytes.writeUInt32BE(ttl, 6);
  return bytes;
}

function typeOf(address: string): number {
  return address.includes(":") ? TYPE_AAAA : TYPE_A;
}

/** The sixteen bytes of an IPv6 address. */
function longBytes(address: string): readonly number[] {
  const [head = [], tail] = address.split("::").map((half) => half.split(":").filter((part) => part !== ""));
  const zeros = Array<string>(tail === undefined ? 0 : 8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...(tail ?? [])].flatMap((part) => {
    const value = Number.parseInt(part, 16);
    return [value >> 8, value & 0xff];
  });
}
