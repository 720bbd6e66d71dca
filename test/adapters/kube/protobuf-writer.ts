// Writes protobuf as an API server does, field by field; only as much as tests need.
import type { Say } from "./scripted-server.ts";

/** A field that is a number; negative ones take ten bytes, as the API server sends them. */
export function numberField(field: number, value: number | bigint): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** A field that is text. */
export function textField(field: number, text: string): Buffer {
  return bytesField(field, Buffer.from(text));
}

/** A field that is a message of these fields. */
export function messageField(field: number, ...fields: readonly Buffer[]): Buffer {
  return bytesField(field, Buffer.concat(fields));
}

/** A `metav1.Time`. */
export function timeField(field: number, rfc3339: string): Buffer {
  return secondsField(field, Date.parse(rfc3339) / 1000);
}

/** A `metav1.Time` of any seconds and nanoseconds. */
export function secondsField(field: number, seconds: number | bigint, nanos: number | bigint = 0): Buffer {
  return messageField(field, numberField(1, seconds), numberField(2, nanos));
}

/** A whole message in the API server's wrapping. */
export function envelope(kind: string, ...fields: readonly Buffer[]): Buffer {
  const typeMeta = messageField(1, textField(1, "v1"), textField(2, kind));
  const rest = [messageField(2, ...fields), textField(3, ""), textField(4, "")];
  return Buffer.concat([Buffer.from("k8s\0"), typeMeta, ...rest]);
}

/** A list: its items and the token of the next page, empty texts included, which the real server sends, too. */
export function listOf(kind: string, items: readonly Buffer[], token = ""): Buffer {
  const metadata = messageField(1, textField(1, ""), textField(2, "7"), textField(3, token));
  return envelope(kind, metadata, ...items.map((item) => bytesField(2, item)));
}

/** Answers with protobuf. */
export function sayProtobuf(body: Buffer, status = 200): Say {
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/vnd.kubernetes.protobuf" });
    response.end(body);
  };
}

/** A field of bytes as they are: text, a message, or something broken. */
export function bytesField(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); bytes.length === 0 || rest > 0n; rest >>= 7n)
    bytes.push(Number(rest & 0x7fn) + (rest >= 128n ? 128 : 0));
  return Buffer.from(bytes);
}
