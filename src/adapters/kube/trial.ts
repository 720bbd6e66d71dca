import { KubeError } from "../../model/errors.ts";
import { objectKey } from "../../model/resource.ts";
import type { ObjectTrial, Tried, TriedObject } from "../../ports/trial.ts";
import { type Call, type Connection, RESOURCES, type Resource, resourcePath } from "./call.ts";
import { answerJSON } from "./failures.ts";
import { asRecord } from "./json.ts";
import { Transport, type TransportOptions } from "./transport.ts";

/** Returns what asks an API server by dry runs: every request that it sends has `dryRun=All`, with which the server stores nothing. `close` lets idle connections go. */
export function createTrial(
  connection: Connection,
  options: TransportOptions,
): ObjectTrial & { readonly close: () => void } {
  const transport = new Transport(connection, options);
  const send = async (call: DryCall): Promise<void> => {
    const path = `${call.path}?dryRun=All&fieldManager=flipop-validate&fieldValidation=Strict`;
    answerJSON(call, await transport.send({ ...call, path }), connection);
  };
  return { close: () => transport.close(), tryObject: async (object) => await tried(object, send) };
}

type DryCall = Call & { readonly method: "POST" | "PATCH" };

const KINDS: Readonly<Record<TriedObject["of"], Resource>> = {
  pool: RESOURCES.pools,
  routedip: RESOURCES.routedIPs,
  dns: RESOURCES.recordSets,
  issuer: RESOURCES.issuers,
};

async function tried(
  { of, namespace, name, object }: TriedObject,
  send: (call: DryCall) => Promise<void>,
): Promise<Tried> {
  const resource = KINDS[of];
  const { labels, annotations } = asRecord(object["metadata"]) ?? {};
  const subject = objectKey({ namespace, name });
  const changed = { metadata: { labels, annotations }, spec: object["spec"] };
  const whole = { ...object, metadata: { name, namespace, labels, annotations } };
  const about = { resource, subject };
  try {
    await send({ method: "POST", path: resourcePath(resource, { namespace }), verb: "create", ...about, body: whole });
    return { kind: "taken" };
  } catch (error) {
    if (!isThereAlready(error)) return outcomeOf(error);
  }
  try {
    const path = resourcePath(resource, { namespace, name });
    await send({ method: "PATCH", path, verb: "patch", ...about, body: changed });
    return { kind: "taken" };
  } catch (error) {
    return outcomeOf(error);
  }
}

function isThereAlready(error: unknown): boolean {
  return error instanceof KubeError && error.failure === "already-exists";
}

/** @throws what is no answer about the object */
function outcomeOf(error: unknown): Tried {
  if (!(error instanceof KubeError)) throw error;
  const { failure, message, operation, subject } = error;
  // Whoever may not create is told nothing of the object; an admission plugin that denies it sounds the same.
  if (failure === "forbidden" || failure === "missing-resource") return { kind: "unknown", message };
  if (failure !== "invalid" && failure !== "not-found") throw error;
  return { kind: "refused", message: message.replace(`Cannot ${operation} ${subject}: `, "") };
}
