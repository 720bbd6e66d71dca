// Cloud firewalls: `/v2/firewalls`, with `/v2/droplets` for tags.

import {
  compareRules,
  EVERYBODY,
  type Firewall,
  type FirewallRule,
  familiesIn,
  type PortRange,
  portRange,
  portText,
} from "../../model/firewall.ts";
import type { FirewallProvider, FirewallProviderReader } from "../../ports/providers.ts";
import {
  ANY,
  AnswerFault,
  anyList,
  check,
  choose,
  list,
  map,
  maybe,
  object,
  read,
  type Schema,
  TEXT,
} from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { type Client, callTo, expectedFailure, listAll, PAGE_SIZE, readPage, refused } from "./api.ts";
import { aboutFirewall, dropletNumber, FIREWALL_ID, ID } from "./ids.ts";
import type { SDK } from "./sdk.ts";

/**
 * Returns the reading half of the port over DigitalOcean's API. The API hides what the token may not read: without `droplet:read`
 * no firewall shows a droplet, without `tag:read` none shows a tag.
 * @see https://docs.digitalocean.com/products/networking/firewalls/details/limits/ (verified 2026-08-07)
 */
export function firewallReader(client: Client): FirewallProviderReader {
  return {
    name: "digitalocean",
    firewallLimits: { rules: 50, machines: 10 },

    listFirewalls: async () => {
      const item = map(FIREWALL, (firewall) => ({ id: firewall.id, value: firewall }));
      const firewalls = await listAll(client, "firewalls", (page) => ({
        ...FIREWALL_CALLS.list(page),
        send: (sdk) => sdk.firewalls.get({ queryParameters: { page, perPage: PAGE_SIZE } }),
        read: (body) => readPage(body, { key: "firewalls", page }, item),
      }));
      return firewalls.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },

    getFirewall: async (id) => {
      const call = FIREWALL_CALLS.get(id);
      return await client.call({
        ...call,
        send: ({ firewalls }) => firewalls.byFirewall_id(call.subject).get(),
        read: (body) => {
          const { firewall } = read(object({ firewall: FIREWALL }), body);
          if (firewall.id === call.subject) return firewall;
          throw new AnswerFault(`firewall.id is ${firewall.id}, not ${call.subject}`);
        },
        expected: expectedFailure("not-found", undefined),
      });
    },

    machinesWithTag: async (tag) => {
      // A droplet without the tag is left out: a filter that is ignored must not make every droplet look covered.
      const hasTag = (other: string): boolean => other.toLowerCase() === tag.toLowerCase();
      const droplet = object({ id: ID, tags: list(TEXT) });
      const item = map(droplet, ({ id, tags }) => ({ id, value: tags.some(hasTag) ? id : undefined }));
      const ids = await listAll(client, "droplets", (page) => ({
        ...FIREWALL_CALLS.tagged(tag, page),
        send: ({ droplets }) => droplets.get({ queryParameters: { tagName: tag, page, perPage: PAGE_SIZE } }),
        read: (body) => readPage(body, { key: "droplets", page }, item),
        expected: expectedFailure("not-found", { items: [], hasMore: false, total: 0 }),
      }));
      return new Set(ids);
    },
  };
}

/**
 * Returns the writing half of the port over DigitalOcean's API, which adds and removes and never replaces: a PUT would reset whatever
 * it does not name. Without ports or machines nothing is sent.
 */
export function firewallWriter(client: Client): Omit<FirewallProvider, keyof FirewallProviderReader> {
  type Builder = ReturnType<SDK["firewalls"]["byFirewall_id"]>;
  const change = (call: CallInfo, send: (firewall: Builder) => Promise<unknown>): Promise<undefined> =>
    client.call({
      ...call,
      send: ({ firewalls }) => send(firewalls.byFirewall_id(call.subject)),
      read: () => undefined,
      otherwise: { value: undefined },
    });
  return {
    async openPorts(id, ports) {
      if (ports.length === 0) return;
      const inboundRules = ports.map(openRule);
      await change(FIREWALL_CALLS.open(id, ports), ({ rules }) => rules.post({ inboundRules }));
    },
    async closePorts(id, ports) {
      if (ports.length === 0) return;
      const inboundRules = ports.map(openRule);
      await change(FIREWALL_CALLS.close(id, ports), ({ rules }) => rules.delete({ inboundRules }));
    },
    async addMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...call } = FIREWALL_CALLS.add(id, machineIDs);
      await change(call, ({ droplets }) => droplets.post({ dropletIds }));
    },
    async removeMachines(id, machineIDs) {
      if (machineIDs.length === 0) return;
      const { dropletIds, ...call } = FIREWALL_CALLS.remove(id, machineIDs);
      await change(call, ({ droplets }) => droplets.delete({ dropletIds }));
    },
  };
}

