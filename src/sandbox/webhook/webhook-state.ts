import { checked, fileSchema } from "../yaml-file.ts";

/** All records of one name and type, as the protocol has them. */
export interface RecordSet {
  dnsName: string;
  recordType: string;
  targets: string[];
  /** Seconds; absent = the provider decides. */
  recordTTL?: number;
  setIdentifier?: string;
  labels?: Record<string, string>;
  providerSpecific?: { name: string; value: string }[];
}

/** How the webhook differs from the best one. */
interface WebhookSettings {
  /** The bearer token that it wants; `""` = none. */
  token: string;
  /** Lower TTLs are raised to it. */
  least_ttl: number;
  /** Higher TTLs are lowered to it. */
  most_ttl: number;
  /** For so long it shows what it read before; 0 = it always looks. */
  cache_seconds: number;
  /** Of a set only so many targets are stored; 0 = all. */
  targets_per_set: number;
  /** Settings of the provider that each set gets. */
  provider_specific: { name: string; value: string }[];
}

/** The emulated webhook: plain, serialisable, and exactly what `webhook.yaml` holds. */
export interface WebhookState {
  /** With the names below them; empty = all names. */
  domains: string[];
  excluded: string[];
  /** In the order they were made. */
  records: RecordSet[];
  settings: WebhookSettings;
}

const count = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;
const texts = { type: "array", items: text, default: [] } as const;

function object(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

const settings = { type: "array", items: object({ name: text, value: text }, ["name", "value"]) };

const record = {
  dnsName: text,
  recordType: { ...text, default: "A" },
  targets: texts,
  recordTTL: count,
  setIdentifier: text,
  labels: { type: "object", additionalProperties: text },
  providerSpecific: settings,
};

const longest = 2_147_483_647;

/** JSON Schema of `webhook.yaml`, with every default. */
const validate = fileSchema(
  object({
    domains: texts,
    excluded: texts,
    records: { type: "array", items: object(record, ["dnsName"]), default: [] },
    settings: {
      ...object({
        token: { ...text, default: "" },
        least_ttl: { ...count, default: 0 },
        most_ttl: { ...count, default: longest },
        cache_seconds: { ...count, default: 0 },
        targets_per_set: { ...count, default: 0 },
        provider_specific: { ...settings, default: [] },
      }),
      default: {},
    },
  }),
);

/** The whole state for what a person wrote: `{domains: [example.org]}` is enough. The input is not changed. @throws BadValue */
export function completeWebhook(input: unknown): WebhookState {
  return checked<WebhookState>(validate, input ?? {});
}

/** Head of a new `webhook.yaml`. */
export const WEBHOOK_HEADER: string = `The DNS webhook of this sandbox, as external-dns has them: objects name it with provider: webhook. Edit it at any time: it is read again before
the next request. Try: domains: [example.org] (no other name is looked after; none at all = every name) · the targets or recordTTL of a record ·
settings.least_ttl: 300 · settings.cache_seconds: 120 (a change is seen late) · settings.targets_per_set: 1 (a bad webhook).
Comments further down are lost when it is written.`;
