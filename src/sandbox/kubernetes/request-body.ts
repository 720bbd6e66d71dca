import { parse } from "yaml";
import { Cursor, LENGTH_DELIMITED, MalformedMessage, openEnvelope, VARINT } from "../../model/protobuf.ts";
import { formatTime } from "../../model/time.ts";
import type { SandboxRequest } from "../http-server.ts";
import type { JSONObject } from "./object-store.ts";
import { badRequest, unsupportedMediaType } from "./status-error.ts";

/** Media type of a server-side apply. */
export const APPLY = "application/apply-patch+yaml";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const YAML: readonly string[] = [APPLY, "application/yaml"];

/** Media types of an object that the sandbox reads; none counts as JSON. */
export const READABLE: readonly string[] = ["", "application/json", "application/yaml", PROTOBUF];

/** The media type of a request's body, without parameters; `""` for none. */
export function mediaType({ headers }: Pick<SandboxRequest, "headers">): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
}

/**
 * The body of a request as JSON, whether it came as JSON, YAML or protobuf. Clients in Go that are generated from the types of Kubernetes send protobuf and nothing else: `kubectl
 * create`, `kubectl drain`, leader election (client-go 0.35, read 2026-11-25). Pure.
 * @throws StatusError 400 for what cannot be read, 415 for what the sandbox does not know in protobuf
 */
export function bodyOf(request: SandboxRequest): unknown {
  const { body, malformed } = request;
  if (!Buffer.isBuffer(body)) return body;
  const type = mediaType(request);
  try {
    if (type === PROTOBUF) return readProtobuf(body);
    if (YAML.includes(type)) return parse(body.toString("utf8"));
  } catch (error) {
    if (error instanceof MalformedMessage) throw badRequest(`the body is no protobuf: ${error.message}`);
    if (error instanceof Error && error.name === "YAMLParseError")
      throw badRequest(`error parsing YAML: ${error.message}`);
    throw error;
  }
  throw badRequest(malformed ?? "the body cannot be read");
}

function readProtobuf(body: Buffer): JSONObject {
  const envelope = openEnvelope(body);
  if (envelope === undefined) throw new MalformedMessage("it does not begin as Kubernetes' does");
  const { kind, message } = envelope;
  if (!MESSAGES.has(kind)) throw unread(`a ${kind}`);
  return { kind, ...read(new Cursor(message, 0, message.length), kind) };
}

function unread(what: string): Error {
  return unsupportedMediaType(
    `the sandbox does not read ${what} in protobuf: write it to a file, and kubectl apply -f that`,
  );
}

/**
 * The messages that kubectl and leader election send: number, name and type of each field, text if it says none. `*` is a list, `?` is a value that counts even when it is
 * zero, `-` is passed over because the server has its own. Of what is not listed only zero is let pass (k8s.io/api 0.35.4, generated.proto, read 2026-11-25).
 */
const PROTO = `
ObjectMeta: 1 name, 2 generateName, 3 namespace, 4 -, 5 uid, 6 resourceVersion, 7 -, 8 -, 9 -, 10 -, 11 labels map,
  12 annotations map, 13 ownerReferences OwnerReference*, 14 finalizers text*, 17 -
OwnerReference: 1 kind, 3 name, 4 uid, 5 apiVersion, 6 controller flag?, 7 blockOwnerDeletion flag?
DeleteOptions: 1 gracePeriodSeconds number?, 2 preconditions Preconditions, 3 orphanDependents flag?, 4 propagationPolicy,
  5 dryRun text*
Eviction: 1 metadata ObjectMeta, 2 deleteOptions DeleteOptions
Preconditions: 1 uid, 2 resourceVersion
Namespace: 1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 -
NamespaceSpec: 1 finalizers text*
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 -
ServiceSpec: 1 ports ServicePort*, 2 selector map, 3 clusterIP, 4 type, 5 externalIPs text*, 7 sessionAffinity,
  8 loadBalancerIP, 9 loadBalancerSourceRanges text*, 10 externalName, 11 externalTrafficPolicy,
  12 healthCheckNodePort number, 13 publishNotReadyAddresses flag, 17 ipFamilyPolicy, 18 clusterIPs text*,
  19 ipFamilies text*, 22 internalTrafficPolicy
ServicePort: 1 name, 2 protocol, 3 port number, 4 targetPort IntOrString, 5 nodePort number, 6 appProtocol
Deployment: 1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 -
DeploymentSpec: 1 replicas number?, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy Strategy,
  5 minReadySeconds number, 6 revisionHistoryLimit number?, 7 paused flag, 9 progressDeadlineSeconds number?
Strategy: 1 type
LabelSelector: 1 matchLabels map, 2 matchExpressions Requirement*
Requirement: 1 key, 2 operator, 3 values text*
CronJob: 1 metadata ObjectMeta, 2 spec CronJobSpec, 3 -
CronJobSpec: 1 schedule, 2 startingDeadlineSeconds number?, 3 concurrencyPolicy, 4 suspend flag?,
  5 jobTemplate JobTemplateSpec, 6 successfulJobsHistoryLimit number?, 7 failedJobsHistoryLimit number?, 8 timeZone
JobTemplateSpec: 1 metadata ObjectMeta, 2 spec JobSpec
JobSpec: 1 parallelism number?, 2 completions number?, 6 template PodTemplateSpec, 7 backoffLimit number?
PodTemplateSpec: 1 metadata ObjectMeta, 2 spec PodSpec
PodSpec: 2 containers Container*, 3 restartPolicy, 4 terminationGracePeriodSeconds number?, 6 dnsPolicy,
  7 nodeSelector map, 8 serviceAccountName, 9 serviceAccount, 10 nodeName, 14 securityContext Empty, 16 hostname,
  19 schedulerName, 20 initContainers Container*
Container: 1 name, 2 image, 3 command text*, 4 args text*, 5 workingDir, 6 ports ContainerPort*, 7 env EnvVar*,
  8 resources Empty, 13 terminationMessagePath, 14 imagePullPolicy, 20 terminationMessagePolicy
ContainerPort: 1 name, 2 hostPort number, 3 containerPort number, 4 protocol, 5 hostIP
EnvVar: 1 name, 2 value
Empty:
Lease: 1 metadata ObjectMeta, 2 spec LeaseSpec
LeaseSpec: 1 holderIdentity text?, 2 leaseDurationSeconds number?, 3 acquireTime MicroTime, 4 renewTime MicroTime,
  5 leaseTransitions number?, 6 strategy, 7 preferredHolder
Event: 1 metadata ObjectMeta, 2 eventTime MicroTime, 3 series EventSeries, 4 reportingController, 5 reportingInstance,
  6 action, 7 reason, 8 regarding ObjectReference, 9 related ObjectReference, 10 note, 11 type, 12 -, 13 -, 14 -, 15 -
EventSeries: 1 count number, 2 lastObservedTime MicroTime
ObjectReference: 1 kind, 2 namespace, 3 name, 4 uid, 5 apiVersion, 6 resourceVersion, 7 fieldPath
MicroTime: 1 seconds number, 2 nanos number
IntOrString: 1 type number, 2 intVal number, 3 strVal
map: 1 key, 2 value
`;

