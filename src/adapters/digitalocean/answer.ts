import { AnswerFault, AnswerValue } from "./answer-value.ts";

const excerptLength = 160;

/** An HTTP answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Set when the body broke off or did not arrive in time; `text` is then empty. */
  readonly bodyError?: Error;
}

/**
 * The JSON body of an answer. An empty body is a fault, never an empty value.
 * @throws AnswerFault when the content type is not JSON or the text does not parse; a broken body is thrown as it is.
 */
export function jsonOf(answer: Answer): AnswerValue {
  if (answer.bodyError !== undefined) throw answer.bodyError;
  const type = (answer.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (answer.text === "") throw new AnswerFault("the body is empty");
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    throw new AnswerFault(`${nameOfType(type, answer.text)} instead of JSON: ${excerptOf(answer.text)}`);
  }
  try {
    return new AnswerValue(JSON.parse(answer.text), "");
  } catch {
    throw new AnswerFault(`the JSON is broken or cut off after ${answer.text.length} characters`);
  }
}

/**
 * What an error answer says: the message of either error model of the API, else what came instead of JSON.
 * Shape: one line, at most 200 characters. `hasModel` is false when it is not an error of the API at all (a proxy's page).
 * @see https://docs.digitalocean.com/reference/api/reference/ (verified 2026-08-07)
 */
export function complaintOf(answer: Answer): {
  readonly text: string;
  readonly id?: string;
  readonly hasModel: boolean;
} {
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

function nameOfType(type: string, text: string): string {
  if (type === "text/html" || /^\s*<(?:!doctype|html)/i.test(text)) return "HTML";
  return type === "" ? "a body without content type" : type.slice(0, 40);
}

function excerptOf(text: string): string {
  const line = oneLine(text.slice(0, 4 * excerptLength));
  return JSON.stringify(line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line);
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}
