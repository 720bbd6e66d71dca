import type { APIObject } from "./api-json.ts";
import type { Caller } from "./caller.ts";
import type { Cloud } from "./cloud.ts";

/** What a route is given. */
export interface RouteCall {
  readonly cloud: Cloud;
  readonly caller: Caller;
  /** The variable parts of the path, in order. */
  readonly parts: readonly string[];
  readonly body: unknown;
  readonly query: URLSearchParams;
  /** `http://HOST`, for the links of the answer. */
  readonly origin: string;
  /** The whole address of the request, without query. */
  readonly url: string;
}

/** What a route answers when nothing is wrong. */
export interface RouteAnswer {
  readonly status: number;
  readonly body?: APIObject;
}

/** One operation of the API: the path's groups become the parts of the call. */
export type Route = readonly [method: string, path: RegExp, answer: (call: RouteCall) => RouteAnswer];

/** 200 with this body. */
export function ok(body: APIObject): RouteAnswer {
  return { status: 200, body };
}
