import type { SandboxRequest } from "../../../src/sandbox/http-server.ts";
import type { KubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import type { APICase, Step } from "./api-case.ts";

/** Sends one request to some API server. */
export type Send = (step: Required<Step>) => Promise<{ readonly status: number; readonly body: unknown }>;

/** What stands for `NS` and `ID` of the cases. */
export interface Names {
  readonly namespace: string;
  readonly id: string;
}

/** Runs a case and returns what the last answer shows, as text with the names of the case put back. */
export async function runCase({ steps, show }: APICase, send: Send, names: Names): Promise<string> {
  let text = "";
  for (const step of steps) {
    const contentType =
      step.contentType ?? (step.method === "PATCH" ? "application/merge-patch+json" : "application/json");
    const answer = await send(
      fill(
        {
          method: step.method,
          path: step.path,
          body: step.body,
          contentType,
          accept: step.accept ?? "application/json",
        },
        names,
      ),
    );
    text = `${answer.status} ${describe(answer.body, show)}`;
  }
  const uid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return text.replaceAll(names.namespace, "NS").replaceAll(names.id, "ID").replaceAll(uid, "UID");
}

function fill(step: Required<Step>, { namespace, id }: Names): Required<Step> {
  const put = (text: string): string => text.replaceAll("NS", namespace).replaceAll("ID", id);
  const body = step.body === undefined ? undefined : JSON.parse(put(JSON.stringify(step.body)));
  return { ...step, path: put(step.path), body };
}

function describe(body: unknown, show: readonly string[] | undefined): string {
  if (typeof body === "string") return body.trim();
  if (show === undefined) return `${String(at(body, "reason"))}: ${String(at(body, "message"))}`;
  return show.map((path) => `${path}=${canonical(at(body, path))}`).join(" ");
}

function at(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce((current: unknown, key) => (current as Record<string, unknown> | undefined)?.[key], value);
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    member !== null && typeof member === "object" && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Sends to a sandbox, without HTTP. */
export function sandboxSend(sandbox: KubernetesSandbox): Send {
  return async ({ method, path, body, contentType, accept }) => {
    const url = new URL(path, "http://localhost");
    const request: SandboxRequest = {
      method,
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: { "content-type": contentType, accept },
      body,
    };
    const reply = sandbox.handle(request);
    return { status: reply.status, body: "body" in reply ? JSON.parse(JSON.stringify(reply.body)) : undefined };
  };
}
