import { KubeError } from "../../model/errors.ts";
import { openEnvelope } from "../../model/protobuf.ts";
import type { ClusterChange } from "../../ports/cluster.ts";
import type { Answer, Call, Connection } from "./call.ts";
import { answerJSON, malformed } from "./failures.ts";
import { asList, asRecord, asText } from "./json.ts";
import { decodeItem, decodeMessage, type Fields, PROTOBUF_OR_JSON } from "./protobuf.ts";
import { compareVersions, type Identity, identityOf, type StoreRules } from "./watch/watched-store.ts";

const PAGE_SIZE = 500;

/** A list to read whole. */
export interface PagedRequest<T> {
  readonly resource: Call["resource"];
  /** Path without query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** What is read of an item in protobuf, in which the list is then asked for; for built-in objects only. Absent: JSON. */
  readonly fields?: Fields;
  /** Objects per page; default 500. */
  readonly pageSize?: number;
  /** True where the first page is enough. Absent = all pages are read. */
  readonly isFirstPage?: true;
  /** What is kept of an item, as JSON or as decoded from protobuf; undefined drops it. Called page by page, so that a big list is never in memory whole. */
  readonly project: (item: unknown, bytes?: Buffer) => T | undefined;
}

/** One kind of list that flipop reads, or reads once and then watches. */
export interface ListRequest<T> extends PagedRequest<T> {
  readonly kind: ClusterChange["kind"];
  /** How its items are sorted; absent = not at all. */
  readonly order?: (a: T, b: T) => number;
  /** What of an item counts as a change. */
  readonly rules: StoreRules<T>;
  /** True for a refusal of what the list asks for, while the server answers others; absent = there is no such refusal. */
  readonly isRefused?: (error: unknown) => boolean;
  /** The same facts at another resourceVersion; given for kinds whose objects are written again and again without a change, so that a watch need not read them then. */
  readonly atVersion?: (facts: T, resourceVersion: string) => T;
}

/** A list as it was at one moment. */
export interface Listing<T> {
  /** Projected, in the server's order. */
  readonly items: T[];
  /** The moment, for a watch that goes on from there; `""` where the server names none. */
  readonly resourceVersion: string;
}

/** What the list needs of a transport: reading. */
export interface PageSource {
  readonly connection: Connection;
  readonly send: (call: Call) => Promise<Answer>;
}

/**
 * Every object of a list, projected, in the server's order: one consistent state of the cluster, read page by page. A list
 * that expires between two pages (410) is read once more from the start. If two items have one name, the newer one counts.
 * @throws KubeError when any page cannot be read, or the name of an item: part of a list is never returned.
 */
export async function listObjects<T>(source: PageSource, request: PagedRequest<T>): Promise<Listing<T>> {
  try {
    return await readPages(source, request);
  } catch (error) {
    if (!(error instanceof KubeError && error.failure === "gone")) throw error;
    return await readPages(source, request);
  }
}

async function readPages<T>(source: PageSource, request: PagedRequest<T>): Promise<Listing<T>> {
  const kept = new Kept<T>();
  let first: string | undefined;
  let next: Promise<Answer> | undefined = source.send(pageCall(request, ""));
  while (next !== undefined) {
    const call = pageCall(request, "");
    const answer = await next;
    const page = openPage(call, answer, source.connection, request.fields);
    // The next page travels while this one is read; where the token stands at the end, it is asked for afterwards.
    const isAlone = page.earlyToken === "" || request.isFirstPage === true;
    const ahead = isAlone ? undefined : quiet(source.send(pageCall(request, page.earlyToken)));
    const { items, bytes, token, resourceVersion } = page.read();
    first ??= resourceVersion;
    const take = (item: unknown, index: number): void => {
      const identity = identityOf(item);
      // To the planner, an object that is not in the list is gone.
      if (identity === undefined) throw nameless(call, answer, source.connection);
      if (kept.isNews(identity)) kept.put(identity, request.project(item, bytes?.[index]));
    };
    items.forEach(take);
    const isLast = token === "" || request.isFirstPage === true;
    next = isLast ? undefined : (ahead ?? source.send(pageCall(request, token)));
  }
  return { items: kept.items(), resourceVersion: first ?? "" };
}

