import { Ajv } from "ajv";
import { type Fault, FaultList, type FaultSource } from "./faults.ts";
import { schemaErrorText } from "./schema-error.ts";
import { YAMLFile } from "./yaml-file.ts";

const header = `Planned misbehaviour of the sandbox's APIs: a list; the first entry that fits a call is used, and used up.
Edit it at any time. Fields: server (kubernetes, digitalocean, cloudflare), method, path (regular expression), skip, times (default 1, 0 = for ever),
status, headers, body, contentType, delayMs, cut (before, after or middle: the connection breaks), effect (true: status is
answered although the request takes effect). For example:
- {server: digitalocean, method: POST, path: /actions$, status: 500}
- {server: digitalocean, method: POST, path: /reserved_ips$, cut: after}
- {server: kubernetes, path: /pods$, delayMs: 20000}`;

const count = { type: "integer", minimum: 0 };

const validate = new Ajv({ strictTypes: false }).compile({
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["server"],
    properties: {
      server: { type: "string", enum: ["kubernetes", "digitalocean", "cloudflare"] },
      method: { type: "string" },
      path: { type: "string" },
      skip: count,
      times: count,
      status: { type: "integer", minimum: 200, maximum: 599 },
      headers: { type: "object", additionalProperties: { type: "string" } },
      body: {},
      contentType: { type: "string" },
      delayMs: { type: "integer", minimum: 0 },
      cut: { type: "string", enum: ["before", "after", "middle"] },
      effect: { type: "boolean" },
    },
  },
});

/**
 * The faults of a `faults.yaml`, made when it does not exist; read again when a person changed it, written when a fault is used up.
 * @throws ConfigError, also from `take`, naming the file and what is wrong there.
 */
export function faultFile(path: string): FaultSource {
  const file = new YAMLFile<FaultList>(path, { header, decode, encode: (list) => list.remaining() });
  let list = file.load() ?? new FaultList();
  file.save(list);
  return {
    take(call) {
      if (file.changedSinceLoad()) list = file.load() ?? new FaultList();
      const fault = list.take(call);
      file.save(list);
      return fault;
    },
  };
}

function decode(value: unknown): FaultList {
  const faults: unknown = value ?? [];
  if (!validate(faults)) throw new Error(schemaErrorText(validate.errors?.[0], "the file"));
  const list = new FaultList();
  for (const [position, fault] of (faults as readonly Fault[]).entries()) {
    try {
      list.add(fault);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`[${position}].path is no regular expression: ${why}`, { cause: error });
    }
  }
  return list;
}
