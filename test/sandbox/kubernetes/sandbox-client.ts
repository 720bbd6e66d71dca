import type { SandboxReply, SandboxRequest } from "../../../src/sandbox/http-server.ts";
import type { KubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";

/** A Kubernetes answer as far as tests look into one. */
export interface Answer {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly continue?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly items?: readonly Answer[];
}

/** Requests to a sandbox without HTTP. */
export class SandboxClient {
  readonly sandbox: KubernetesSandbox;

  constructor(sandbox: KubernetesSandbox) {
    this.sandbox = sandbox;
  }

  /** One request; the status and the body, which is what the caller says it is. */
  send(method: string, path: string, body?: unknown): { readonly status: number; readonly body: Answer } {
    const reply = this.sandbox.handle(requestOf(method, path, body));
    if (!("body" in reply)) throw new Error(`${method} ${path} is answered by a stream`);
    return { status: reply.status, body: JSON.parse(JSON.stringify(reply.body)) as Answer };
  }

  /** One request that succeeds; its body. @throws Error with the answer when it does not */
  call(method: string, path: string, body?: unknown): Answer {
    const answer = this.send(method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`);
    return answer.body;
  }

  /** The names of a list. */
  names(path: string): readonly string[] {
    return (this.call("GET", path).items ?? []).map((item) => item.metadata.name);
  }

  /** The stream of a watch. */
  watch(path: string): Extract<SandboxReply, { readonly stream: unknown }>["stream"] {
    const reply = this.sandbox.handle(requestOf("GET", path, undefined));
    if (!("stream" in reply)) throw new Error(`${path} is not answered by a stream: ${JSON.stringify(reply)}`);
    return reply.stream;
  }
}

function requestOf(method: string, path: string, body: unknown): SandboxRequest {
  const url = new URL(path, "http://localhost");
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = body === undefined ? {} : { "content-type": type };
  return { method, path: decodeURIComponent(url.pathname), query: url.searchParams, headers, body };
}
