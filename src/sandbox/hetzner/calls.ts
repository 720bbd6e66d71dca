import type { SandboxRequest } from "../http-server.ts";
import { type APIObject, membersOf, pageOf, Refusal } from "../provider.ts";
import type { ActionState, ProjectState } from "./project-state.ts";

/** One request, with what its answer needs. */
export interface Call {
  readonly state: ProjectState;
  readonly request: SandboxRequest;
  readonly nowMs: number;
}

/** Status and body of an answer. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** Answers with a page of a list. */
export function listAnswer(
  key: string,
  items: readonly APIObject[],
  { state, request }: Call,
  most: number = 50,
): Answer {
  const { items: shown, page, size, total, pages } = pageOf(items, request.query, { usual: 25, most });
  const next = page < pages ? page + 1 : null;
  const totals = state.settings.tells_totals
    ? { last_page: Math.max(1, pages), total_entries: total }
    : { last_page: null, total_entries: null };
  const pagination = { page, per_page: size, previous_page: page > 1 ? page - 1 : null, next_page: next, ...totals };
  return { status: 200, body: { [key]: shown, meta: { pagination } } };
}

/** The members of the body. @throws Refusal 400 where there are none, 422 for a member that is not among `known` */
export function bodyOf({ request }: Call, known: readonly string[]): APIObject {
  const members = membersOf(request.body);
  if (members === undefined) throw new Refusal(400, "json_error", "the request body is no JSON object");
  const strange = Object.keys(members).find((key) => !known.includes(key));
  if (strange !== undefined)
    throw new Refusal(422, "invalid_input", `invalid input in field '${strange}': unknown field`);
  return members;
}

/** An action as the API shows it. */
export function actionJSON({
  id,
  command,
  status,
  started,
  ends,
  floating_ip: ip,
  server,
  zone,
  firewall,
}: ActionState): APIObject {
  const resources = [
    ...(server == null ? [] : [{ id: server, type: "server" }]),
    ...(ip === undefined ? [] : [{ id: ip, type: "floating_ip" }]),
    ...(firewall === undefined ? [] : [{ id: firewall, type: "firewall" }]),
    ...(zone === undefined ? [] : [{ id: zone, type: "zone" }]),
  ];
  return {
    ...{ id, command, status, progress: status === "running" ? 0 : 100, started },
    finished: status === "running" ? null : ends,
    resources,
    error: status === "error" ? { code: "action_failed", message: "Action failed" } : null,
  };
}
