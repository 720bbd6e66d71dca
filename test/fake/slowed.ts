import type { Clock } from "../../src/ports/system.ts";

/** One call of a port's method. */
export interface PortCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Methods of ports that answer at once, without a call. */
const LOCAL_METHODS: ReadonlySet<string> = new Set([
  "now",
  "calls",
  "durations",
  "rateLimit",
  "onChange",
  "staleness",
  "close",
]);

/** A port each of whose calls goes through `around`, which makes it by `call`. */
export function aroundCalls<T extends object>(
  port: T,
  around: (call: () => Promise<unknown>, method: string, args: readonly unknown[]) => Promise<unknown>,
): T {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (typeof key !== "string" || LOCAL_METHODS.has(key)) return value.bind(target);
      return async (...args: unknown[]) => await around(async () => await value.apply(target, args), key, args);
    },
  });
}

/** A port whose calls each take as long as `takesMs` says, milliseconds by this clock, before they leave. */
export function slowed<T extends object>(
  name: string,
  port: T,
  clock: Clock,
  takesMs: (call: PortCall) => number | undefined,
): T {
  return aroundCalls(port, async (call, method, args) => {
    const ms = takesMs({ port: name, method, args }) ?? 0;
    if (ms > 0) await clock.sleep(ms);
    return await call();
  });
}