/**
 * What texts, errors and counters need to know about the calls to firewalls.
 * @throws ProviderError `refused`, before anything is sent, when an id is none or a tag is empty, which would mean no filter
 */
export const FIREWALL_CALLS = {
  list: (page: number): CallInfo => callTo("firewalls", "", `list the firewalls (page ${page})`, "firewall:read"),

  get: (id: string): CallInfo => aboutFirewall(callTo("firewall", id, `read the firewall ${id}`, "firewall:read")),

  tagged(tag: string, page: number): CallInfo {
    const doing = `list the droplets with the tag ${JSON.stringify(tag)} (page ${page})`;
    const call = callTo("tagged-machines", tag, doing, "droplet:read and tag:read");
    if (tag === "") throw refused(call, "a tag must not be empty");
    return call;
  },

  open: (id: string, ports: readonly PortRange[]): CallInfo =>
    changeOf(id, "open-ports", `open ${textOf(ports)} in the firewall ${id}`),

  close: (id: string, ports: readonly PortRange[]): CallInfo =>
    changeOf(id, "close-ports", `close ${textOf(ports)} in the firewall ${id}`),

  add(id: string, machineIDs: readonly string[]): CallInfo & DropletIDs {
    const call = changeOf(id, "add-machines", `add ${dropletsOf(machineIDs)} to the firewall ${id}`);
    const notFoundAdvice = `Either the account has no firewall ${call.subject}, or it has not all of these droplets.`;
    return { ...call, notFoundAdvice, dropletIds: machineIDs.map((machineID) => dropletNumber(call, machineID)) };
  },

  remove(id: string, machineIDs: readonly string[]): CallInfo & DropletIDs {
    const call = changeOf(id, "remove-machines", `remove ${dropletsOf(machineIDs)} from the firewall ${id}`);
    return { ...call, dropletIds: machineIDs.map((machineID) => dropletNumber(call, machineID)) };
  },
};

/** Machines as the API numbers them. */
interface DropletIDs {
  readonly dropletIds: readonly number[];
}

function changeOf(id: string, operation: string, doing: string): CallInfo {
  const call = aboutFirewall(callTo(operation, id, doing, "firewall:update"));
  const notFoundAdvice = `The account has no firewall ${call.subject}: make one, and name it in routedIPFirewallName.`;
  return { ...call, notFoundAdvice };
}

function textOf(ports: readonly PortRange[]): string {
  return ports.map(portText).join(", ");
}

function dropletsOf(machineIDs: readonly string[]): string {
  return `${machineIDs.length === 1 ? "droplet" : "droplets"} ${machineIDs.join(", ")}`;
}

type PendingChange = { readonly ids: readonly string[]; readonly status: string | undefined };

/** Reads an entry of `pending_changes`. A droplet id that is absent, or 0, names no droplet. */
const PENDING_CHANGE: Schema<PendingChange> = choose(({ droplet_id: id }) =>
  map(object({ droplet_id: id === 0 ? ANY : maybe(ID), status: maybe(TEXT) }), ({ droplet_id, status }) => ({
    ids: typeof droplet_id === "string" ? [droplet_id] : [],
    status,
  })),
);

type Progress = Pick<Firewall, "isWaiting" | "pendingMachineIDs" | "failedMachineIDs">;

/**
 * What `status` and `pending_changes` say of a firewall's progress (DigitalOcean's OpenAPI, 2026-08-07: a change is pending per droplet):
 * 1. A droplet that a pending change names is pending, or failed where that change is `failed`. An entry that `succeeded` is over.
 * 2. The whole firewall is waiting while a pending change names no droplet, or the status is `waiting` and no change is pending.
 * 3. A status that is not known yet counts as `waiting`. With `failed` the provider has given up, so nothing is waited for.
 */
