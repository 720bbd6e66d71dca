import type { AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";

/** One A record. */
export interface AddressRecord {
  readonly id: number;
  readonly ip: string;
  readonly ttlSeconds: number;
}

/**
 * The A record of this relative name in a `domain_record` object; undefined for a record of another type or name.
 * @throws AnswerFault
 */
export function decodeRecord(value: AnswerValue, relativeName: string): AddressRecord | undefined {
  const type = value.at("type").text();
  const name = value.at("name").text();
  if (type !== "A" || name.toLowerCase() !== relativeName) return undefined;
  return {
    id: Number(answeredID(value.at("id"))),
    ip: value.at("data").ipv4(),
    ttlSeconds: value.at("ttl").count(),
  };
}
