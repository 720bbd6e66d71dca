import type { BaseRecords } from "cloudflare/resources/dns/records";
import type { BaseZones } from "cloudflare/resources/zones/zones";
import type { SDKFetch } from "../http/api-client.ts";

/** The resources of `cloudflare` that flipop uses. A call takes them raw: `.asResponse()`. */
export interface SDK {
  readonly zones: Pick<BaseZones, "list" | "get">;
  readonly dns: { readonly records: Pick<BaseRecords, "list" | "batch"> };
  /** For what needs no resource of its own: a path behind the base URL. */
  readonly get: (path: string) => { readonly asResponse: () => Promise<Response> };
}

/**
 * Loads the SDK (some 400 ms) and returns how to let it make a request with a fetch of ours.
 *
 * The SDK builds method, URL and body. It never sees an answer, because it takes a 200 with `success: false` or with HTML for
 * an empty list, and repeats writes; and its headers are not used, because it adds what the environment asks for
 * (`CLOUDFLARE_API_KEY`, `_EMAIL`, `_CUSTOM_HEADERS`). Everything it would read from the environment is given explicitly.
 * @see https://github.com/cloudflare/cloudflare-typescript (7.3.0, verified 2026-11-21)
 */
export async function loadSDK(
  baseURL: string,
): Promise<(send: (sdk: SDK) => Promise<unknown>, fetch: SDKFetch) => Promise<unknown>> {
  const [{ createClient }, { BaseRecords: Records }, { BaseZones: Zones }] = await Promise.all([
    import("cloudflare/tree-shakable"),
    import("cloudflare/resources/dns/records"),
    import("cloudflare/resources/zones/zones"),
  ]);
  return async (send, fetch) => {
    const client = createClient({
      baseURL,
      apiToken: "set-by-the-adapter",
      apiKey: null,
      apiEmail: null,
      userServiceKey: null,
      maxRetries: 0,
      logLevel: "off",
      fetch,
      resources: [Records, Zones],
    });
    // The constructor merged CLOUDFLARE_CUSTOM_HEADERS into these; a header name that is not one would fail every request.
    Object.assign(Reflect.get(client, "_options"), { defaultHeaders: {} });
    return await send(client);
  };
}