function progressOf(status: string | undefined, changes: readonly PendingChange[]): Progress {
  const pending = changes.filter((change) => change.status !== "failed" && change.status !== "succeeded");
  const isAtRest = status === undefined || status === "succeeded" || status === "failed";
  const pendingMachineIDs = sortedTexts(pending.flatMap(({ ids }) => ids));
  const failed = sortedTexts(changes.flatMap((change) => (change.status === "failed" ? change.ids : [])));
  return {
    isWaiting: pending.some(({ ids }) => ids.length === 0) || (!isAtRest && pending.length === 0),
    pendingMachineIDs,
    failedMachineIDs: failed.filter((id) => !pendingMachineIDs.includes(id)),
  };
}

/** Reads an inbound rule; undefined for a protocol that the model does not know. */
const RULE: Schema<FirewallRule | undefined> = choose<FirewallRule | undefined>(({ protocol }) =>
  typeof protocol === "string" && portRange(protocol, "") !== undefined
    ? knownRule(protocol)
    : map(object({ protocol: TEXT }), () => undefined),
);

function knownRule(protocol: string): Schema<FirewallRule | undefined> {
  const text = map(maybe(TEXT), (written) => written ?? "");
  const ports = check(text, (written) => portRange(protocol, written) !== undefined, "a port or a range of ports");
  return map(object({ ports, action: maybe(TEXT), sources: SOURCES }), ({ ports: written, action, sources }) => {
    const range = portRange(protocol, written);
    if (range === undefined) return undefined;
    const isAllowing = action === undefined || action === "allow";
    const { addresses, hasOthers } = sources;
    const isExactly = EVERYBODY.length === addresses.size && EVERYBODY.every((address) => addresses.has(address));
    const isOurForm = range.protocol === "icmp" || written === writtenPorts(range);
    return {
      ports: range,
      openTo: isAllowing ? familiesIn(addresses) : [],
      isPlain: isAllowing && isExactly && !hasOthers && isOurForm,
    };
  });
}

/** Reads the addresses of a rule's sources, and whether it has sources of any other kind. */
const SOURCES: Schema<{ readonly addresses: ReadonlySet<string>; readonly hasOthers: boolean }> = map(
  maybe(choose((fields) => map(object({ addresses: anyList(TEXT) }), ({ addresses }) => ({ addresses, fields })))),
  (sources) => ({
    addresses: new Set(sources?.addresses),
    hasOthers: Object.entries(sources?.fields ?? {}).some(([kind, own]) => kind !== "addresses" && !isNothing(own)),
  }),
);

function isNothing(sources: unknown): boolean {
  return sources === null || (Array.isArray(sources) && sources.length === 0);
}

/** Reads a `firewall` object. Every list may be null. */
export const FIREWALL: Schema<Firewall> = map(
  object({
    inbound_rules: anyList(RULE),
    id: FIREWALL_ID,
    name: TEXT,
    outbound_rules: anyList(ANY),
    droplet_ids: anyList(ID),
    tags: anyList(TEXT),
    pending_changes: anyList(PENDING_CHANGE),
    status: maybe(TEXT),
  }),
  (firewall) => ({
    id: firewall.id,
    name: firewall.name,
    rules: firewall.inbound_rules.flatMap((rule) => rule ?? []).sort(compareRules),
    ruleCount: firewall.inbound_rules.length + firewall.outbound_rules.length,
    machineIDs: sortedTexts(firewall.droplet_ids),
    tags: sortedTexts(firewall.tags),
    ...progressOf(firewall.status, firewall.pending_changes),
  }),
);

function sortedTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

/** An inbound rule as the SDK takes it. */
interface OpenRule {
  readonly protocol: "tcp" | "udp" | "icmp";
  readonly ports: string;
  readonly sources: { readonly addresses: string[] };
}

/** The inbound rule that lets everybody in on these ports; the same value adds it and removes it. */
export function openRule(ports: PortRange): OpenRule {
  return { protocol: ports.protocol, ports: writtenPorts(ports), sources: { addresses: [...EVERYBODY] } };
}

/**
 * `80`, `8000-9000`, `1-65535` for all ports, `0` for icmp.
 *
 * All ports have three spellings. The API has at times refused `0` and at times `all`, and it shows both as `0`, so that a
 * removal of `all` finds nothing; the plain range has always been accepted and comes back as it was written.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/pull/39, https://github.com/patoroco/doorkeeper/pull/17,
 *   https://github.com/mondoohq/cnspec/pull/3839 (verified 2026-11-21)
 */
function writtenPorts({ from, to }: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}
