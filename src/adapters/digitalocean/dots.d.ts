/**
 * The part of `@digitalocean/dots` 1.19.0 that flipop uses. The package ships TypeScript sources beside its JavaScript and
 * no declarations, and the sources do not pass our compiler flags; `paths` in tsconfig.json leads each of these specifiers
 * here. A test compares the names and the shape of the metadata with the real modules. The promises are `unknown` because
 * the SDK never sees an answer.
 */

declare module "@digitalocean/dots/src/dots/v2/reserved_ips/index.js" {
  import type { NavigationMetadata, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/reserved_ips` */
  export interface Reserved_ipsRequestBuilder {
    byReserved_ip(reservedIP: string): {
      get(): Promise<unknown>;
      delete(): Promise<unknown>;
      /** `/v2/reserved_ips/{reserved_ip}/actions` */
      readonly actions: {
        post(body: { readonly type: "assign"; readonly dropletId: number } | { readonly type: "unassign" }): Promise<unknown>;
        byAction_id(actionID: number): { get(): Promise<unknown> };
      };
    };
    get(configuration: { readonly queryParameters: { page: number; perPage: number } }): Promise<unknown>;
    post(body: { readonly dropletId: number } | { readonly region: string }): Promise<unknown>;
  }

  export const Reserved_ipsRequestBuilderNavigationMetadata: Record<"byReserved_ip", NavigationMetadata>;
  export const Reserved_ipsRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/reserved_ipv6/index.js" {
  import type { NavigationMetadata, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/reserved_ipv6` */
  export interface Reserved_ipv6RequestBuilder {
    byReserved_ipv6(reservedIPv6: string): {
      get(): Promise<unknown>;
      delete(): Promise<unknown>;
      /** `/v2/reserved_ipv6/{reserved_ipv6}/actions` */
      readonly actions: {
        post(body: { readonly type: "assign"; readonly dropletId: number } | { readonly type: "unassign" }): Promise<unknown>;
      };
    };
    get(configuration: { readonly queryParameters: { page: number; perPage: number } }): Promise<unknown>;
    post(body: { readonly regionSlug: string }): Promise<unknown>;
  }

  export const Reserved_ipv6RequestBuilderNavigationMetadata: Record<"byReserved_ipv6", NavigationMetadata>;
  export const Reserved_ipv6RequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/actions/item/index.js" {
  import type { RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/actions/{action_id}`; the number is the path parameter `action_id`. */
  export interface WithAction_ItemRequestBuilder {
    get(): Promise<unknown>;
  }

  export const WithAction_ItemRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/droplets/item/index.js" {
  import type { RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/droplets/{droplet_id}`; the number is the path parameter `droplet_id`. */
  export interface WithDroplet_ItemRequestBuilder {
    get(): Promise<unknown>;
  }

  export const WithDroplet_ItemRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/account/index.js" {
  import type { RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/account` */
  export interface AccountRequestBuilder {
    get(): Promise<unknown>;
  }

  export const AccountRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/domains/index.js" {
  import type { NavigationMetadata, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/domains` */
  export interface DomainsRequestBuilder {
    get(configuration: { readonly queryParameters: { page: number; perPage: number } }): Promise<unknown>;
    byDomain_name(domainName: string): {
      get(): Promise<unknown>;
      readonly records: RecordsRequestBuilder;
    };
  }

  /** `/v2/domains/{domain_name}/records` */
  export interface RecordsRequestBuilder {
    byDomain_record_id(recordID: number): {
      patch(body: { readonly type: "A" | "AAAA"; readonly ttl: number }): Promise<unknown>;
      delete(): Promise<unknown>;
    };
    get(configuration: {
      readonly queryParameters: { name?: string; type?: "A" | "AAAA" | "TXT"; page: number; perPage: number };
    }): Promise<unknown>;
    post(body: {
      readonly type: "A" | "AAAA";
      readonly name: string;
      readonly data: string;
      readonly ttl: number;
    }): Promise<unknown>;
  }

  export const DomainsRequestBuilderNavigationMetadata: Record<"byDomain_name", NavigationMetadata>;
  export const DomainsRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/droplets/index.js" {
  import type { RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/droplets` */
  export interface DropletsRequestBuilder {
    get(configuration: {
      readonly queryParameters: { tagName: string; page: number; perPage: number };
    }): Promise<unknown>;
  }

  export const DropletsRequestBuilderRequestsMetadata: RequestsMetadata;
}

declare module "@digitalocean/dots/src/dots/v2/firewalls/index.js" {
  import type { NavigationMetadata, RequestsMetadata } from "@microsoft/kiota-abstractions";

  /** `/v2/firewalls` */
  export interface FirewallsRequestBuilder {
    /** `/v2/firewalls/{firewall_id}`; it has a `put` as well, which flipop must never use. */
    byFirewall_id(firewallID: string): {
      get(): Promise<unknown>;
      readonly rules: { post(body: Firewall_rules): Promise<unknown>; delete(body: Firewall_rules): Promise<unknown> };
      readonly droplets: { post(body: DropletIDs): Promise<unknown>; delete(body: DropletIDs): Promise<unknown> };
    };
    get(configuration: { readonly queryParameters: { page: number; perPage: number } }): Promise<unknown>;
  }

  interface DropletIDs {
    readonly dropletIds: readonly number[];
  }

  interface Firewall_rules {
    readonly inboundRules: readonly {
      readonly protocol: "tcp" | "udp" | "icmp";
      readonly ports: string;
      readonly sources: { readonly addresses: readonly string[] };
    }[];
  }

  export const FirewallsRequestBuilderNavigationMetadata: Record<"byFirewall_id", NavigationMetadata>;
  export const FirewallsRequestBuilderRequestsMetadata: RequestsMetadata;
}
