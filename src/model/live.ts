/** What one DNS server says of one set of address records. */
export type ServerAnswer =
  | {
      /** Its name, such as `ns1.digitalocean.com`; its address where it has no name. */
      readonly server: string;
      /** Sorted; empty where the name has none. */
      readonly addresses: readonly string[];
      /** Seconds, as the server tells it; the lowest where records differ. Absent without records. */
      readonly ttlSeconds?: number;
    }
  | { readonly server: string; readonly error: string };

/** What the authoritative servers of a zone say of a name, sorted by server; or why it is not known which servers these are. */
export type ZoneAnswer = { readonly servers: readonly ServerAnswer[] } | { readonly error: string };

/** The name of an object as its DNS provider and the servers of its zone have it now. */
export type LiveName =
  | {
      readonly kind: "read";
      /** As `setText` has it. */
      readonly fqdn: string;
      readonly provider: string;
      /** Of its records at the provider. Sorted. */
      readonly addresses: readonly string[];
      /** True where the provider answers with addresses of its own in place of the records. */
      readonly isProxied: boolean;
      readonly answer: ZoneAnswer;
    }
  | { readonly kind: "unread"; readonly fqdn: string; readonly provider: string; readonly error: string };
