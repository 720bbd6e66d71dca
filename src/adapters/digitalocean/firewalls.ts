import { type Firewall, type FirewallRule, type PortRange, portRange, portText } from "../../model/firewall.ts";
import type { FirewallProvider, FirewallProviderReader } from "../../ports/providers.ts";
import { AnswerFault, type AnswerValue, jsonOf } from "../provider-http/answer.ts";
import type { CallFacts } from "../provider-http/provider-caller.ts";
import { type Call, type Caller, decodePage, expectedFailure, type ItemPage, listAll, pageSize } from "./api.ts";
import { answeredID, firewallSubject, machineSubject, tagSubject, uuid } from "./ids.ts";
import type { Send } from "./sdk.ts";

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

/**
 * The writing half of the port over DigitalOcean's API, which adds and removes and never replaces: a PUT would reset whatever
 * it does not name. Without ports or machines nothing is sent.
 */
export function firewallWriteOperations(caller: Caller): Omit<FirewallProvider, keyof FirewallProviderReader> {
  const change = (facts: CallFacts, send: Send): Promise<void> =>
    caller.call({ ...facts, send, decode: () => undefined });
  return {
    async openPorts(id, ports) {
      if (ports.length === 0) return;
      const facts = FIREWALL_FACTS.open(id, ports);
      const inboundRules = ports.map(openRule);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).rules.post({ inboundRules }, configuration),
      );
    },
    async closePorts(id, ports) {
      if (ports.length === 0) return;
      const facts = FIREWALL_FACTS.close(id, ports);
      const inboundRules = ports.map(openRule);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).rules.delete({ inboundRules }, configuration),
      );
    },
    async addMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...facts } = FIREWALL_FACTS.add(id, machineIDs);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).droplets.post({ dropletIds }, configuration),
      );
    },
    async removeMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...facts } = FIREWALL_FACTS.remove(id, machineIDs);
      await change(facts, (client, configuration) =>
        client.firewalls.byFirewall_id(facts.subject).droplets.delete({ dropletIds }, configuration),
      );
    },
  };
}

/**
 * What texts, errors and counters need to know about the calls to firewalls. Pure.
 * @throws ProviderError `refused`, before anything is sent, when an id is none or a tag is empty
 */
export const FIREWALL_FACTS = {
  list(page: number): CallFacts {
    const doing = `list the firewalls (page ${page})`;
    return { operation: "firewalls", subject: "", doing, scope: "firewall:read", isWrite: false };
  },

  get(id: string): CallFacts {
    const facts = { operation: "firewall", doing: `read the firewall ${id}`, scope: "firewall:read", isWrite: false };
    return { ...facts, subject: firewallSubject(facts, id) };
  },

  tagged(tag: string, page: number): CallFacts {
    const doing = `list the droplets with the tag ${JSON.stringify(tag)} (page ${page})`;
    const facts = { operation: "tagged-machines", doing, scope: "droplet:read and tag:read", isWrite: false };
    return { ...facts, subject: tagSubject(facts, tag) };
  },

  open: (id: string, ports: readonly PortRange[]): CallFacts =>
    changeFacts(id, "open-ports", `open ${textOf(ports)} in the firewall ${id}`),

  close: (id: string, ports: readonly PortRange[]): CallFacts =>
    changeFacts(id, "close-ports", `close ${textOf(ports)} in the firewall ${id}`),

  add(id: string, machineIDs: readonly string[]): MachineFacts {
    const facts = changeFacts(id, "add-machines", `add ${dropletsOf(machineIDs)} to the firewall ${id}`);
    const notFoundAdvice = `Either the account has no firewall ${facts.subject}, or it has not all of these droplets.`;
    return { ...facts, notFoundAdvice, dropletIds: numbersOf(facts, machineIDs) };
  },

  remove(id: string, machineIDs: readonly string[]): MachineFacts {
    const facts = changeFacts(id, "remove-machines", `remove ${dropletsOf(machineIDs)} from the firewall ${id}`);
    return { ...facts, dropletIds: numbersOf(facts, machineIDs) };
  },
};

/** Those of a call about machines, and the machines as the API numbers them. */
interface MachineFacts extends CallFacts {
  readonly dropletIds: readonly number[];
}

function changeFacts(id: string, operation: string, doing: string): CallFacts {
  const facts = { operation, doing, scope: "firewall:update", isWrite: true };
  const subject = firewallSubject(facts, id);
  const notFoundAdvice = `The account has no firewall ${subject}: make one, and name it in routedIPFirewallName.`;
  return { ...facts, subject, notFoundAdvice };
}

function numbersOf(facts: CallFacts, machineIDs: readonly string[]): readonly number[] {
  return machineIDs.map((machineID) => machineSubject(facts, machineID));
}

function textOf(ports: readonly PortRange[]): string {
  return ports.map(portText).join(", ");
}

function dropletsOf(machineIDs: readonly string[]): string {
  return `${machineIDs.length === 1 ? "droplet" : "droplets"} ${machineIDs.join(", ")}`;
}

/**
 * Returns the firewall in a `firewall` object. Every list may be null. Its progress is what `status` and `pending_changes` say
 * (DigitalOcean's OpenAPI, 2026-08-07: a change is pending per droplet):
 * 1. A droplet that a pending change names is pending, or failed where that change is `failed`. An entry that `succeeded` is over.
 * 2. The whole firewall is waiting while a pending change names no droplet (absent, or 0), or the status is `waiting` and no
 *    change is pending.
 * 3. A status that is not known yet counts as `waiting`. With `failed` the provider has given up, so nothing is waited for.
 * @throws AnswerFault
 */
