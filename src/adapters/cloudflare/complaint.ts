import { oneLine } from "../../model/text.ts";
import { type Answer, jsonOf } from "../provider-http/answer.ts";
import type { Complaint } from "../provider-http/complaint.ts";

const mostCharacters = 300;
const deepestChain = 4;

/** What an answer of Cloudflare's that is no success says. */
export interface CloudflareComplaint extends Complaint {
  /** One line, at most 300 characters: `1004 DNS Validation Error (9021 Invalid TTL.)`. */
  readonly text: string;
  /** The codes of the errors and of their chains, in that order. */
  readonly codes: readonly number[];
}

interface Entry {
  readonly code?: number;
  readonly message: string;
  readonly chain: readonly Entry[];
}

/**
 * What an error answer says. `error_chain` belongs to it: for a validation error only the chain names the field.
 * @see https://developers.cloudflare.com/fundamentals/api/how-to/make-api-calls/ (verified 2026-11-21)
 */
export function complaintOf(answer: Answer): CloudflareComplaint {
  if (answer.bodyError !== undefined) return { text: "the answer broke off", codes: [], hasModel: false };
  let body: unknown;
  try {
    body = jsonOf(answer).raw;
  } catch (fault) {
    return { text: fault instanceof Error ? fault.message : "no usable answer", codes: [], hasModel: false };
  }
  const entries = entriesOf(fieldsOf(body)["errors"], 0);
  if (entries.length === 0) return { text: "no error message", codes: [], hasModel: false };
  const text = oneLine(entries.map(textOf).join("; "));
  const shown = text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text;
  return { text: shown, codes: entries.flatMap(codesOf), hasModel: true };
}

/** The id under which Cloudflare knows the request: the header `cf-ray`, at most 100 characters. */
export function requestIDOf(answer: Answer): string | undefined {
  const header = answer.headers.get("cf-ray");
  return header ? oneLine(header).slice(0, 100) : undefined;
}

function entriesOf(raw: unknown, depth: number): readonly Entry[] {
  if (!Array.isArray(raw) || depth > deepestChain) return [];
  return raw.flatMap((item) => {
    const { code, message, error_chain: chain } = fieldsOf(item);
    const known = typeof code === "number" ? { code } : {};
    const text = typeof message === "string" ? message : "";
    if (text === "" && known.code === undefined) return [];
    return [{ ...known, message: text, chain: entriesOf(chain, depth + 1) }];
  });
}

function textOf({ code, message, chain }: Entry): string {
  const own = [code, message].filter((part) => part !== undefined && part !== "").join(" ");
  return chain.length === 0 ? own : `${own} (${chain.map(textOf).join("; ")})`;
}

function codesOf({ code, chain }: Entry): readonly number[] {
  return [...(code === undefined ? [] : [code]), ...chain.flatMap(codesOf)];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
