import type { AccountRequestBuilder } from "@digitalocean/dots/src/dots/v2/account/index.js";
import type { DomainsRequestBuilder } from "@digitalocean/dots/src/dots/v2/domains/index.js";
import type { DropletsRequestBuilder } from "@digitalocean/dots/src/dots/v2/droplets/index.js";
import type { WithDroplet_ItemRequestBuilder } from "@digitalocean/dots/src/dots/v2/droplets/item/index.js";
import type { FirewallsRequestBuilder } from "@digitalocean/dots/src/dots/v2/firewalls/index.js";
import type { Reserved_ipsRequestBuilder } from "@digitalocean/dots/src/dots/v2/reserved_ips/index.js";
import type { RequestInformation, RequestOption } from "@microsoft/kiota-abstractions";

/** The builders of `@digitalocean/dots` that flipop uses. */
interface Client {
  readonly reservedIPs: Reserved_ipsRequestBuilder;
  readonly account: AccountRequestBuilder;
  readonly domains: DomainsRequestBuilder;
  readonly droplets: DropletsRequestBuilder;
  readonly firewalls: FirewallsRequestBuilder;
  droplet(id: number): WithDroplet_ItemRequestBuilder;
}

/** Makes exactly one call with the given client, passing the configuration on as it is. */
export type Send = (client: Client, configuration: { readonly options: RequestOption[] }) => Promise<unknown>;

/** Sends one request through the SDK and returns the raw answer, whatever its status, with its body unread. */
export type SDK = (
  send: Send,
  http: {
    readonly headers: Readonly<Record<string, string>>;
    readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  },
) => Promise<Response>;

/**
 * Loads the SDK (some 60 ms) and returns how to call it.
 *
 * The SDK builds URL, headers and body. A native response handler takes the answer from it unread, because its
 * deserialiser throws on lists of strings and hides the status of answers that are not JSON; no kiota middleware is used,
 * because it repeats writes; only the metadata of six resources is loaded, because the whole client takes 280 ms.
 * @see https://github.com/microsoft/kiota-typescript/issues/2061 (verified 2026-08-07)
 */
export async function loadSDK(baseURL: string): Promise<SDK> {
  const [abstractions, http, json, reservedIPs, droplet, droplets, account, domains, firewalls] = await Promise.all([
    import("@microsoft/kiota-abstractions"),
    import("@microsoft/kiota-http-fetchlibrary"),
    import("@microsoft/kiota-serialization-json"),
    import("@digitalocean/dots/src/dots/v2/reserved_ips/index.js"),
    import("@digitalocean/dots/src/dots/v2/droplets/item/index.js"),
    import("@digitalocean/dots/src/dots/v2/droplets/index.js"),
    import("@digitalocean/dots/src/dots/v2/account/index.js"),
    import("@digitalocean/dots/src/dots/v2/domains/index.js"),
    import("@digitalocean/dots/src/dots/v2/firewalls/index.js"),
  ]);
  return async (send, { headers, fetch }) => {
    const adapter = new http.FetchRequestAdapter(
      { authenticateRequest: (request) => addHeaders(request, headers) },
      new json.JsonParseNodeFactory(),
      new json.JsonSerializationWriterFactory(),
      new http.HttpClient(fetch, new http.CustomFetchHandler(fetch)),
    );
    adapter.baseUrl = baseURL;
    const client: Client = {
      reservedIPs: abstractions.apiClientProxifier(
        adapter,
        {},
        reservedIPs.Reserved_ipsRequestBuilderNavigationMetadata,
        reservedIPs.Reserved_ipsRequestBuilderRequestsMetadata,
      ),
      account: abstractions.apiClientProxifier(adapter, {}, undefined, account.AccountRequestBuilderRequestsMetadata),
      domains: abstractions.apiClientProxifier(adapter, {}, domains.DomainsRequestBuilderNavigationMetadata),
      droplets: abstractions.apiClientProxifier(
        adapter,
        {},
        undefined,
        droplets.DropletsRequestBuilderRequestsMetadata,
      ),
      firewalls: abstractions.apiClientProxifier(
        adapter,
        {},
        firewalls.FirewallsRequestBuilderNavigationMetadata,
        firewalls.FirewallsRequestBuilderRequestsMetadata,
      ),
      droplet: (id) =>
        abstractions.apiClientProxifier(
          adapter,
          { droplet_id: id },
          undefined,
          droplet.WithDroplet_ItemRequestBuilderRequestsMetadata,
        ),
    };
    const handler = new abstractions.NativeResponseHandler();
    const option = new abstractions.ResponseHandlerOption();
    option.responseHandler = handler;
    await send(client, { options: [option] });
    return handler.value as Response;
  };
}

async function addHeaders(request: RequestInformation, headers: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(headers)) request.headers.add(name, value);
}
