/** The emulated APIs of the sandbox. */
export type SandboxServerName = "kubernetes" | "digitalocean" | "cloudflare";

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
  take(call: { readonly server: string; readonly method: string; readonly path: string }): Fault | undefined;
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
  take(call: { readonly server: string; readonly method: string; readonly path: string }): Fault | undefined {
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

function fits(
  entry: Entry,
  call: { readonly server: string; readonly method: string; readonly path: string },
): boolean {
  const { fault, path } = entry;
  if (fault.server !== call.server) return false;
  if (fault.method !== undefined && fault.method.toUpperCase() !== call.method) return false;
  return path === undefined || path.test(call.path);
}
