import type { AnswerValue } from "../provider-http/answer-value.ts";

/** A number of an envelope's `result_info`; undefined when it is not there. The SDK's types know only two of its fields. */
export function infoCount(envelope: AnswerValue, field: "total_count" | "total_pages"): number | undefined {
  const info = envelope.at("result_info");
  if (info.isAbsent || info.at(field).isAbsent) return undefined;
  return info.at(field).count();
}
