import { oneLine } from "../../model/text.ts";
import { type Answer, jsonOf } from "../provider-http/answer.ts";
import type { Complaint } from "../provider-http/complaint.ts";

/**
 * What an error answer says: the message of either error model of the API, else what came instead of JSON.
 * Shape: one line, at most 200 characters.
 * @see https://docs.digitalocean.com/reference/api/reference/ (verified 2026-08-07)
 */
export function complaintOf(answer: Answer): Complaint {
  if (answer.bodyError !== undefined) return { text: "the answer broke off", hasModel: false };
  let body: unknown;
  try {
    body = jsonOf(answer).raw;
  } catch (fault) {
    return { text: fault instanceof Error ? fault.message : "no usable answer", hasModel: false };
  }
  const fields = typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const messages = Array.isArray(fields["messages"]) ? fields["messages"] : [];
  const texts = [fields["message"] ?? fields["error"], ...messages].filter((part) => typeof part === "string");
  const id = fields["id"];
  const text = oneLine(texts.join("; ")).slice(0, 200);
  if (text === "" && typeof id !== "string") return { text: "no error message", hasModel: false };
  return { text: text === "" ? String(id).slice(0, 200) : text, hasModel: true };
}

/** The request id of an answer: the header, else the error model's field. At most 100 characters. */
export function requestIDOf(answer: Answer): string | undefined {
  const header = answer.headers.get("x-request-id");
  if (header) return oneLine(header).slice(0, 100);
  try {
    const id = jsonOf(answer).at("request_id").raw;
    return typeof id === "string" && id !== "" ? oneLine(id).slice(0, 100) : undefined;
  } catch {
    return undefined;
  }
}
