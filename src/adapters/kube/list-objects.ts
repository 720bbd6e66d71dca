import { KubeError } from "../../model/errors.ts";
import { answerJSON, malformed } from "./answer-json.ts";
import type { Call } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./exchange.ts";
import { asRecord, asText } from "./json-value.ts";
import { stripManagedFields } from "./strip-managed-fields.ts";

const PAGE_SIZE = 500;
const ITEMS = Buffer.from('"items":[');

/** A list to read whole. */
export interface ListRequest<T> {
  readonly resource: Call["resource"];
  /** Path without query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** True for nodes and pods only: their `managedFields` are dropped before parsing. */
  readonly isStripped: boolean;
  /** What is kept of an item; undefined drops it. Called page by page, so that a big list is never in memory whole. */
  readonly project: (item: unknown) => T | undefined;
}

/** What the list needs of a transport: reading. */
export interface PageSource {
  readonly connection: Connection;
  readonly send: (call: Call) => Promise<Answer>;
}

/**
 * Every object of a list, projected, in the server's order: one consistent state of the cluster, read in pages of 500. A list
 * that expires between two pages (410) is read once more from the start.
 * @throws KubeError when any page cannot be read: part of a list is never returned.
 */
export async function listObjects<T>(source: PageSource, request: ListRequest<T>): Promise<T[]> {
  try {
    return await readPages(source, request);
  } catch (error) {
    if (!(error instanceof KubeError && error.failure === "gone")) throw error;
    return await readPages(source, request);
  }
}

async function readPages<T>(source: PageSource, request: ListRequest<T>): Promise<T[]> {
  const kept: T[] = [];
  let next: Promise<Answer> | undefined = source.send(pageCall(request, ""));
  while (next !== undefined) {
    const answer: Answer = await next;
    const body = request.isStripped ? stripManagedFields(answer.body) : answer.body;
    // The next page travels while this one is parsed; where the token stands at the end, it is asked for afterwards.
    const early = continueBeforeItems(body);
    const ahead = early === "" ? undefined : quiet(source.send(pageCall(request, early)));
    const page = decodePage(source, request, { ...answer, body });
    keep(kept, page.items, request.project);
    next = page.token === "" ? undefined : (ahead ?? source.send(pageCall(request, page.token)));
  }
  return kept;
}

function keep<T>(kept: T[], items: readonly unknown[], project: (item: unknown) => T | undefined): void {
  for (const item of items) {
    const projected = project(item);
    if (projected !== undefined) kept.push(projected);
  }
}

/** Its rejection is seen when it is awaited; until then, or if this page turns out broken, it must not end the process. */
function quiet(answer: Promise<Answer>): Promise<Answer> {
  answer.catch(() => undefined);
  return answer;
}

function pageCall<T>(request: ListRequest<T>, token: string): Call {
  const query = new URLSearchParams({ ...request.query, limit: String(PAGE_SIZE) });
  if (token !== "") query.set("continue", token);
  return { method: "GET", path: `${request.path}?${query}`, verb: "list", resource: request.resource, subject: "" };
}

/** `metadata.continue` where metadata comes before items, as in lists of built-in objects; `""` when it is not there. */
function continueBeforeItems(body: Buffer): string {
  const end = body.indexOf(ITEMS);
  const head = end < 0 ? "" : body.subarray(0, end).toString("utf8");
  const [, token] = /"continue":("(?:[^"\\]|\\.)*")/.exec(head) ?? [];
  return token === undefined ? "" : (JSON.parse(token) as string);
}

function decodePage<T>(
  source: PageSource,
  request: ListRequest<T>,
  answer: Answer,
): { readonly items: readonly unknown[]; readonly token: string } {
  const call = pageCall(request, "");
  const list = asRecord(answerJSON(call, answer, source.connection));
  const metadata = asRecord(list?.["metadata"]);
  // Go writes an empty list as null in places.
  const items = list?.["items"] === null ? [] : list?.["items"];
  if (metadata === undefined || !Array.isArray(items)) {
    throw malformed(call, source.connection, { status: answer.status, why: "the answer is not a list" });
  }
  return { items, token: asText(metadata["continue"]) ?? "" };
}
