import type { AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import { answeredName } from "./answered-name.ts";

/** One A record at Cloudflare. */
export interface DNSRecord {
  readonly id: string;
  readonly address: string;
  /** Seconds; 1 = automatic. */
  readonly ttlSeconds: number;
  readonly isProxied: boolean;
  /** True when a person or a tool left a comment or tags on it. */
  readonly isAnnotated: boolean;
}

/**
 * The A record of this name in a record object.
 * @throws AnswerFault when it is a record of another name or type
 */
export function decodeRecord(value: AnswerValue, fqdn: string): DNSRecord {
  const [type, name] = [value.at("type"), value.at("name")];
  if (type.text() !== "A") throw type.fault("A");
  if (answeredName(name) !== fqdn) throw name.fault(fqdn);
  const [proxied, comment, tags] = [value.at("proxied"), value.at("comment"), value.at("tags")];
  return {
    id: answeredID(value.at("id")),
    address: value.at("content").ipv4(),
    ttlSeconds: value.at("ttl").count(),
    isProxied: !proxied.isAbsent && proxied.flag(),
    isAnnotated: (!comment.isAbsent && comment.text() !== "") || (!tags.isAbsent && tags.items().length > 0),
  };
}
