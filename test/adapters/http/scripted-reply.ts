import type { ServerResponse } from "node:http";

/** What a scripted server does with one request. */
export interface ScriptedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with the content type of `headers`. */
  readonly text?: string;
  /** `drop`: closes without a byte; `cut`: closes in the middle of the body; the others never end. */
  readonly fault?: "drop" | "cut" | "stall" | "stall-body";
  /** Waited for before anything is sent. */
  readonly after?: Promise<void>;
}

/** Sends a reply, or as much of it as its fault leaves, once `after` is over. */
export async function sendReply(response: ServerResponse, reply: ScriptedReply): Promise<void> {
  const { status = 200, headers = {}, json, text, fault } = reply;
  await reply.after;
  if (fault === "stall") return;
  if (fault === "drop") {
    response.destroy();
    return;
  }
  const body = text ?? (json === undefined ? "" : JSON.stringify(json));
  const type = json === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  if (fault === undefined) {
    response.writeHead(status, { ...type, ...headers }).end(body);
    return;
  }
  response.writeHead(status, { ...type, "content-length": String(body.length), ...headers });
  response.write(body.slice(0, Math.ceil(body.length / 2)), () => {
    if (fault === "cut") response.destroy();
  });
}
