import { KubeError } from "../../model/errors.ts";
import { malformed } from "./answer-json.ts";
import type { Call } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./exchange.ts";
import { openPage } from "./list-page.ts";
import { PROTOBUF_OR_JSON } from "./protobuf-envelope.ts";
import type { Fields } from "./protobuf-message.ts";
import { compareVersions } from "./watch/compare-versions.ts";
import { type Identity, identityOf } from "./watch/sighting.ts";

const PAGE_SIZE = 500;

/** A list to read whole. `project` gets each item as JSON, or as decoded from protobuf, together with its bytes. */
export interface ListRequest<T> {
  readonly resource: Call["resource"];
  /** Path without query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** What is read of an item in protobuf, in which the list is then asked for; for built-in objects only. Absent: JSON. */
  readonly fields?: Fields;
  /** Objects per page; default 500. */
  readonly pageSize?: number;
  /** What is kept of an item; undefined drops it. Called page by page, so that a big list is never in memory whole. */
  readonly project: (item: unknown, bytes?: Buffer) => T | undefined;
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
export async function listObjects<T>(source: PageSource, request: ListRequest<T>): Promise<Listing<T>> {
  try {
    return await readPages(source, request);
  } catch (error) {
    if (!(error instanceof KubeError && error.failure === "gone")) throw error;
    return await readPages(source, request);
  }
}

async function readPages<T>(source: PageSource, request: ListRequest<T>): Promise<Listing<T>> {
  const kept = new Kept<T>();
  let first: string | undefined;
  let next: Promise<Answer> | undefined = source.send(pageCall(request, ""));
  while (next !== undefined) {
    const call = pageCall(request, "");
    const answer = await next;
    const page = openPage(call, answer, source.connection, request.fields);
    // The next page travels while this one is read; where the token stands at the end, it is asked for afterwards.
    const ahead = page.earlyToken === "" ? undefined : quiet(source.send(pageCall(request, page.earlyToken)));
    const { items, bytes, token, resourceVersion } = page.read();
    first ??= resourceVersion;
    const take = (item: unknown, index: number): void => {
      const identity = identityOf(item);
      // To the planner, an object that is not in the list is gone.
      if (identity === undefined) throw nameless(call, answer, source.connection);
      if (kept.isNews(identity)) kept.put(identity, request.project(item, bytes?.[index]));
    };
    items.forEach(take);
    next = token === "" ? undefined : (ahead ?? source.send(pageCall(request, token)));
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

function pageCall<T>(request: ListRequest<T>, token: string): Call {
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
