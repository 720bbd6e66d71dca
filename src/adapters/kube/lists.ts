import { KubeError } from "../../model/errors.ts";
import type { ClusterChange } from "../../ports/cluster.ts";
import type { Answer, Call, Connection, Receive } from "./call.ts";
import { type Page, PageReader } from "./list-page.ts";
import { type Fields, PROTOBUF_OR_JSON } from "./protobuf.ts";
import { compareVersions, type Identity, type StoreRules } from "./watch/watched-store.ts";

const PAGE_SIZE = 500;

/** A list to read whole. */
export interface PagedRequest<T> {
  readonly resource: Call["resource"];
  /** Path without query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** What is read of an item in protobuf, in which the list is then asked for; for built-in objects only. Absent: JSON. */
  readonly fields?: Fields;
  /** True where the first page is enough. Absent = all pages are read. */
  readonly isFirstPage?: true;
  /** How many items a page has; absent = as many as is quickest for all of them. */
  readonly pageSize?: number;
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
  /** The answer of a call that succeeded, without what `receive` took of its body. */
  readonly send: (call: Call, receive?: Receive) => Promise<Answer>;
}

/**
 * Every object of a list, projected, in the server's order: one consistent state of the cluster, read page by page, two at a time. A list
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
  let page: PageInFlight<T> | undefined = new PageInFlight(source, request, "");
  while (page !== undefined) {
    page.lead();
    const { items, token, resourceVersion }: Page<T> = await page.content;
    first ??= resourceVersion;
    for (const { identity, facts } of items) if (kept.isNews(identity)) kept.put(identity, facts);
    page = token === "" || request.isFirstPage === true ? undefined : page.next(token);
  }
  return { items: kept.items(), resourceVersion: first ?? "" };
}

/**
 * A page that travels. The first of those that are under way, the leader, asks for the next one as soon as it says where that begins, which is long before its own end:
 * the server makes one page while the other one is read. A try that breaks off is repeated from its start, and may say another place then.
 */
class PageInFlight<T> {
  readonly content: Promise<Page<T>>;
  readonly #source: PageSource;
  readonly #request: PagedRequest<T>;
  #isLeader = false;
  /** Where the next page begins, as far as that has shown; `""` until then. */
  #token = "";
  #ahead: { readonly token: string; readonly page: PageInFlight<T> } | undefined;

  constructor(source: PageSource, request: PagedRequest<T>, token: string) {
    this.#source = source;
    this.#request = request;
    this.content = this.#read(pageCall(request, token));
    // Its rejection is seen when it is awaited; until then, or if the page before turns out broken, it must not end the process.
    this.content.catch(() => undefined);
  }

  /** Makes it the leader. */
  lead(): void {
    this.#isLeader = true;
    this.#goAhead();
  }

  /** The page that begins there: the one that is under way already, or a new one. */
  next(token: string): PageInFlight<T> {
    return this.#ahead?.token === token ? this.#ahead.page : new PageInFlight(this.#source, this.#request, token);
  }

  async #read(call: Call): Promise<Page<T>> {
    const { fields, project } = this.#request;
    const { connection } = this.#source;
    const ahead = (token: string): void => {
      this.#token = token;
      this.#goAhead();
    };
    let reader = new PageReader<T>({ call, connection, fields, project, ahead });
    const receive: Receive = () => {
      reader = new PageReader<T>({ call, connection, fields, project, ahead });
      return (chunk) => reader.take(chunk);
    };
    const answer = await this.#source.send(call, receive);
    if (answer.body.length > 0) reader.take(answer.body);
    return reader.end(answer);
  }

  #goAhead(): void {
    const token = this.#token;
    if (!this.#isLeader || token === "" || this.#request.isFirstPage === true || this.#ahead?.token === token) return;
    this.#ahead = { token, page: new PageInFlight(this.#source, this.#request, token) };
  }
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
