import { ConfigError, KubeError, type KubeFailure } from "../../model/errors.ts";
import { openEnvelope } from "../../model/protobuf.ts";
import { GROUP } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { ProxyFailure } from "../http/agents.ts";
import { type Answer, type Call, type Connection, qualifiedResource } from "./call.ts";
import { asRecord, asText } from "./json.ts";
import { decodeMessage, STATUS_FIELDS } from "./protobuf.ts";

// What is thrown when a call was answered with a refusal. Texts: what failed, on what, why, what to do.

const MAX_QUOTED = 1000;

const BY_STATUS: Readonly<Record<number, KubeFailure>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  408: "timeout",
  409: "conflict",
  410: "gone",
  429: "rate-limited",
};

/** A KubeError about a call. @param why one clause, without a full stop. @param fix whole sentences, or `""`. */
export function kubeError(
  call: Call,
  failure: KubeFailure,
  facts: { readonly status: number; readonly why: string; readonly fix: string; readonly cause?: unknown },
): KubeError {
  const operation = `${call.verb} ${qualifiedResource(call)}`;
  const subject = call.subject === "" ? "" : ` ${call.subject}`;
  const code = facts.status === 0 ? "" : ` (${facts.status})`;
  const message = `Cannot ${operation}${subject}: ${facts.why}${code}.${facts.fix === "" ? "" : ` ${facts.fix}`}`;
  const options = facts.cause === undefined ? undefined : { cause: facts.cause };
  return new KubeError({ failure, operation, subject: call.subject, status: facts.status, message }, options);
}

/** The KubeError for an answer that is not a success: what the server said, and what to do about it. Pure. */
export function callFailure(call: Call, answer: Answer, connection: Connection): KubeError {
  const redact = (text: string): string => connection.secrets?.redactQuoted(text) ?? text;
  const said = statusOf(answer.body, redact);
  const failure = failureOf(call, answer.status, said);
  const why = said?.message ?? whyWithoutStatus(answer, redact);
  return kubeError(call, failure, { status: answer.status, why, fix: fixOf(call, failure, connection, why) });
}

interface StatusFacts {
  readonly message: string;
  readonly reason: string;
}

/** What a Kubernetes `Status` body says; undefined for every other body, which is never quoted. */
function statusOf(body: Buffer, redact: (text: string) => string): StatusFacts | undefined {
  const status = parse(body);
  if (status === undefined) return undefined;
  const reason = asText(status["reason"]) ?? "";
  // Before the cut: a part of a secret is not found any more.
  const quoted = redact(asText(status["message"]) ?? reason).slice(0, MAX_QUOTED);
  const message = plain(quoted).replace(/[\s.]+$/, "");
  return message === "" ? undefined : { message, reason };
}

/** The members of a `Status`, which comes in the encoding the call asked for. */
function parse(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const envelope = openEnvelope(body);
    if (envelope?.kind === "Status") return decodeMessage(envelope.message, STATUS_FIELDS);
    const object = asRecord(JSON.parse(body.toString("utf8")));
    return object?.["kind"] === "Status" ? object : undefined;
  } catch {
    return undefined;
  }
}

function failureOf(call: Call, status: number, said: StatusFacts | undefined): KubeFailure {
  if (status === 409 && said?.reason === "AlreadyExists") return "already-exists";
  if (DENIED_BY.has(status) && isDenied(said)) return isTerminating(said) ? "terminating" : "denied";
  if (status === 404 && isResourceMissing(call, said)) return "missing-resource";
  if (status >= 500) return "unavailable";
  if (status < 400) return "malformed";
  return BY_STATUS[status] ?? "invalid";
}

/** The statuses with which admission refuses an object and which elsewhere speak of more than the object. A webhook chooses its own. */
const DENIED_BY: ReadonlySet<number> = new Set([401, 403, 404, 409]);

/** What stands in a refusal by an admission webhook or a ValidatingAdmissionPolicy. */
const BY_ADMISSION = /^admission webhook "| denied (?:the )?request\b/;

