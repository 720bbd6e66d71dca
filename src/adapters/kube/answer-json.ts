import type { KubeError } from "../../model/errors.ts";
import type { Call } from "./call.ts";
import { kubeError } from "./call-failure.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./exchange.ts";

/** The JSON of a successful answer. @throws KubeError `malformed` when it is a page of a proxy, cut off, or no JSON. */
export function answerJSON(call: Call, answer: Answer, connection: Connection): unknown {
  try {
    return JSON.parse(answer.body.toString("utf8"));
  } catch (error) {
    const why = reasonOf(answer, error);
    throw malformed(call, connection, { status: answer.status, why: connection.secrets?.redactQuoted(why) ?? why });
  }
}

/** A KubeError for an answer that is a success and cannot be understood. */
export function malformed(
  call: Call,
  connection: Connection,
  facts: { readonly status: number; readonly why: string },
): KubeError {
  const fix = `Check that ${connection.server} is the API server itself, not a login page or proxy.`;
  return kubeError(call, "malformed", { ...facts, fix });
}

/** The parser's own text quotes the answer, which may hold what nobody should see. */
function reasonOf(answer: Answer, error: unknown): string {
  const type = answer.headers["content-type"]?.split(";", 1)[0] ?? "";
  if (type !== "" && !type.includes("json")) return `the answer is ${type}, not JSON`;
  const isCut =
    error instanceof Error && /end of JSON|Unterminated|position/.test(error.message) && !endsLikeJSON(answer);
  return isCut ? `the answer is cut off after ${answer.body.length} bytes` : "the answer is not valid JSON";
}

function endsLikeJSON(answer: Answer): boolean {
  return /\}\s*$/.test(answer.body.subarray(-16).toString("latin1"));
}
