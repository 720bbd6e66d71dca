import type { BaseRecords } from "cloudflare/resources/dns/records";
import type { BaseZones } from "cloudflare/resources/zones/zones";

/** The resources of `cloudflare` that flipop uses. */
interface Client {
  readonly zones: Pick<BaseZones, "list" | "get">;
  readonly dns: { readonly records: Pick<BaseRecords, "list" | "batch"> };
}

/** Makes exactly one call with the given client and takes it raw: `.asResponse()`. */
export type Send = (client: Client) => Promise<unknown>;

/** A request as the SDK made it, without headers. */
export interface SDKRequest {
  /** Upper-case. */
  readonly method: string;
  readonly url: string;
  /** JSON; absent when the request has none. */
  readonly body?: string;
}

/** Lets the SDK make one request and hands it to `transport` instead of sending it. Resolves when `transport` has. */
export type SDK = (send: Send, transport: (request: SDKRequest) => Promise<void>) => Promise<void>;

/** The SDK's own deadline in milliseconds, as long as a timer can be: ours ends before it. */
const neverMs = 2 ** 31 - 1;

/**
 * Loads the SDK (some 400 ms) and returns how to let it make a request.
 *
 * The SDK builds method, URL and body. It never sees an answer, because it takes a 200 with `success: false` or with HTML for
 * an empty list, and repeats writes; and its headers are not used, because it adds what the environment asks for
 * (`CLOUDFLARE_API_KEY`, `_EMAIL`, `_CUSTOM_HEADERS`). Everything it would read from the environment is given explicitly.
 * @see https://github.com/cloudflare/cloudflare-typescript (7.3.0, verified 2026-11-21)
 */
export async function loadSDK(baseURL: string): Promise<SDK> {
  const [{ createClient }, { BaseRecords: Records }, { BaseZones: Zones }] = await Promise.all([
    import("cloudflare/tree-shakable"),
    import("cloudflare/resources/dns/records"),
    import("cloudflare/resources/zones/zones"),
  ]);
  return async (send, transport) => {
    const client = createClient({
      baseURL,
      apiToken: "set-by-the-adapter",
      apiKey: null,
      apiEmail: null,
      userServiceKey: null,
      maxRetries: 0,
      timeout: neverMs,
      logLevel: "off",
      fetch: async (url, { method = "GET", body } = {}) => {
        const text = typeof body === "string" ? { body } : {};
        await transport({ method: method.toUpperCase(), url: String(url), ...text });
        return new Response(null, { status: 204 });
      },
      resources: [Records, Zones],
    });
    // The constructor merged CLOUDFLARE_CUSTOM_HEADERS into these; a header name that is not one would fail every request.
    Object.assign(Reflect.get(client, "_options"), { defaultHeaders: {} });
    await send(client);
  };
}
