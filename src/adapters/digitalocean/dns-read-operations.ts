import type { Zone } from "../../model/dns.ts";
import type { DNSProviderReader } from "../../ports/providers.ts";
import { jsonOf } from "../provider-http/answer.ts";
import { AnswerFault } from "../provider-http/answer-value.ts";
import { lookPurpose } from "../provider-http/call-budget.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { expectedFailure } from "./expected-failure.ts";
import { listRecords, listZone } from "./list-records.ts";
import { recordName, zoneSubject } from "./record-name.ts";
import { recordSetState } from "./record-set-state.ts";

/** The reading half of the port over DigitalOcean's API: `/v2/domains/{domain}` and its `records`. A zone's id is its name. */
export function dnsReadOperations(caller: Caller): DNSProviderReader {
  return {
    name: "digitalocean",
    ttlRules: { minimumSeconds: 30 },
    isBatched: false,
    findZone: async (zone) => caller.for("recovery").call(zoneCall(zone)),
    readRecords: async (zone, fqdn, isAwaited) => {
      const name = recordName(readFacts(zone, fqdn), zone, fqdn);
      return recordSetState(name.fqdn, await listRecords(caller.for(lookPurpose(isAwaited)), name));
    },
    listRecords: async (zone, mostCalls, isAwaited) => {
      const doing = `list the A records of the zone ${JSON.stringify(zone.id)}`;
      const facts = { operation: "records", doing, scope: "domain:read", isWrite: false };
      return await listZone(caller.for(lookPurpose(isAwaited)), zoneSubject(facts, zone.id), mostCalls);
    },
  };
}

function readFacts(zone: Zone, fqdn: string): Parameters<typeof recordName>[0] {
  const doing = `read the A records of ${JSON.stringify(fqdn)} in the zone ${JSON.stringify(zone.id)}`;
  return { operation: "records", doing, scope: "domain:read", isWrite: false };
}

function zoneCall(zone: string): Call<Zone | undefined> {
  const doing = `find the zone ${JSON.stringify(zone)}`;
  const facts = { operation: "zone", doing, scope: "domain:read", isWrite: false };
  const subject = zoneSubject(facts, zone);
  return {
    ...facts,
    doing: `find the zone ${subject}`,
    subject,
    send: (client, configuration) => client.domains.byDomain_name(subject).get(configuration),
    decode(answer) {
      const name = jsonOf(answer).at("domain").at("name").text().toLowerCase();
      if (name !== subject)
        throw new AnswerFault(`domain.name is ${JSON.stringify(name.slice(0, 40))}, not ${subject}`);
      return { id: name, name };
    },
    expected: expectedFailure("not-found", undefined),
  };
}