interface Field {
  readonly name: string;
  /** `text`, `number`, `flag`, `map`, or a message. */
  readonly type: string;
  readonly isList: boolean;
  readonly keepsZero: boolean;
}

const MESSAGES: ReadonlyMap<string, ReadonlyMap<number, Field>> = new Map(
  [...PROTO.matchAll(/^(\w+):((?:.|\n )*)/gm)].map(([, kind = "", fields = ""]) => [kind, fieldsOf(fields)]),
);

function fieldsOf(text: string): ReadonlyMap<number, Field> {
  const fields = [...text.matchAll(/(\d+) ([\w-]+)(?: (\w+))?(\*?)(\??)/g)];
  return new Map(
    fields.map(([, number, name = "", type = "text", list, zero]) => {
      return [Number(number), { name, type, isList: list !== "", keepsZero: zero !== "" || list !== "" }];
    }),
  );
}

/** One message as its JSON is: what is zero is left out, as Go leaves it out. */
function read(cursor: Cursor, message: string): JSONObject {
  const fields = MESSAGES.get(message);
  const members = new Map<string, unknown>();
  while (cursor.at < cursor.end) {
    const tag = cursor.tag();
    const raw = rawOf(cursor, tag % 8);
    const isZero = typeof raw === "number" ? raw === 0 : raw.at === raw.end;
    const field = fields?.get(tag >>> 3);
    if (field !== undefined) add(members, field, raw, isZero);
    else if (!isZero) throw unread(`field ${tag >>> 3} of a ${message}`);
  }
  return Object.fromEntries(members);
}

function rawOf(cursor: Cursor, wireType: number): Cursor | number {
  if (wireType === VARINT) return cursor.int64();
  if (wireType === LENGTH_DELIMITED) return cursor.inner();
  throw new MalformedMessage(`wire type ${wireType} is not in use`);
}

function add(members: Map<string, unknown>, field: Field, raw: Cursor | number, isZero: boolean): void {
  const { name, type, isList, keepsZero } = field;
  if (name === "-" || (isZero && !keepsZero && !MESSAGES.has(type))) return;
  const value = typeof raw === "number" ? (type === "flag" ? !isZero : raw) : decoded(raw, type);
  const before = members.get(name);
  if (isList) members.set(name, [...(Array.isArray(before) ? before : []), value]);
  else if (type === "map") members.set(name, { ...(before as JSONObject), ...(value as JSONObject) });
  else members.set(name, value);
}

function decoded(raw: Cursor, type: string): unknown {
  if (type === "text") return raw.text();
  if (!MESSAGES.has(type)) throw new MalformedMessage(`a ${type} is no message`);
  const value = read(raw, type);
  return MEANINGS.get(type)?.(value) ?? value;
}

/** What stands for some messages in JSON. */
const MEANINGS: ReadonlyMap<string, (message: JSONObject) => unknown> = new Map<
  string,
  (message: JSONObject) => unknown
>([
  ["map", ({ key, value }) => ({ [String(key ?? "")]: value ?? "" })],
  ["IntOrString", ({ type, intVal, strVal }) => (type === 1 ? (strVal ?? "") : (intVal ?? 0))],
  ["MicroTime", ({ seconds, nanos }) => microTime(Number(seconds ?? 0), Number(nanos ?? 0))],
]);

function microTime(seconds: number, nanos: number): string {
  const micros = String(Math.trunc(nanos / 1000)).padStart(6, "0");
  return formatTime(seconds * 1000).replace(/\.\d+Z$/, `.${micros}Z`);
}
