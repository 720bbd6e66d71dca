import type { AccountRequestBuilder } from "@digitalocean/dots/src/dots/v2/account/index.js";
import type { WithAction_ItemRequestBuilder } from "@digitalocean/dots/src/dots/v2/actions/item/index.js";
import type { DomainsRequestBuilder } from "@digitalocean/dots/src/dots/v2/domains/index.js";
import type { DropletsRequestBuilder } from "@digitalocean/dots/src/dots/v2/droplets/index.js";
import type { WithDroplet_ItemRequestBuilder } from "@digitalocean/dots/src/dots/v2/droplets/item/index.js";
import type { FirewallsRequestBuilder } from "@digitalocean/dots/src/dots/v2/firewalls/index.js";
import type { Reserved_ipsRequestBuilder } from "@digitalocean/dots/src/dots/v2/reserved_ips/index.js";
import type { Reserved_ipv6RequestBuilder } from "@digitalocean/dots/src/dots/v2/reserved_ipv6/index.js";
import type { apiClientProxifier as Proxifier, RequestAdapter } from "@microsoft/kiota-abstractions";
import type { SDKFetch } from "../http/api-client.ts";

/** The builders of `@digitalocean/dots` that flipop uses. */
export interface SDK {
  readonly reservedIPs: Reserved_ipsRequestBuilder;
  readonly reservedIPv6: Reserved_ipv6RequestBuilder;
  readonly account: AccountRequestBuilder;
  readonly domains: DomainsRequestBuilder;
  readonly droplets: DropletsRequestBuilder;
  readonly firewalls: FirewallsRequestBuilder;
  droplet(id: number): WithDroplet_ItemRequestBuilder;
  action(id: number): WithAction_ItemRequestBuilder;
}

/**
 * Loads the SDK (some 60 ms) and returns how to let it make a request with a fetch of ours.
 *
 * The SDK builds URL and body. It never sees an answer, because its deserialiser throws on lists of strings and hides the status of
 * answers that are not JSON; no kiota middleware is used, because it repeats writes; only the metadata of eight resources is loaded,
 * because the whole client takes 280 ms.
 * @see https://github.com/microsoft/kiota-typescript/issues/2061 (verified 2026-08-07)
 */
export async function loadSDK(
  baseURL: string,
): Promise<(send: (sdk: SDK) => Promise<unknown>, fetch: SDKFetch) => Promise<unknown>> {
  const [{ apiClientProxifier }, http, json, modules] = await Promise.all([
    import("@microsoft/kiota-abstractions"),
    import("@microsoft/kiota-http-fetchlibrary"),
    import("@microsoft/kiota-serialization-json"),
    loadResources(),
  ]);
  return async (send, fetch) => {
    const adapter = new http.FetchRequestAdapter(
      { authenticateRequest: async () => undefined },
      new json.JsonParseNodeFactory(),
      new json.JsonSerializationWriterFactory(),
      new http.HttpClient(fetch, new http.CustomFetchHandler(fetch)),
    );
    adapter.baseUrl = baseURL;
    return await send(buildersOf(apiClientProxifier, adapter, modules));
  };
}

/** The metadata of the resources. */
type Resources = Awaited<ReturnType<typeof loadResources>>;

async function loadResources() {
  const [reservedIPs, reservedIPv6, action, droplet, droplets, account, domains, firewalls] = await Promise.all([
    import("@digitalocean/dots/src/dots/v2/reserved_ips/index.js"),
    import("@digitalocean/dots/src/dots/v2/reserved_ipv6/index.js"),
    import("@digitalocean/dots/src/dots/v2/actions/item/index.js"),
    import("@digitalocean/dots/src/dots/v2/droplets/item/index.js"),
    import("@digitalocean/dots/src/dots/v2/droplets/index.js"),
    import("@digitalocean/dots/src/dots/v2/account/index.js"),
    import("@digitalocean/dots/src/dots/v2/domains/index.js"),
    import("@digitalocean/dots/src/dots/v2/firewalls/index.js"),
  ]);
  return { reservedIPs, reservedIPv6, action, droplet, droplets, account, domains, firewalls };
}

function buildersOf(
  apiClientProxifier: typeof Proxifier,
  adapter: RequestAdapter,
  { reservedIPs, reservedIPv6, action, droplet, droplets, account, domains, firewalls }: Resources,
): SDK {
  return {
    reservedIPs: apiClientProxifier(
      adapter,
      {},
      reservedIPs.Reserved_ipsRequestBuilderNavigationMetadata,
      reservedIPs.Reserved_ipsRequestBuilderRequestsMetadata,
    ),
    reservedIPv6: apiClientProxifier(
      adapter,
      {},
      reservedIPv6.Reserved_ipv6RequestBuilderNavigationMetadata,
      reservedIPv6.Reserved_ipv6RequestBuilderRequestsMetadata,
    ),
    action: (id) =>
      apiClientProxifier(adapter, { action_id: id }, undefined, action.WithAction_ItemRequestBuilderRequestsMetadata),
    account: apiClientProxifier(adapter, {}, undefined, account.AccountRequestBuilderRequestsMetadata),
    domains: apiClientProxifier(
      adapter,
      {},
      domains.DomainsRequestBuilderNavigationMetadata,
      domains.DomainsRequestBuilderRequestsMetadata,
    ),
    droplets: apiClientProxifier(adapter, {}, undefined, droplets.DropletsRequestBuilderRequestsMetadata),
    firewalls: apiClientProxifier(
      adapter,
      {},
      firewalls.FirewallsRequestBuilderNavigationMetadata,
      firewalls.FirewallsRequestBuilderRequestsMetadata,
    ),
    droplet: (id) =>
      apiClientProxifier(
        adapter,
        { droplet_id: id },
        undefined,
        droplet.WithDroplet_ItemRequestBuilderRequestsMetadata,
      ),
  };
}