/**
 * True if a refusal is about the object of the call alone. An authorizer names the user who may not do it. Every other refusal comes from admission, and is about the object:
 *
 *   nodes "worker-1" is forbidden: User "flipop" cannot patch resource "nodes" in API group "" at the cluster scope     no permission
 *   nodes "worker-1" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: no          this node alone
 *   admission webhook "frozen.example.com" denied the request: no                                                       this node alone
 *
 * @see https://github.com/kubernetes/apiserver/blob/v0.35.4/pkg/endpoints/handlers/responsewriters/errors.go and
 * https://github.com/kubernetes/apiserver/blob/v0.35.4/pkg/admission/plugin/webhook/errors/statuserror.go, verified 2026-11-27
 */
function isDenied(said: StatusFacts | undefined): boolean {
  const message = said?.message ?? "";
  return BY_ADMISSION.test(message) || /" is forbidden: (?!User ")/.test(message);
}

/** True if the admission plugin NamespaceLifecycle refuses to create something in a namespace that is being deleted. */
function isTerminating(said: StatusFacts | undefined): boolean {
  return /\bnamespace \S+ .*\bis being terminated\b/.test(said?.message ?? "");
}

/** A server without the CRD answers in plain text, or with a Status about "the requested resource", but names no object. */
function isResourceMissing(call: Call, said: StatusFacts | undefined): boolean {
  if (call.resource.group !== GROUP) return false;
  return (
    call.verb === "list" ||
    call.verb === "watch" ||
    said === undefined ||
    said.message.includes("the requested resource")
  );
}

function whyWithoutStatus(answer: Answer, redact: (text: string) => string): string {
  if (answer.status < 400) return "the server redirects instead of answering";
  if (answer.status === 414 || answer.status === 431) return "the request's URL or headers are too long for the server";
  const type = answer.headers["content-type"]?.split(";", 1)[0];
  return type === undefined || type === "application/json" || type === "text/plain"
    ? "the server gives no reason"
    : `the answer is ${redact(type)}, not that of a Kubernetes API`;
}

function fixOf(call: Call, failure: KubeFailure, connection: Connection, why: string): string {
  switch (failure) {
    case "forbidden":
      return forbiddenFix(call, connection, why);
    case "denied":
      return DENIED_FIX;
    case "terminating":
      return "Wait until the namespace is gone, or use another.";
    case "unauthorized":
      return `The credentials of ${connection.source} are not accepted: log in again, or renew the token or certificate.`;
    case "missing-resource":
      return `The cluster lacks the CRD of ${call.resource.noun}s: kubectl apply -f cronjob/crds/${call.resource.plural}.yaml`;
    case "not-found":
      return call.verb === "create" ? `Create the namespace first: kubectl create namespace ${namespaceOf(call)}` : "";
    case "conflict":
      return "It was changed by someone else meanwhile; read it again.";
    case "gone":
      return "The list expired while it was read; try again.";
    case "rate-limited":
    case "unavailable":
    case "timeout":
      return "Try again later; if it stays so, look at the API server.";
    case "malformed":
      return `Check that ${connection.server} is the API server itself.`;
    case "invalid":
      return BY_ADMISSION.test(why) ? DENIED_FIX : "";
    case "already-exists":
      return "";
  }
}

const DENIED_FIX =
  "No permission is missing: a rule of the cluster refuses it for this object. Change the rule, or exempt flipop from it.";

function forbiddenFix(call: Call, connection: Connection, why: string): string {
  if (why.includes('User "system:anonymous"'))
    return `No credentials were given: set the user of ${connection.source}.`;
  return `Grant the verb "${call.verb}" on "${qualifiedResource(call)}" (see ${roleFile(call, why)}).`;
}

/** The file with the rule that is missing: of the host's agent, of what only `--watch` does, or of a run. */
function roleFile({ verb }: Call, why: string): string {
  if (why.includes(':flipop-host"')) return "cronjob/host/rbac.yaml";
  return verb === "watch" ? "cronjob/watch/rbac.yaml" : "cronjob/rbac.yaml";
}

function namespaceOf(call: Call): string {
  return call.subject.split("/", 1)[0] ?? "";
}

// What is thrown when a call got no complete answer. Texts: what failed, on what, why, what to do.

