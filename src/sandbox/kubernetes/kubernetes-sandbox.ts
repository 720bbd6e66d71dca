import { readdirSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { SandboxReply, SandboxRequest } from "../http-server.ts";
import type { Exclusively, Save } from "../one-at-a-time.ts";
import { endDeletedPods, STANDARD_NAMESPACES, taintingOfCordonedNodes } from "./built-in-checks.ts";
import { writeDocument } from "./complete-document.ts";
import { handleRequest } from "./handle-request.ts";
import { KubernetesAPI } from "./kubernetes-api.ts";
import { isObject, type JSONObject } from "./object-store.ts";
import { StatusError } from "./status-error.ts";
import { WorldFiles } from "./world-files.ts";

/** Where the cluster is kept, and its surroundings. */
interface KubernetesSandboxOptions {
  /** Directory of the YAML files; it exists. Without it the cluster lives in memory. */
  readonly directory?: string;
  /** Default: the ones the project ships. */
  readonly crds?: readonly JSONObject[];
  /** Milliseconds since the epoch; the cluster's only clock. Default: the machine's. */
  readonly now?: () => number;
  /** A new uid at every call; default: random. */
  readonly newUID?: () => string;
  /** Called with the ConfigError that names file and line when a person broke a file. */
  readonly onError?: (error: unknown) => void;
  /** Runs what a quiet watch does with the files, and waits its turn for that; default: at once. */
  readonly exclusively?: Exclusively;
  /** Is asked for the files to be written; default: they are written at once. */
  readonly save?: Save;
  /** Milliseconds between the bookmarks of a watch; default 60,000, as the API server sends them. */
  readonly bookmarkMs?: number;
}

/** The emulated Kubernetes API. */
export interface KubernetesSandbox {
  /** The API without HTTP, for tests and for arranging a world. Files are read and written by {@link handle} alone. */
  readonly api: KubernetesAPI;
  /**
   * Answers one request as kube-apiserver does; refusals are Status objects. A file that a person broke is a Status 500
   * that names file and line.
   */
  handle(request: SandboxRequest): SandboxReply;
  /** Stores a whole object, status included, and writes it to its file. @throws StatusError naming the wrong field */
  write(document: JSONObject): void;
}

const BOOKMARK_MS = 60_000;
const FILE_POLL_MS = 500;

/**
 * Opens an emulated cluster. Effects, and status and reason of refusals, are those of kube-apiserver 1.35 (the same table of cases
 * runs on both), with these limits: no CEL rules, answers in JSON only, of the built-in kinds only what flipop writes is validated, everybody
 * may do everything. The namespace controller's work is done at once, and with files that of the controller which taints cordoned nodes and of the kubelets, as far as they end
 * deleted pods; nothing else runs in the cluster.
 *
 * The files are read now, again before each request when a person changed them, and regularly
 * while somebody watches; they are written after each request that changed something.
 *
 * @throws ConfigError naming file and line when one cannot be read.
 */
export function kubernetesSandbox(options: KubernetesSandboxOptions = {}): KubernetesSandbox {
  const api = new KubernetesAPI(options);
  const preinstalled = [...(options.crds ?? shippedCRDs()), ...standardNamespaces()];
  const files = options.directory === undefined ? undefined : new WorldFiles(options.directory, api, preinstalled);
  if (files === undefined) for (const document of preinstalled) writeDocument(api, document);
  const taintCordonedNodes = taintingOfCordonedNodes(api.store, api.origins.now);
  function control(): void {
    if (files === undefined) return;
    taintCordonedNodes();
    endDeletedPods(api.store);
  }
  /** Takes over what people wrote, and does what a cluster does by itself about it. */
  function refresh(): void {
    files?.refresh();
    control();
  }
  const { exclusively = async (work) => work(), save: ask = (write) => write() } = options;
  /** What a person has written meanwhile stays. */
  function write(): void {
    refresh();
    files?.save();
  }
  function save(): void {
    control();
    if (files?.isChanged === true) ask(write);
  }
  refresh();
  save();

  function handle(request: SandboxRequest): SandboxReply {
    try {
      refresh();
    } catch (error) {
      options.onError?.(error);
      return refusal(new StatusError(500, "InternalError", error instanceof Error ? error.message : String(error)));
    }
    const reply = answer(api, request, options.bookmarkMs ?? BOOKMARK_MS);
    save();
    if (files === undefined || !("stream" in reply)) return reply;
    const look = (): Promise<void> =>
      exclusively(() => {
        refresh();
        save();
      });
    return { ...reply, stream: polling(look, reply.stream) };
  }

  return {
    api,
    handle,
    write: (document) => {
      refresh();
      writeDocument(api, document);
      save();
    },
  };
}

function answer(api: KubernetesAPI, request: SandboxRequest, bookmarkMs: number): SandboxReply {
  try {
    return handleRequest(api, request, bookmarkMs);
  } catch (error) {
    if (error instanceof StatusError) return refusal(error);
    throw error;
  }
}

function refusal(error: StatusError): SandboxReply {
  return { status: error.code, body: error.toJSON() };
}

type Stream = Extract<SandboxReply, { readonly stream: unknown }>["stream"];

/** A watch that sees what people edit while it is quiet. */
function polling(look: () => Promise<void>, stream: Stream): Stream {
  return async (write, ended) => {
    // Somebody may be in the middle of an edit; the next request tells if it stays broken.
    const timer = setInterval(() => void look().catch(() => undefined), FILE_POLL_MS);
    try {
      await stream(write, ended);
    } finally {
      clearInterval(timer);
    }
  };
}

/** The directory of the CustomResourceDefinitions that the project ships. */
const CRDS = new URL("../../../cronjob/crds/", import.meta.url);

/** The namespaces of every cluster, as documents. */
function standardNamespaces(): readonly JSONObject[] {
  return STANDARD_NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}

/** The CustomResourceDefinitions that the project ships, sorted by file name. Reads files. @throws Error when one is not YAML */
export function shippedCRDs(): readonly JSONObject[] {
  const files = readdirSync(CRDS).filter((file) => file.endsWith(".yaml"));
  return files.sort().flatMap((file) => readCRDs(readFileSync(new URL(file, CRDS), "utf8")));
}

function readCRDs(text: string): readonly JSONObject[] {
  const documents: unknown[] = [...parseAllDocuments(text)].map((document) => document.toJS());
  return documents.filter((value) => isObject(value)).filter((value) => value["kind"] === "CustomResourceDefinition");
}
