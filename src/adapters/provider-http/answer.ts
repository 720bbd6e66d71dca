import { oneLine } from "../../model/text.ts";
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

function nameOfType(type: string, text: string): string {
  if (type === "text/html" || /^\s*<(?:!doctype|html)/i.test(text)) return "HTML";
  return type === "" ? "a body without content type" : type.slice(0, 40);
}

function excerptOf(text: string): string {
  const line = oneLine(text.slice(0, 4 * excerptLength));
  return JSON.stringify(line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line);
}
