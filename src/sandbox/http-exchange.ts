/** One request as an emulated API sees it. */
export interface SandboxRequest {
  /** Upper-case. */
  readonly method: string;
  /** Decoded, without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined when there is no body. */
  readonly body: unknown;
  /** Why the body could not be parsed; such a request is answered 400 before it reaches the API. */
  readonly malformed?: string;
}

/** One answer: a whole body, or a stream of chunks. */
export type SandboxReply =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** JSON-encoded unless it is a string or Buffer; undefined = no body. */
      readonly body?: unknown;
      /** Default `application/json` when there is a body. */
      readonly contentType?: string;
    }
  | {
      readonly status: number;
      readonly contentType: string;
      /** Writes chunks until the stream is over; `ended` is aborted when the client or the server goes away. */
      readonly stream: (write: (chunk: string) => void, ended: AbortSignal) => Promise<void>;
    };
