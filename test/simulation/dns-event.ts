import type { DNSProviderName } from "./history.ts";
import type { RecordSetSpecText } from "./pool-spec-text.ts";

/** What somebody does to the records of a zone by hand. */
export type HandEdit = "add" | "remove" | "remove-all" | "replace" | "double" | "ttl" | "others" | "cname";

/** Something that happens to record sets, or to a provider of DNS. */
export type DNSEvent = { readonly atMs: number } & (
  | { readonly kind: "record-set"; readonly name: string; readonly spec: RecordSetSpecText }
  | {
      readonly kind: "edit-record-set";
      readonly name: string;
      readonly spec: Partial<Record<keyof RecordSetSpecText, unknown>>;
    }
  | { readonly kind: "delete-record-set"; readonly name: string }
  | { readonly kind: "wipe-record-set"; readonly name: string }
  | { readonly kind: "node-addresses"; readonly name: string; readonly external: readonly string[] }
  | {
      readonly kind: "hand-record";
      readonly provider: DNSProviderName;
      readonly zone: string;
      readonly fqdn: string;
      readonly edit: HandEdit;
      readonly pick: number;
    }
  | { readonly kind: "zone"; readonly provider: DNSProviderName; readonly zone: string; readonly isThere: boolean }
  | {
      readonly kind: "automatic-ttl";
      readonly provider: DNSProviderName;
      readonly zone: string;
      readonly fqdn: string;
      readonly value: boolean;
    }
);
