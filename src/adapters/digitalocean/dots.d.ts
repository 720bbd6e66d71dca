/**
 * The part of `@digitalocean/dots` 1.19.0 that flipop uses. The package ships TypeScript sources beside its JavaScript and
 * no declarations, and the sources do not pass our compiler flags; `paths` in tsconfig.json leads each of these specifiers
 * here. A test compares the names and the shape of the metadata with the real modules. The promises are `unknown` because
 * every call is made with a native response handler, which leaves nothing to resolve with.
 */

declare module "@digitalocean/dots/src/dots/v2/reserved_ips/index.js" {
  import type { NavigationMetadata, RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  export interface Reserved_ipsRequestBuilderGetQueryParameters {
    page?: number;
    perPage?: number;
  }

  /** `/v2/reserved_ips` */
  export interface Reserved_ipsRequestBuilder {
    byReserved_ip(reservedIP: string): WithReserved_ipItemRequestBuilder;
    get(configuration?: RequestConfiguration<Reserved_ipsRequestBuilderGetQueryParameters>): Promise<unknown>;
    post(
      body: { readonly dropletId: number } | { readonly region: string },
      configuration?: RequestConfiguration<object>,
    ): Promise<unknown>;
  }

  /** `/v2/reserved_ips/{reserved_ip}` */
  export interface WithReserved_ipItemRequestBuilder {
    readonly actions: ActionsRequestBuilder;
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
    delete(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  /** `/v2/reserved_ips/{reserved_ip}/actions` */
  export interface ActionsRequestBuilder {
    byAction_id(actionID: number): WithAction_ItemRequestBuilder;
    post(
      body: { readonly type: "assign"; readonly dropletId: number } | { readonly type: "unassign" },
      configuration?: RequestConfiguration<object>,
    ): Promise<unknown>;
  }

  /** `/v2/reserved_ips/{reserved_ip}/actions/{action_id}` */
  export interface WithAction_ItemRequestBuilder {
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export const Reserved_ipsRequestBuilderNavigationMetadata: Record<"byReserved_ip", NavigationMetadata>;
  export const Reserved_ipsRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/droplets/item/index.js" {
  import type { RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/droplets/{droplet_id}`; the number is the path parameter `droplet_id`. */
  export interface WithDroplet_ItemRequestBuilder {
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export const WithDroplet_ItemRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/account/index.js" {
  import type { RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/account` */
  export interface AccountRequestBuilder {
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export const AccountRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/domains/index.js" {
  import type { NavigationMetadata, RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/domains` */
  export interface DomainsRequestBuilder {
    byDomain_name(domainName: string): WithDomain_nameItemRequestBuilder;
  }

  /** `/v2/domains/{domain_name}` */
  export interface WithDomain_nameItemRequestBuilder {
    readonly records: RecordsRequestBuilder;
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export interface RecordsRequestBuilderGetQueryParameters {
    name?: string;
    type?: "A";
    page?: number;
    perPage?: number;
  }

  /** `/v2/domains/{domain_name}/records` */
  export interface RecordsRequestBuilder {
    byDomain_record_id(recordID: number): WithDomain_record_ItemRequestBuilder;
    get(configuration?: RequestConfiguration<RecordsRequestBuilderGetQueryParameters>): Promise<unknown>;
    post(
      body: { readonly type: "A"; readonly name: string; readonly data: string; readonly ttl: number },
      configuration?: RequestConfiguration<object>,
    ): Promise<unknown>;
  }

  /** `/v2/domains/{domain_name}/records/{domain_record_id}` */
  export interface WithDomain_record_ItemRequestBuilder {
    patch(
      body: { readonly type: "A"; readonly ttl: number },
      configuration?: RequestConfiguration<object>,
    ): Promise<unknown>;
    delete(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export const DomainsRequestBuilderNavigationMetadata: Record<"byDomain_name", NavigationMetadata>;
}

declare module "@digitalocean/dots/src/dots/v2/droplets/index.js" {
  import type { RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  export interface DropletsRequestBuilderGetQueryParameters {
    tagName?: string;
    page?: number;
    perPage?: number;
  }

  /** `/v2/droplets` */
  export interface DropletsRequestBuilder {
    get(configuration?: RequestConfiguration<DropletsRequestBuilderGetQueryParameters>): Promise<unknown>;
  }

  export const DropletsRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/firewalls/index.js" {
  import type { NavigationMetadata, RequestConfiguration, RequestsMetadata } from "@microsoft/kiota-abstractions";

  export interface FirewallsRequestBuilderGetQueryParameters {
    page?: number;
    perPage?: number;
  }

  /** `/v2/firewalls` */
  export interface FirewallsRequestBuilder {
    byFirewall_id(firewallID: string): WithFirewall_ItemRequestBuilder;
    get(configuration?: RequestConfiguration<FirewallsRequestBuilderGetQueryParameters>): Promise<unknown>;
  }

  /** `/v2/firewalls/{firewall_id}`; it has a `put` as well, which flipop must never use. */
  export interface WithFirewall_ItemRequestBuilder {
    readonly rules: RulesRequestBuilder;
    readonly droplets: DropletsOfFirewallRequestBuilder;
    get(configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  export interface Firewall_rules {
    readonly inboundRules: readonly {
      readonly protocol: "tcp" | "udp" | "icmp";
      readonly ports: string;
      readonly sources: { readonly addresses: readonly string[] };
    }[];
  }

  /** `/v2/firewalls/{firewall_id}/rules` */
  export interface RulesRequestBuilder {
    post(body: Firewall_rules, configuration?: RequestConfiguration<object>): Promise<unknown>;
    delete(body: Firewall_rules, configuration?: RequestConfiguration<object>): Promise<unknown>;
  }

  /** `/v2/firewalls/{firewall_id}/droplets` */
  export interface DropletsOfFirewallRequestBuilder {
    post(body: { readonly dropletIds: readonly number[] }, configuration?: RequestConfiguration<object>): Promise<unknown>;
    delete(
      body: { readonly dropletIds: readonly number[] },
      configuration?: RequestConfiguration<object>,
    ): Promise<unknown>;
  }

  export const FirewallsRequestBuilderNavigationMetadata: Record<"byFirewall_id", NavigationMetadata>;
  export const FirewallsRequestBuilderRequestsMetadata: RequestsMetadata;
}