/** Codes of node:tls for a server certificate that does not hold (Node 24, verified 2026-08): why, and what to do. */
const CERTIFICATE_CODES: ReadonlyMap<string, readonly [string, string]> = new Map<string, readonly [string, string]>(
  Object.entries({
    CERT_HAS_EXPIRED: ["has expired", "Renew it, and check this machine's clock"],
    CERT_NOT_YET_VALID: ["is not valid yet", "Check this machine's clock"],
    CERT_REVOKED: ["was revoked", "Renew it"],
    CERT_UNTRUSTED: ["is not trusted", "Set the right certificate-authority"],
    DEPTH_ZERO_SELF_SIGNED_CERT: ["is self-signed and not trusted", "Set certificate-authority to it"],
    ERR_TLS_CERT_ALTNAME_INVALID: ["is for another host name", "Use a name it is made for, or set tls-server-name"],
    INVALID_CA: ["is signed by something that is no authority", "Set the right certificate-authority"],
    SELF_SIGNED_CERT_IN_CHAIN: ["is signed by an authority that is not trusted", "Set the right certificate-authority"],
    UNABLE_TO_GET_ISSUER_CERT: ["is signed by an unknown authority", "Set the right certificate-authority"],
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["is signed by an unknown authority", "Set the right certificate-authority"],
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["is signed by an unknown authority", "Set the right certificate-authority"],
  }),
);

/** Codes of node:net and node:dns: why, and what to do. */
const NETWORK_CODES: ReadonlyMap<string, readonly [string, string]> = new Map<string, readonly [string, string]>(
  Object.entries({
    ECONNREFUSED: [
      "nothing listens at SERVER (connection refused)",
      "Check that the API server runs and SOURCE is right",
    ],
    ECONNRESET: ["SERVER broke the connection before the answer was complete", "Try again"],
    EPIPE: ["SERVER closed the connection while the request was sent", "Try again"],
    ENOTFOUND: ["the host name of SERVER is not known to DNS", "Check the server of SOURCE, and the network"],
    EAI_AGAIN: ["DNS does not answer for the host of SERVER", "Check the network"],
    ETIMEDOUT: ["SERVER cannot be reached (connection timed out)", "Check the network, VPN and firewall"],
    EHOSTUNREACH: ["there is no route to SERVER", "Check the network and VPN"],
    ENETUNREACH: ["there is no route to SERVER", "Check the network and VPN"],
    EPROTO: ["TLS with SERVER failed", "Check that the server of SOURCE is right, https:// or http:// included"],
  }),
);

/**
 * The error for a call that ended without a complete answer. Pure.
 * @returns ConfigError `invalid` when a certificate is the cause, KubeError `timeout` or `unavailable` otherwise.
 */
export function networkFailure(
  call: Call,
  connection: Connection,
  error: unknown,
  timedOutAfterMs: number | undefined,
): ConfigError | KubeError {
  if (error instanceof ConfigError) return error;
  if (timedOutAfterMs !== undefined) {
    const why = `no complete answer from ${connection.server} within ${(timedOutAfterMs / 1000).toFixed(1).replace(".0", "")} s`;
    const fix = "Try again, or allow more with --request-timeout.";
    return kubeError(call, "timeout", { status: 0, why, fix, cause: error });
  }
  if (error instanceof ProxyFailure) return proxyFailure(call, connection, error);
  const code = codeOf(error);
  const certificate = CERTIFICATE_CODES.get(code);
  if (certificate !== undefined) return certificateFailure(connection, certificate, error);
  if (isRefusedCertificate(error)) return refusedByServer(connection, code, error);
  const isTLS = code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_");
  const [why, fix] = NETWORK_CODES.get(isTLS ? "EPROTO" : code) ?? [
    `the connection to SERVER failed (${code})`,
    "Try again",
  ];
  const fill = (text: string): string =>
    text
      .replace("SERVER", connection.server)
      .replace("SOURCE", connection.source)
      .concat(isTLS ? ` (${code})` : "");
  return kubeError(call, "unavailable", {
    status: 0,
    why: fill(why),
    fix: `${fix.replace("SOURCE", connection.source)}.`,
    cause: error,
  });
}