export function decodeFirewall(value: AnswerValue): Firewall {
  const inbound = listAt(value, "inbound_rules");
  return {
    id: value.at("id").textLike(uuid, "a UUID").toLowerCase(),
    name: value.at("name").text(),
    rules: inbound.flatMap((rule) => decodeRule(rule) ?? []).sort(byPorts),
    ruleCount: inbound.length + listAt(value, "outbound_rules").length,
    machineIDs: sortedTexts(listAt(value, "droplet_ids").map(answeredID)),
    tags: sortedTexts(listAt(value, "tags").map((tag) => tag.text())),
    ...decodeProgress(value),
  };
}

function decodeProgress(value: AnswerValue): Pick<Firewall, "isWaiting" | "pendingMachineIDs" | "failedMachineIDs"> {
  const changes = listAt(value, "pending_changes").map((change) => {
    const droplet = change.at("droplet_id");
    const isNamed = !droplet.isAbsent && droplet.raw !== 0;
    return { ids: isNamed ? [answeredID(droplet)] : [], status: statusAt(change) };
  });
  const pending = changes.filter(({ status }) => status !== "failed" && status !== "succeeded");
  const status = statusAt(value);
  const isAtRest = status === undefined || status === "succeeded" || status === "failed";
  const pendingMachineIDs = sortedTexts(pending.flatMap(({ ids }) => ids));
  const failed = sortedTexts(changes.flatMap((change) => (change.status === "failed" ? change.ids : [])));
  return {
    isWaiting: pending.some(({ ids }) => ids.length === 0) || (!isAtRest && pending.length === 0),
    pendingMachineIDs,
    failedMachineIDs: failed.filter((id) => !pendingMachineIDs.includes(id)),
  };
}

function statusAt(value: AnswerValue): string | undefined {
  const status = value.at("status");
  return status.isAbsent ? undefined : status.text();
}

/** Undefined for a protocol that the model does not know. */
function decodeRule(value: AnswerValue): FirewallRule | undefined {
  const protocol = value.at("protocol").text();
  if (portRange(protocol, "") === undefined) return undefined;
  const written = value.at("ports");
  const text = written.isAbsent ? "" : written.text();
  const ports = portRange(protocol, text);
  if (ports === undefined) throw written.fault("a port or a range of ports");
  const action = value.at("action");
  const isAllowing = action.isAbsent || action.text() === "allow";
  const { addresses, hasOthers } = sourcesOf(value.at("sources"));
  const isExactly = ANYBODY.length === addresses.size && ANYBODY.every((address) => addresses.has(address));
  const isOurForm = ports.protocol === "icmp" || text === writtenPorts(ports);
  return {
    ports,
    isOpenToAll: isAllowing && addresses.has("0.0.0.0/0"),
    isPlain: isAllowing && isExactly && !hasOthers && isOurForm,
  };
}

/** The addresses of a rule's sources, and whether it has sources of any other kind. */
function sourcesOf(value: AnswerValue): { readonly addresses: ReadonlySet<string>; readonly hasOthers: boolean } {
  if (value.isAbsent) return { addresses: new Set(), hasOthers: false };
  const addresses = new Set(listAt(value, "addresses").map((address) => address.text()));
  const { addresses: _, ...others } = value.raw as Readonly<Record<string, unknown>>;
  return { addresses, hasOthers: Object.values(others).some((sources) => !isNothing(sources)) };
}

function isNothing(sources: unknown): boolean {
  return sources === null || (Array.isArray(sources) && sources.length === 0);
}

function listAt(value: AnswerValue, field: string): readonly AnswerValue[] {
  const list = value.at(field);
  return list.isAbsent ? [] : list.items();
}

/** Rules of the same ports in one order, too, whatever order they came in. */
function byPorts(a: FirewallRule, b: FirewallRule): number {
  const [one, other] = [portText(a.ports), portText(b.ports)];
  if (one !== other) return one < other ? -1 : 1;
  return Number(b.isPlain) - Number(a.isPlain) || Number(b.isOpenToAll) - Number(a.isOpenToAll);
}

function sortedTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

/** The sources of the rules that flipop writes, in CIDR notation: every IPv4 and every IPv6 address. */
const ANYBODY: readonly string[] = ["0.0.0.0/0", "::/0"];

/** An inbound rule as the SDK takes it. */
interface OpenRule {
  readonly protocol: "tcp" | "udp" | "icmp";
  readonly ports: string;
  readonly sources: { readonly addresses: string[] };
}

/** The inbound rule that lets everybody in on these ports; the same value adds it and removes it. Pure. */
export function openRule(ports: PortRange): OpenRule {
  return { protocol: ports.protocol, ports: writtenPorts(ports), sources: { addresses: [...ANYBODY] } };
}

/**
 * `80`, `8000-9000`, `1-65535` for all ports, `0` for icmp. Pure.
 *
 * All ports have three spellings. The API has at times refused `0` and at times `all`, and it shows both as `0`, so that a
 * removal of `all` finds nothing; the plain range has always been accepted and comes back as it was written.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/pull/39, https://github.com/patoroco/doorkeeper/pull/17,
 *   https://github.com/mondoohq/cnspec/pull/3839 (verified 2026-11-21)
 */
function writtenPorts({ from, to }: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}
