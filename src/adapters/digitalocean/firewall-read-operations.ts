import type { Firewall } from "../../model/firewall.ts";
import type { FirewallProviderReader } from "../../ports/providers.ts";
import { jsonOf } from "../provider-http/answer.ts";
import { AnswerFault } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { decodeFirewall } from "./decode-firewall.ts";
import { expectedFailure } from "./expected-failure.ts";
import { FIREWALL_FACTS } from "./firewall-facts.ts";
import { decodePage, type ItemPage, listAll, pageSize } from "./list-all.ts";

/**
 * The reading half of the port over DigitalOcean's API: `/v2/firewalls`, `/v2/droplets`. The API hides what the token may not
 * read: without `droplet:read` no firewall shows a droplet, without `tag:read` none shows a tag.
 * @see https://docs.digitalocean.com/products/networking/firewalls/details/limits/ (verified 2026-08-07)
 */
export function firewallReadOperations(caller: Caller): FirewallProviderReader {
  return {
    name: "digitalocean",
    firewallLimits: { rules: 50, machines: 10 },
    listFirewalls: async () => {
      const firewalls = await listAll(caller, "firewalls", listCall);
      return firewalls.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
    getFirewall: async (id) => caller.call(getCall(id)),
    machinesWithTag: async (tag) => new Set(await listAll(caller, "droplets", (page) => taggedCall(tag, page))),
  };
}

function listCall(page: number): Call<ItemPage<Firewall>> {
  return {
    ...FIREWALL_FACTS.list(page),
    send: (client, configuration) =>
      client.firewalls.get({ ...configuration, queryParameters: { page, perPage: pageSize } }),
    decode: (answer) =>
      decodePage(answer, { key: "firewalls", page }, (item) => {
        const firewall = decodeFirewall(item);
        return { id: firewall.id, value: firewall };
      }),
  };
}

function getCall(id: string): Call<Firewall | undefined> {
  const facts = FIREWALL_FACTS.get(id);
  const { subject } = facts;
  return {
    ...facts,
    send: (client, configuration) => client.firewalls.byFirewall_id(subject).get(configuration),
    decode(answer) {
      const firewall = decodeFirewall(jsonOf(answer).at("firewall"));
      if (firewall.id !== subject) throw new AnswerFault(`firewall.id is ${firewall.id}, not ${subject}`);
      return firewall;
    },
    expected: expectedFailure("not-found", undefined),
  };
}

/** What does not carry the tag is left out: a filter that is ignored must not make every droplet look covered. */
function taggedCall(tag: string, page: number): Call<ItemPage<string>> {
  return {
    ...FIREWALL_FACTS.tagged(tag, page),
    send: (client, configuration) =>
      client.droplets.get({ ...configuration, queryParameters: { tagName: tag, page, perPage: pageSize } }),
    decode: (answer) =>
      decodePage(answer, { key: "droplets", page }, (item) => {
        const id = answeredID(item.at("id"));
        const tags = item.at("tags").items();
        const hasTag = tags.some((other) => other.text().toLowerCase() === tag.toLowerCase());
        return { id, value: hasTag ? id : undefined };
      }),
    expected: expectedFailure("not-found", { items: [], hasMore: false, total: 0 }),
  };
}