/** True where this side does not accept the certificate of the server: nothing was sent. */
export function isMistrusted(error: unknown): boolean {
  return CERTIFICATE_CODES.has(codeOf(error));
}

/** True where the server does not accept the certificate of this side: nothing was done. */
export function isRefusedCertificate(error: unknown): boolean {
  return REFUSED_BY_SERVER.test(codeOf(error));
}

/** Codes of node:tls for an alert of the server. */
const REFUSED_BY_SERVER = /ALERT|CERTIFICATE_REQUIRED/;

/** The error's `code`; its class when it has none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : error.name;
}

/** A refusal of the proxy (403, 407) stays until somebody changes a setting; other failures pass. */
function proxyFailure(call: Call, { server }: Connection, error: ProxyFailure): ConfigError | KubeError {
  if (error.status === 407 || error.status === 403) {
    const fix = "Correct its user and password, have it allow the server, or put the server into NO_PROXY.";
    return new ConfigError("invalid", `Cannot reach the API server ${server}: ${error.message}. ${fix}`, {
      cause: error,
    });
  }
  const fix = "Check that it runs and that its URL is right, or put the server into NO_PROXY.";
  return kubeError(call, "unavailable", { status: 0, why: error.message, fix, cause: error });
}

function certificateFailure(
  connection: Connection,
  [why, fix]: readonly [string, string],
  cause: unknown,
): ConfigError {
  const message = `Cannot trust the API server ${connection.server}: its certificate ${why}. ${fix} (${connection.source}).`;
  return new ConfigError("invalid", message, { cause });
}

function refusedByServer(connection: Connection, code: string, cause: unknown): ConfigError {
  const message =
    `The API server ${connection.server} refuses the TLS connection (${code}): it wants a client certificate that is valid. ` +
    `Renew the client certificate of ${connection.source}.`;
  return new ConfigError("invalid", message, { cause });
}

/** What is to be corrected before a server answers again that did answer this process: it passes, as any outage does. */
export function outage(call: Call, error: ConfigError): KubeError {
  const operation = `${call.verb} ${qualifiedResource(call)}`;
  const facts = {
    failure: "unavailable",
    operation,
    subject: call.subject,
    status: 0,
    message: error.message,
  } as const;
  return new KubeError(facts, { cause: error });
}

/** A server that does not answer, and in whose place the kubeconfig names another: the process is to begin anew. */
export function serverMoved({ server, source }: Connection, movedTo: string, cause: KubeError): ConfigError {
  const message =
    `The API server ${server} does not answer, and ${source} names ${movedTo} by now. ` +
    "A process stays with the server that it began with: start flipop again.";
  return new ConfigError("invalid", message, { cause });
}

/** The JSON of a successful answer. @throws KubeError `malformed` when it is a page of a proxy, cut off, or no JSON. */
export function answerJSON(call: Call, answer: Answer, connection: Connection): unknown {
  try {
    return JSON.parse(answer.body.toString("utf8"));
  } catch (error) {
    const why = reasonOf(answer, error);
    throw malformed(call, connection, { status: answer.status, why: connection.secrets?.redactQuoted(why) ?? why });
  }
}

/** A KubeError for an answer that is a success and cannot be understood. */
export function malformed(
  call: Call,
  connection: Connection,
  facts: { readonly status: number; readonly why: string; readonly fix?: string },
): KubeError {
  const fix = `Check that ${connection.server} is the API server itself, not a login page or proxy.`;
  return kubeError(call, "malformed", { fix, ...facts });
}

/** The parser's own text quotes the answer, which may hold what nobody should see. */
function reasonOf(answer: Answer, error: unknown): string {
  const type = answer.headers["content-type"]?.split(";", 1)[0] ?? "";
  if (type !== "" && !type.includes("json")) return `the answer is ${type}, not JSON`;
  const isCut =
    error instanceof Error && /end of JSON|Unterminated|position/.test(error.message) && !endsLikeJSON(answer);
  return isCut ? `the answer is cut off after ${answer.body.length} bytes` : "the answer is not valid JSON";
}

function endsLikeJSON(answer: Answer): boolean {
  return /\}\s*$/.test(answer.body.subarray(-16).toString("latin1"));
}
