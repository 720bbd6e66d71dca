import type { KubeError } from "../../model/errors.ts";
import { MalformedMessage } from "../../model/protobuf.ts";
import type { Answer, Call, Connection } from "./call.ts";
import { answerJSON, malformed } from "./failures.ts";
import { asRecord, asText } from "./json.ts";
import { isProtobuf, ListSplitter } from "./list-splitter.ts";
import { decodeItem, decodeMessage, type Fields } from "./protobuf.ts";
import { type Identity, identityOf } from "./watch/watched-store.ts";

/** One page of a list. */
export interface Page<T> {
  /** In the server's order. `facts` is undefined for what does not count. */
  readonly items: readonly { readonly identity: Identity; readonly facts: T | undefined }[];
  /** Where the next page begins; `""` after the last. */
  readonly token: string;
  /** Of the state that all pages show; `""` where the server names none. */
  readonly resourceVersion: string;
}

/** How a page is read. */
export interface PageRules<T> {
  readonly call: Call;
  readonly connection: Connection;
  /**
   * What is read of an item in protobuf. Given for built-in objects only, whose JSON, where the server has nothing else, is freed of `managedFields` before it is parsed.
   */
  readonly fields: Fields | undefined;
  /** What is kept of an item, as JSON or as decoded from protobuf. */
  readonly project: (item: unknown, bytes?: Buffer) => T | undefined;
  /** Told where the next page begins, as soon as that shows, unless it shows only with the items or this page is the last. */
  readonly ahead: (token: string) => void;
}

const LIST_META: Fields = { 2: { name: "resourceVersion", kind: "text" }, 3: { name: "continue", kind: "text" } };
const LIST_KIND = /List$/;

/** Reads one page, in the encoding the server chose: protobuf while it arrives, JSON when it is there. */
export class PageReader<T> {
  readonly #rules: PageRules<T>;
  #start: Buffer = Buffer.alloc(0);
  #splitter: ListSplitter | undefined;
  readonly #json: Buffer[] = [];
  #failure: { readonly error: unknown } | undefined;
  readonly #items: { readonly identity: Identity; readonly facts: T | undefined }[] = [];
  #metadata: Readonly<Record<string, unknown>> | undefined;
  #isList = false;

  constructor(rules: PageRules<T>) {
    this.#rules = rules;
  }

  /** Takes the next piece of the page. Never throws: {@link end} does. */
  take(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    try {
      this.#take(chunk);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** The page, whose answer this was. @throws KubeError `malformed` when it is no list, is cut off, or has an item without a name */
  end(answer: Pick<Answer, "status" | "headers">): Page<T> {
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      return this.#splitter === undefined ? this.#fromJSON(answer) : this.#fromProtobuf(this.#splitter);
    } catch (error) {
      if (error instanceof NamelessItem)
        throw this.#malformed(answer, "an item of the list has no name that can be read");
      if (error instanceof MalformedMessage) throw this.#malformed(answer, "the answer is not a list");
      throw error;
    }
  }

  #take(chunk: Buffer): void {
    const { fields } = this.#rules;
    if (this.#splitter !== undefined) this.#splitter.push(chunk);
    else if (fields === undefined || this.#json.length > 0) this.#json.push(chunk);
    else this.#begin(chunk, fields);
  }

  #begin(chunk: Buffer, fields: Fields): void {
    this.#start = Buffer.concat([this.#start, chunk]);
    const isPacked = isProtobuf(this.#start);
    if (isPacked === undefined) return;
    if (!isPacked) this.#json.push(this.#start);
    else {
      this.#splitter = this.#open(fields);
      this.#splitter.push(this.#start);
    }
  }

  #open(fields: Fields): ListSplitter {
    return new ListSplitter({
      takeKind: (kind) => {
        if (!LIST_KIND.test(kind)) throw new MalformedMessage(`${kind} is no list`);
        this.#isList = true;
      },
      takeMetadata: (bytes) => {
        this.#metadata = decodeMessage(bytes, LIST_META);
        this.#goAhead(asText(this.#metadata["continue"]) ?? "");
      },
      takeItem: (bytes) => this.#add(decodeItem(bytes, fields), bytes),
    });
  }

  #fromProtobuf(splitter: ListSplitter): Page<T> {
    splitter.end();
    if (!this.#isList) throw new MalformedMessage("the answer names no kind");
    return this.#page(this.#metadata);
  }

  #fromJSON(answer: Pick<Answer, "status" | "headers">): Page<T> {
    const { call, connection, fields } = this.#rules;
    const whole = Buffer.concat(this.#json.length === 0 ? [this.#start] : this.#json);
    const body = fields === undefined ? whole : stripManagedFields(whole);
    this.#goAhead(continueBeforeItems(body));
    const list = asRecord(answerJSON(call, { ...answer, body }, connection));
    const metadata = asRecord(list?.["metadata"]);
    // Go writes an empty list as null in places.
    const items = list?.["items"] === null ? [] : list?.["items"];
    if (metadata === undefined || !Array.isArray(items)) throw new MalformedMessage("the answer is no list");
    for (const item of items) this.#add(item);
    return this.#page(metadata);
  }

  /** To the planner, an object that is not in the list is gone. */
  #add(item: unknown, bytes?: Buffer): void {
    const identity = identityOf(item);
    if (identity === undefined) throw new NamelessItem();
    this.#items.push({ identity, facts: this.#rules.project(item, bytes) });
  }

  #goAhead(token: string): void {
    if (token !== "") this.#rules.ahead(token);
  }

  #page(metadata: Readonly<Record<string, unknown>> | undefined): Page<T> {
    return {
      items: this.#items,
      token: asText(metadata?.["continue"]) ?? "",
      resourceVersion: asText(metadata?.["resourceVersion"]) ?? "",
    };
  }

  #malformed({ status }: Pick<Answer, "status">, why: string): KubeError {
    return malformed(this.#rules.call, this.#rules.connection, { status, why });
  }
}

class NamelessItem extends Error {
  override readonly name = "NamelessItem";
}

const ITEMS = Buffer.from('"items":[');

/** `metadata.continue` where metadata comes before items, as in lists of built-in objects; `""` when it is not there. A token that is not base64 counts as absent. */
function continueBeforeItems(body: Buffer): string {
  const end = body.indexOf(ITEMS);
  const head = end < 0 ? "" : body.subarray(0, end).toString("utf8");
  const [, token] = /"continue":"([\w=+/-]*)"/.exec(head) ?? [];
  return token ?? "";
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
