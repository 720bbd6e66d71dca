import { BadValue, checked, fileSchema, YAMLFile } from "./yaml-file.ts";

/** The emulated APIs of the sandbox. */
export type SandboxServerName = "kubernetes" | "digitalocean" | "cloudflare" | "hetzner" | "webhook";

/**
 * One planned misbehaviour of an emulated API, as written in `faults.yaml`. It applies to the calls that fit `server`,
 * `method` and `path`; the first fault of the list that fits is taken.
 */
export interface Fault {
  readonly server: SandboxServerName;
  /** Absent = every method. */
  readonly method?: string;
  /** Regular expression on the decoded path, without query; absent = every path. */
  readonly path?: string;
  /** How many fitting calls pass untouched first; default 0. */
  readonly skip?: number;
  /** How many calls it applies to; default 1; 0 = for ever. */
  readonly times?: number;
  /** Answered instead of the real status. The request takes no effect then, unless `effect` is true. */
  readonly status?: number;
  /** Added to the answer, or replacing headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the body of the answer; a string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Replaces the content type of the answer. */
  readonly contentType?: string;
  /** Waits before the request takes effect, milliseconds. */
  readonly delayMs?: number;
  /** Breaks the connection: before the effect, after it without an answer, or in the middle of the answer's body. */
  readonly cut?: "before" | "after" | "middle";
  /** With `status`: the request takes effect although that status is answered. */
  readonly effect?: boolean;
}

/** Where a server asks which fault applies to a call. */
export interface FaultSource {
  /** The fault that applies to this call, counted as used; undefined when none does. */
  take(call: FaultyCall): Fault | undefined | Promise<Fault | undefined>;
}

/** What decides which fault applies. */
interface FaultyCall {
  readonly server: string;
  readonly method: string;
  readonly path: string;
}

interface Entry {
  readonly fault: Fault;
  readonly path: RegExp | undefined;
  skip: number;
  /** Infinity = for ever. */
  times: number;
}

/** An ordered list of faults, used up call by call. */
export class FaultList implements FaultSource {
  private entries: Entry[] = [];

  /** @throws SyntaxError when a `path` is not a regular expression. */
  constructor(faults: readonly Fault[] = []) {
    for (const fault of faults) this.add(fault);
  }

  /** Appends a fault. @throws SyntaxError when its `path` is not a regular expression. */
  add(fault: Fault): void {
    const times = fault.times === 0 ? Number.POSITIVE_INFINITY : (fault.times ?? 1);
    const path = fault.path === undefined ? undefined : new RegExp(fault.path, "u");
    this.entries.push({ fault, path, skip: fault.skip ?? 0, times });
  }

  /** Forgets every fault. */
  clear(): void {
    this.entries = [];
  }

  /** The faults that are not used up, in order, with `skip` and `times` as they stand now. */
  remaining(): readonly Fault[] {
    return this.entries.map(({ fault, skip, times }) => ({
      ...fault,
      ...(skip > 0 || fault.skip !== undefined ? { skip } : {}),
      ...(fault.times === undefined ? {} : { times: Number.isFinite(times) ? times : 0 }),
    }));
  }

  /** The first fault that fits the call; a fitting call that a fault lets pass (`skip`) is counted by it. */
  take(call: FaultyCall): Fault | undefined {
    for (const entry of this.entries) {
      if (!fits(entry, call)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.times -= 1;
      if (entry.times <= 0) this.entries = this.entries.filter((other) => other !== entry);
      return entry.fault;
    }
    return undefined;
  }
}

function fits({ fault, path }: Entry, call: FaultyCall): boolean {
  if (fault.server !== call.server) return false;
  if (fault.method !== undefined && fault.method.toUpperCase() !== call.method) return false;
  return path === undefined || path.test(call.path);
}

const header = `Planned misbehaviour of the sandbox's APIs: a list; the first entry that fits a call is used, and used up.
Edit it at any time. Fields: server (kubernetes, digitalocean, cloudflare, hetzner, webhook), method, path (regular expression), skip, times (default 1, 0 = for ever),
status, headers, body, contentType, delayMs, cut (before, after or middle: the connection breaks), effect (true: status is
answered although the request takes effect). For example:
- {server: digitalocean, method: POST, path: /actions$, status: 500}
- {server: digitalocean, method: POST, path: /reserved_ips$, cut: after}
- {server: kubernetes, path: /pods$, delayMs: 20000}`;

const count = { type: "integer", minimum: 0 };

const validate = fileSchema({
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["server"],
    properties: {
      server: { type: "string", enum: ["kubernetes", "digitalocean", "cloudflare", "hetzner", "webhook"] },
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
export function faultFile(path: string): Pick<FaultList, "take"> {
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
  const list = new FaultList();
  for (const [position, fault] of checked<readonly Fault[]>(validate, value ?? []).entries()) {
    try {
      list.add(fault);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new BadValue([position, "path"], `is no regular expression: ${why}`);
    }
  }
  return list;
}
