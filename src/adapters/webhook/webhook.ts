// A DNS provider behind a webhook of external-dns.
//
//   Reading   The protocol knows no zones and no single names. One read of everything serves all who ask at the same time (shared-read.ts). A zone is whatever lies within the
//             domains that the webhook looks after (domains.ts).
//   Changing  A change sends the whole set of a name: as it was read, and as it is wanted, so that labels and settings of the provider stay. There is no precondition, so the
//             set is read right before. What somebody else does between that and the change is lost; whether a name is without records in between is the webhook's doing.
//   Seeing    An accepted change is looked for until it is seen. Some webhooks show for minutes what they read before. Then the change is not sent again, but looked for in
//             later passes.

import type { Zone } from "../../model/dns.ts";
import { setText } from "../../model/record-types.ts";
import type { DNSProvider, DNSProviderReader, ProviderMeter, RecordSetChange } from "../../ports/providers.ts";
import { recordSetState } from "../dns/record-sets.ts";
import { textsAmong } from "../dns/zone-texts.ts";
import type { CallInfo } from "../http/failures.ts";
import { lookPurpose } from "../http/limits.ts";
import { type Client, createClient, type WebhookOptions } from "./api.ts";
import { callOf, WebhookReader } from "./read-records.ts";
import { WebhookWriter } from "./write-records.ts";

/**
 * Returns the provider behind a webhook. Sends nothing before the first call.
 * @throws ConfigError when the base URL is not usable
 */
export function createWebhook(
  options: WebhookOptions,
  client: Client = createClient(options),
): DNSProvider & ProviderMeter {
  const reader = new WebhookReader(options, client);
  const writer = new WebhookWriter(options, client, reader);
  return Object.assign(portOf(reader, client), {
    writeRecords: (zone: Zone, fqdn: string, change: RecordSetChange) => writer.write(zone, fqdn, change),
  });
}

/**
 * Returns the provider behind a webhook for commands that never write: there is no method that could, at run time either.
 * @throws ConfigError when the base URL is not usable
 */
export function createWebhookReader(options: WebhookOptions): DNSProviderReader & ProviderMeter {
  const client = createClient(options);
  return portOf(new WebhookReader(options, client), client);
}

function portOf(webhook: WebhookReader, client: Client): DNSProviderReader & ProviderMeter {
  return {
    name: webhook.name,
    get ttlRules() {
      return webhook.ttlRules;
    },
    isBatched: true,
    findZone: (zone) => webhook.findZone(zone),
    zoneNames: () => webhook.zoneNames(),
    readRecords: async (zone, fqdn, isAwaited) => {
      const { name, records } = await webhook.look(zone, fqdn, lookPurpose(isAwaited));
      return recordSetState(setText(name), records);
    },
    listRecords: (zone, _mostCalls, isAwaited, type = "A") => webhook.list(zone, type, lookPurpose(isAwaited)),
    listTexts: async (zone) => {
      const records = await webhook.everythingIn(zone, textsOf(zone.id), lookPurpose(true));
      return textsAmong(
        records.flatMap(({ fqdn, type, targets }) => targets.map((content) => ({ id: "", type, fqdn, content }))),
      );
    },
    readTexts: async (zone, fqdn) => {
      const records = await webhook.everythingIn(zone, textsOf(fqdn), lookPurpose(true));
      const own = records.filter((set) => set.fqdn === fqdn && set.type === "TXT");
      return own.flatMap(({ targets }) => targets.map((text) => ({ fqdn, text })));
    },
    ...client.meter,
  };
}

function textsOf(subject: string): CallInfo {
  return callOf("texts", subject, `read the TXT records of ${subject}`);
}
