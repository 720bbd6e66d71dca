import { YAMLFile } from "../yaml-file.ts";
import type { AccountState } from "./account-state.ts";
import { completeAccount } from "./complete-account.ts";

const header = `The Cloudflare account of this sandbox. Edit it at any time: it is read again before the next request.
Try: change the content or ttl of a record · proxied: true · comment: "kept by people" · remove a record or a zone ·
settings.records_per_zone: 3 · settings.requests_per_5_minutes: 10 (then 429 for five minutes) ·
tokens: {my-token: {example.com: [zone:read, dns:edit]}} ("*" = every zone; permissions zone:read, dns:read, dns:edit; no
token at all = any token is accepted). Missing fields get defaults: "zones: [{name: example.com}]" is enough.
Comments further down are lost when it is written.`;

/** `cloudflare.yaml` of a sandbox directory. Its `load` throws ConfigError with the file, and the line or path that is wrong. */
export function worldFile(path: string): YAMLFile<AccountState> {
  return new YAMLFile<AccountState>(path, { header, decode: completeAccount });
}