/** Collects the items of a list; keeps the newer of two items with one name. */
class Kept<T> {
  readonly #places = new Map<string, number>();
  readonly #versions: string[] = [];
  readonly #items: (T | undefined)[] = [];

  isNews({ key, version }: Identity): boolean {
    const place = this.#places.get(key);
    return place === undefined || (compareVersions(version, this.#versions[place] ?? "") ?? 1) > 0;
  }

  put({ key, version }: Identity, item: T | undefined): void {
    const place = this.#places.get(key) ?? this.#items.length;
    this.#places.set(key, place);
    this.#versions[place] = version;
    this.#items[place] = item;
  }

  items(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

function nameless(call: Call, { status }: Answer, connection: Connection): Error {
  return malformed(call, connection, { status, why: "an item of the list has no name that can be read" });
}

/** Its rejection is seen when it is awaited; until then, or if this page turns out broken, it must not end the process. */
function quiet(answer: Promise<Answer>): Promise<Answer> {
  answer.catch(() => undefined);
  return answer;
}

function pageCall<T>(request: PagedRequest<T>, token: string): Call {
  const query = new URLSearchParams({ ...request.query, limit: String(request.pageSize ?? PAGE_SIZE) });
  if (token !== "") query.set("continue", token);
  const call: Call = {
    method: "GET",
    path: `${request.path}?${query}`,
    verb: "list",
    resource: request.resource,
    subject: "",
  };
  return request.fields === undefined ? call : { ...call, accept: PROTOBUF_OR_JSON };
}

const ITEMS = Buffer.from('"items":[');

/** The objects of one page, and where the next one begins: `""` after the last. */
interface PageContent {
  readonly items: readonly unknown[];
  /** The same undecoded, where they came in protobuf. */
  readonly bytes?: readonly Buffer[];
  readonly token: string;
  /** Of the state that all pages show; `""` where the server names none. */
  readonly resourceVersion: string;
}

/** One page of a list as it arrived. */
interface Page {
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
function openPage(call: Call, answer: Answer, connection: Connection, fields: Fields | undefined): Page {
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

const LIST_META: Fields = { 2: { name: "resourceVersion", kind: "text" }, 3: { name: "continue", kind: "text" } };

/** Any list: its items are left as bytes, to be read one by one. */
const LIST_FIELDS: Fields = {
  1: { name: "metadata", kind: "message", fields: LIST_META },
  2: { name: "items", kind: "list" },
};

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

const MEMBER = Buffer.from(',"managedFields":[');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Removes every `managedFields` list from a compact JSON text, in place, and returns the shorter view of the same bytes: a
 * third of a node or pod list is bookkeeping that would be parsed for nothing. No string value can contain the member's
 * unescaped quotation marks, so only members of that name are hit; in nodes and pods these are always metadata. Not for
 * custom resources, whose specs may have such a list. Text that ends within a list stays broken, for the parser to refuse.
 */
export function stripManagedFields(json: Buffer): Buffer {
  let start = json.indexOf(MEMBER);
  if (start < 0) return json;
  let kept = start;
  while (start >= 0) {
    const end = endOfList(json, start + MEMBER.length);
    if (end < 0) return Buffer.concat([json.subarray(0, kept), json.subarray(start)]);
    const next = json.indexOf(MEMBER, end);
    const stop = next < 0 ? json.length : next;
    json.copyWithin(kept, end, stop);
    kept += stop - end;
    start = next;
  }
  return json.subarray(0, kept);
}

/** Index after the bracket that closes the list whose inside begins at `from`; -1 when there is none. */
function endOfList(json: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACKET && --depth === 0) return at + 1;
  }
  return -1;
}

/** Index of the quotation mark that ends the string whose inside begins at `from`; the length when there is none. */
function endOfString(json: Buffer, from: number): number {
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}
