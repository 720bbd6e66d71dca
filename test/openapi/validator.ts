import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";

/** Checks messages against an API description next to this file; every method returns what is wrong, in no order. */
export interface OpenAPIValidator {
  /** Faults of a request: unknown operation, path or query parameter, body. `path` starts with `/v2/`, or `/v1/` at Hetzner, and may have a query. */
  checkRequest(method: string, path: string, body?: unknown): readonly string[];
  /** Faults of an answer to that request; an undocumented status is checked against the description's `default` answer. */
  checkResponse(method: string, path: string, status: number, body?: unknown): readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly pointer: string;
  readonly node: Json;
  readonly pathValues: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
}

/**
 * Reads the description and returns a validator that compiles each schema when it is first needed (some 10 ms each).
 * Unknown query parameters are faults, as are bodies where the description has none.
 */
export function openAPIValidator(api: "digitalocean" | "hetzner" = "digitalocean"): OpenAPIValidator {
  const documentID = `https://${api}.example/openapi`;
  const document: Json = JSON.parse(readFileSync(new URL(`${api}.json`, import.meta.url), "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, documentID);
  const compiled = new Map<string, ValidateFunction>();

  function faultsOf(pointer: string, value: unknown): string[] {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `${documentID}#${encodeURI(pointer)}` });
    compiled.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath || "body"} ${error.message}`);
  }

  function parameterFaults(operation: Operation): string[] {
    const faults: string[] = [];
    const known = new Set<string>();
    for (const [position] of asArray(operation.node["parameters"]).entries()) {
      const [pointer, node] = resolve(document, `${operation.pointer}/parameters/${position}`);
      const name = String(node["name"]);
      const isQuery = node["in"] === "query";
      if (isQuery) known.add(name);
      const text = isQuery ? operation.query.get(name) : operation.pathValues.get(name);
      if (text === null || text === undefined) {
        if (node["required"] === true) faults.push(`${name} is missing`);
        continue;
      }
      const isInteger = asObject(node["schema"])["type"] === "integer";
      const value = isInteger && /^-?\d+$/.test(text) ? Number(text) : text;
      faults.push(...faultsOf(`${pointer}/schema`, value).map((fault) => `${name}: ${fault}`));
    }
    for (const name of operation.query.keys()) if (!known.has(name)) faults.push(`unknown query parameter ${name}`);
    return faults;
  }

  function bodyFaults(pointer: string, node: Json, body: unknown): string[] {
    const content = asObject(node["content"]);
    const media = "application/json" in content ? "application~1json" : undefined;
    if (media === undefined) return body === undefined ? [] : ["a body where the description has none"];
    if (body === undefined) return ["no body"];
    return faultsOf(`${pointer}/content/${media}/schema`, body);
  }

  return {
    checkRequest(method, path, body) {
      const operation = findOperation(document, method, path);
      if (operation === undefined) return [`unknown operation ${method} ${path}`];
      const faults = parameterFaults(operation);
      if (operation.node["requestBody"] === undefined) {
        return body === undefined ? faults : [...faults, "a body where the description has none"];
      }
      const [pointer, node] = resolve(document, `${operation.pointer}/requestBody`);
      return [...faults, ...bodyFaults(pointer, node, body)];
    },
    checkResponse(method, path, status, body) {
      const operation = findOperation(document, method, path);
      if (operation === undefined) return [`unknown operation ${method} ${path}`];
      const responses = asObject(operation.node["responses"]);
      const key = String(status) in responses ? String(status) : "default";
      if (key === "default" && status < 400) return [`undocumented status ${status}`];
      const [pointer, node] = resolve(document, `${operation.pointer}/responses/${key}`);
      return bodyFaults(pointer, node, body);
    },
  };
}

/** The operation that serves a request: of several templates that fit, the one with the fewest parameters. */
function findOperation(document: Json, method: string, path: string): Operation | undefined {
  const [pathname = "", search = ""] = path.split("?");
  const found: Operation[] = [];
  for (const [template, item] of Object.entries(asObject(document["paths"]))) {
    const node = asObject(item)[method.toLowerCase()];
    const pathValues = matchTemplate(template, pathname);
    if (node === undefined || pathValues === undefined) continue;
    const pointer = `/paths/${template.replaceAll("/", "~1")}/${method.toLowerCase()}`;
    found.push({ pointer, node: asObject(node), pathValues, query: new URLSearchParams(search) });
  }
  return found.sort((a, b) => a.pathValues.size - b.pathValues.size)[0];
}

function matchTemplate(template: string, pathname: string): ReadonlyMap<string, string> | undefined {
  const want = template.split("/");
  const have = pathname.split("/");
  if (want.length !== have.length) return undefined;
  const values = new Map<string, string>();
  for (const [position, part] of want.entries()) {
    const actual = have[position] ?? "";
    if (part.startsWith("{")) values.set(part.slice(1, -1), decodeURIComponent(actual));
    else if (part !== actual) return undefined;
  }
  return values;
}

/** Follows `$ref`s; returns where the node really is, and the node. */
function resolve(document: Json, pointer: string): readonly [string, Json] {
  const node = asObject(
    pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document),
  );
  const reference = node["$ref"];
  return typeof reference === "string" ? resolve(document, reference.slice(1)) : [pointer, node];
}

function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
