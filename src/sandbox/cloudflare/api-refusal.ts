/** One error of an envelope: code and message as Cloudflare words them, with what lies behind it. */
export interface APIErrorEntry {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly APIErrorEntry[];
}

/** An answer of the emulated API that is not a success: status, the errors of its envelope, and perhaps when to come back. */
export class APIRefusal extends Error {
  override readonly name: string = "APIRefusal";
  readonly status: number;
  readonly errors: readonly APIErrorEntry[];
  /** Seconds, for the `retry-after` header. */
  readonly retryAfterSeconds?: number;

  constructor(status: number, errors: readonly APIErrorEntry[], retryAfterSeconds?: number) {
    super(errors.map((error) => error.message).join("; "));
    this.status = status;
    this.errors = errors;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An answer with one error. */
export function refusal(status: number, code: number, message: string): APIRefusal {
  return new APIRefusal(status, [{ code, message }]);
}

/** 400 for a record that is not valid; only the chain says why. */
export function invalidRecord(code: number, message: string): APIRefusal {
  return new APIRefusal(400, [{ code: 1004, message: "DNS Validation Error", error_chain: [{ code, message }] }]);
}

/** 404 for a path that leads nowhere: a zone that does not exist, too. */
export function noRoute(path: string): APIRefusal {
  return new APIRefusal(404, [
    { code: 7003, message: `Could not route to ${path}, perhaps your object identifier is invalid?` },
    { code: 7000, message: "No route for that URI" },
  ]);
}

/** 404 for a record that does not exist. */
export function noRecord(): APIRefusal {
  return refusal(404, 81_044, "Record does not exist.");
}
