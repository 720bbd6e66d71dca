import { answerJSON, malformed } from "./answer-json.ts";
import type { Call } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./exchange.ts";
import { asList, asRecord, asText } from "./json-value.ts";
import { openEnvelope } from "./protobuf-envelope.ts";
import { LIST_FIELDS } from "./protobuf-fields.ts";
import { decodeItem, decodeMessage, type Fields } from "./protobuf-message.ts";
import { stripManagedFields } from "./strip-managed-fields.ts";

const ITEMS = Buffer.from('"items":[');

/** The objects of one page, and where the next one begins: `""` after the last. */
export interface PageContent {
  readonly items: readonly unknown[];
  /** The same undecoded, where they came in protobuf. */
  readonly bytes?: readonly Buffer[];
  readonly token: string;
  /** Of the state that all pages show; `""` where the server names none. */
  readonly resourceVersion: string;
}

/** One page of a list as it arrived. */
export interface Page {
  /** Where the next page begins, as far as that shows before the items are read; `""` when it does not. */
  readonly earlyToken: string;
  /** Reads the page whole. @throws KubeError `malformed` when it is no list. */
  readonly read: () => PageContent;
}

/**
 * Opens a page, in the encoding the server chose.
 * @param fields what is read of an item in protobuf. Given for built-in objects only, whose JSON, where the server has nothing
 *   else, is freed of `managedFields` before it is parsed.
 */
export function openPage(call: Call, answer: Answer, connection: Connection, fields: Fields | undefined): Page {
  const broken = (): Error => malformed(call, connection, { status: answer.status, why: "the answer is not a list" });
  if (fields === undefined) return jsonPage(answer.body, () => answerJSON(call, answer, connection), broken);
  const list = protobufList(answer.body, broken);
  if (list !== undefined) return protobufPage(list, fields, broken);
  const body = stripManagedFields(answer.body);
  return jsonPage(body, () => answerJSON(call, { ...answer, body }, connection), broken);
}

function jsonPage(body: Buffer, parse: () => unknown, broken: () => Error): Page {
  return {
    earlyToken: continueBeforeItems(body),
    read: () => {
      const list = asRecord(parse());
      const metadata = asRecord(list?.["metadata"]);
      // Go writes an empty list as null in places.
      const items = list?.["items"] === null ? [] : list?.["items"];
      if (metadata === undefined || !Array.isArray(items)) throw broken();
      return {
        items,
        token: asText(metadata["continue"]) ?? "",
        resourceVersion: asText(metadata["resourceVersion"]) ?? "",
      };
    },
  };
}

/** `metadata.continue` where metadata comes before items, as in lists of built-in objects; `""` when it is not there. A token that is not base64 counts as absent. */
function continueBeforeItems(body: Buffer): string {
  const end = body.indexOf(ITEMS);
  const head = end < 0 ? "" : body.subarray(0, end).toString("utf8");
  const [, token] = /"continue":"([\w=+/-]*)"/.exec(head) ?? [];
  return token ?? "";
}

/** The list with its items unread; undefined when the answer is no protobuf. */
function protobufList(body: Buffer, broken: () => Error): Readonly<Record<string, unknown>> | undefined {
  return orElse(broken, () => {
    const envelope = openEnvelope(body);
    if (envelope === undefined) return undefined;
    if (!envelope.kind.endsWith("List")) throw broken();
    return decodeMessage(envelope.message, LIST_FIELDS);
  });
}

function protobufPage(list: Readonly<Record<string, unknown>>, fields: Fields, broken: () => Error): Page {
  const metadata = asRecord(list["metadata"]);
  const token = asText(metadata?.["continue"]) ?? "";
  const read = (): PageContent => {
    const bytes = asList(list["items"]) as readonly Buffer[];
    return {
      items: bytes.map((item) => decodeItem(item, fields)),
      bytes,
      token,
      resourceVersion: asText(metadata?.["resourceVersion"]) ?? "",
    };
  };
  return { earlyToken: token, read: () => orElse(broken, read) };
}

function orElse<T>(broken: () => Error, work: () => T): T {
  try {
    return work();
  } catch {
    throw broken();
  }
}
