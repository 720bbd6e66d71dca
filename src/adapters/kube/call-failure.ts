import { KubeError, type KubeFailure } from "../../model/errors.ts";
import { GROUP } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { type Call, qualifiedResource } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./exchange.ts";
import { asRecord, asText } from "./json-value.ts";
import { openEnvelope } from "./protobuf-envelope.ts";
import { STATUS_FIELDS } from "./protobuf-fields.ts";
import { decodeMessage } from "./protobuf-message.ts";

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
  if (status === 404 && isResourceMissing(call, said)) return "missing-resource";
  if (status >= 500) return "unavailable";
  if (status < 400) return "malformed";
  return BY_STATUS[status] ?? "invalid";
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
    case "already-exists":
      return "";
  }
}

/** Not every 403 is a missing permission: nobody may create things in a namespace that is going away. */
function forbiddenFix(call: Call, connection: Connection, why: string): string {
  if (why.includes("is being terminated")) return "Wait until the namespace is gone, or use another.";
  if (why.includes('User "system:anonymous"'))
    return `No credentials were given: set the user of ${connection.source}.`;
  return `Grant the verb "${call.verb}" on "${qualifiedResource(call)}" (see cronjob/rbac.yaml).`;
}

function namespaceOf(call: Call): string {
  return call.subject.split("/", 1)[0] ?? "";
}
