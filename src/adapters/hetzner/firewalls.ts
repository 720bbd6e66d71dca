// Cloud firewalls: `/firewalls`, with `/servers` for what is in force where, and `/actions`.
//
//   Rules      The API knows one change of rules: all of them are replaced (`set_rules`), and no version protects from a change that somebody makes meanwhile.
//              So flipop changes the rules of a firewall only if its label says that nothing but flipop writes them. It reads them right before, and writes them with
//              its own added or removed: a rule that a person made by hand stays. Rules of flipop have the description `flipop`, and only those are ever removed.
//   Servers    A server shows of each of its firewalls whether it is `applied` or `pending`. Besides, actions of this process count until they have ended.
//              An action that cannot be read for 10 seconds counts no more: the server says it alone then.
//              Nobody has verified how soon a server shows a change. So one that a firewall names, and that does not show it, is pending, too.
//   Opening    A server without firewall has everything open, and one with a firewall only what its firewalls open together. So flipop puts no server behind its first
//              firewall, and takes none from its last.
//   Selectors  A firewall can apply to a label selector (`role=web`). That is what the port calls a tag.

import { compareRules, FIREWALL_LABEL, type Firewall, type PortRange, portText } from "../../model/firewall.ts";
import { parseLabelSelector, selects } from "../../model/label-selector.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { ActionState, FirewallProvider, FirewallProviderReader } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import { AnswerFault, list, object, read } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { ActionPoll } from "./actions.ts";
import {
  type Client,
  expectedAs,
  type HetznerCall,
  listAll,
  providerError,
  reading,
  readPage,
  refused,
  serverNumber,
  wholeNumber,
  withQuery,
  writing,
} from "./api.ts";
import { Doubts } from "./doubts.ts";
import {
  BEGUN,
  type Begun,
  FIREWALL,
  type FirewallAnswer,
  otherFirewalls,
  type Rule,
  SERVER,
  type Server,
  withoutPorts,
  withPorts,
} from "./firewall-answers.ts";

/** How many items a page of a list has: the most that the API gives. */
const PAGE_SIZE = 50;

/** Rules of a firewall, and firewalls of a server (documented, read 2026-11-26). No limit of servers is named. */
const LIMITS = { rules: 50, machines: Number.POSITIVE_INFINITY, perMachine: 5 } as const;

/** Returns the port over Hetzner's API. */
export function firewallPort(client: Client, clock: Clock): FirewallProvider {
  return { ...new Firewalls(client, clock).port };
}

/** Returns the reading half of the port: there is no method that could write, at run time either. */
export function firewallReader(client: Client, clock: Clock): FirewallProviderReader {
  const { openPorts: _o, closePorts: _c, addMachines: _a, removeMachines: _r, ...reader } = firewallPort(client, clock);
  return reader;
}

/** The firewalls of one project. Remembered is only what this process has begun. */
class Firewalls {
  readonly #client: Client;
  readonly #poll: ActionPoll;
  /** By action. */
  readonly #doubts: Doubts;
  /** By firewall id. */
  readonly #begun = new Map<string, readonly Begun[]>();
  /** By firewall id: servers where its last change ended in an error. */
  readonly #failed = new Map<string, ReadonlySet<string>>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#poll = new ActionPoll(client);
    this.#doubts = new Doubts(clock);
  }

  get port(): FirewallProvider {
    return {
      name: "hetzner",
      firewallLimits: LIMITS,
      listFirewalls: () => this.#listFirewalls(),
      getFirewall: (id) => this.#getFirewall(id),
      machinesWithTag: (selector) => this.#serversWith(selector),
      openPorts: async (id, ports) => await this.#changeRules(FIREWALL_CALLS.open(id, ports), ports, withPorts),
      closePorts: async (id, ports) => await this.#changeRules(FIREWALL_CALLS.close(id, ports), ports, withoutPorts),
      addMachines: (id, machineIDs) => this.#add(id, machineIDs),
      removeMachines: (id, machineIDs) => this.#remove(id, machineIDs),
    };
  }

  async #listFirewalls(): Promise<readonly Firewall[]> {
    const words = { noun: "firewalls", keyOf: ({ id }: FirewallAnswer) => id };
    const found = await listAll(this.#client, words, (page) => ({
      ...FIREWALL_CALLS.list(page),
      send: (request) => request("GET", withQuery("/firewalls", { page, per_page: PAGE_SIZE, sort: "id:asc" })),
      read: (body) => readPage(body, "firewalls", FIREWALL),
    }));
    const servers = found.length === 0 ? [] : await this.#servers();
    const shown = await Promise.all(found.map((firewall) => this.#shown(firewall, servers)));
    return shown.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async #getFirewall(id: string): Promise<Firewall | undefined> {
    const firewall = await this.#read(FIREWALL_CALLS.get(id));
    return firewall === undefined ? undefined : await this.#shown(firewall, await this.#servers());
  }

  async #read(call: CallInfo): Promise<FirewallAnswer | undefined> {
    return await this.#client.call<FirewallAnswer | undefined>({
      ...call,
      send: (request) => request("GET", `/firewalls/${call.subject}`),
      read: (body) => {
        const { firewall } = read(object({ firewall: FIREWALL }), body);
        if (firewall.id === call.subject) return firewall;
        throw new AnswerFault(`firewall.id is ${firewall.id}, not ${call.subject}`);
      },
      expected: expectedAs("not-found", undefined),
    });
  }

  async #servers(): Promise<readonly Server[]> {
    const words = { noun: "servers", keyOf: ({ id }: Server) => id };
    return await listAll(this.#client, words, (page) => serversCall(FIREWALL_CALLS.servers(page), page));
  }

  async #serversWith(selector: string): Promise<ReadonlySet<string>> {
    // A server that the selector does not select is left out: a filter that is ignored must not make every server look covered.
    const parsed = parseLabelSelector(selector);
    const isSelected = ({ labels }: Server): boolean => !("selector" in parsed) || selects(parsed.selector, labels);
    const words = { noun: "servers", keyOf: ({ id }: Server) => id };
    const servers = await listAll(this.#client, words, (page) =>
      serversCall(FIREWALL_CALLS.tagged(selector, page), page, selector),
    );
    return new Set(servers.filter(isSelected).map(({ id }) => id));
  }

  /** A firewall as it counts, with what of it is in force where. */
  async #shown(answer: FirewallAnswer, servers: readonly Server[]): Promise<Firewall> {
    const { id, name, rules, servers: machineIDs, selectors, selected } = answer;
    const { running, failed } = await this.#progressOf(id);
    const named = new Set([...machineIDs, ...selected]);
    const unsettled = servers.filter(
      ({ id: server, firewalls }) => (firewalls.get(id) ?? (named.has(server) ? "pending" : "applied")) !== "applied",
    );
    const pending = [...unsettled.map((server) => server.id), ...running.flatMap(({ server }) => server ?? [])];
    return {
      id,
      name,
      rules: rules.flatMap(({ inbound }) => inbound ?? []).toSorted(compareRules),
      ruleCount: rules.length,
      machineIDs: sortedTexts(machineIDs),
      tags: sortedTexts(selectors),
      isWaiting: running.some(({ server }) => server === undefined),
      pendingMachineIDs: sortedTexts(pending.filter((server) => !failed.has(server))),
      failedMachineIDs: sortedTexts([...failed].filter((server) => servers.some((one) => one.id === server))),
      ...(answer.isLabelled ? {} : { isUnlabelled: true }),
      ...(rules.some(({ written }) => written["direction"] === "out") ? { limitsOutgoing: true } : {}),
      othersAt: new Map(servers.map((server) => [server.id, otherFirewalls(server, id)])),
    };
  }

  /** What this process has begun at a firewall and has not ended, and where it has failed. */
  async #progressOf(id: string): Promise<{ readonly running: readonly Begun[]; readonly failed: ReadonlySet<string> }> {
    const begun = this.#begun.get(id) ?? [];
    const states = await Promise.all(begun.map(async (one) => ({ one, state: await this.#stateOf(one) })));
    const running = states.flatMap(({ one, state }) => (state === "pending" ? one : []));
    const failed = states.flatMap(({ one, state }) => (state === "errored" ? (one.server ?? []) : []));
    const later = (this.#begun.get(id) ?? []).filter((one) => !begun.includes(one));
    this.#begun.set(id, [...running, ...later]);
    if (failed.length > 0) this.#failed.set(id, new Set([...(this.#failed.get(id) ?? []), ...failed]));
    return { running, failed: this.#failed.get(id) ?? new Set() };
  }

  /** How an action stands; unknown, so that its servers are believed, where it cannot be read for long. */
  #stateOf({ actionID }: Begun): Promise<ActionState> {
    const unread = { unread: "pending", believed: "unknown" } as const;
    return this.#doubts.answer<ActionState>(actionID, this.#poll.stateOf(actionID), unread);
  }

  async #changeRules(
    call: CallInfo,
    ports: readonly PortRange[],
    change: (rules: readonly Rule[], ports: readonly PortRange[]) => readonly Rule[],
  ): Promise<void> {
    if (ports.length === 0) return;
    const { rules } = await this.#own(call);
    const wanted = change(rules, ports);
    if (wanted.length === rules.length) return;
    if (wanted.length > Math.max(rules.length, LIMITS.rules))
      throw refused(call, `it would have ${wanted.length} rules, and can have ${LIMITS.rules}`);
    const strange = rules.flatMap(({ unknownField }) => unknownField ?? [])[0];
    if (strange !== undefined)
      throw refused(call, `a rule has the field ${JSON.stringify(strange)}, which flipop cannot write again`);
    const body = { rules: wanted.map(({ written }) => written) };
    await this.#write(call, "set_rules", body);
  }

  async #add(id: string, machineIDs: readonly string[]): Promise<void> {
    if (machineIDs.length === 0) return;
    const call = FIREWALL_CALLS.add(id, machineIDs);
    const { servers: there } = await this.#own(call);
    const missing = machineIDs.filter((machineID) => !there.includes(machineID));
    const servers = await this.#serversOf(call, missing);
    checkOthers(call, servers, "its first one would close what is open there");
    if (servers.length < missing.length) throw gone(call, "the project has not all of these servers");
    if (missing.length > 0) await this.#write(call, "apply_to_resources", { apply_to: missing.map(resourceOf(call)) });
  }

  async #remove(id: string, machineIDs: readonly string[]): Promise<void> {
    if (machineIDs.length === 0) return;
    const call = FIREWALL_CALLS.remove(id, machineIDs);
    const { servers: there } = await this.#own(call);
    const leaving = machineIDs.filter((machineID) => there.includes(machineID));
    const servers = await this.#serversOf(call, leaving);
    checkOthers(call, servers, "without this one everything would be open there");
    if (leaving.length > 0)
      await this.#write(call, "remove_from_resources", { remove_from: leaving.map(resourceOf(call)) });
  }

  /** Reads a firewall right before it is changed. @throws ProviderError `refused` when it is not flipop's own */
  async #own(call: CallInfo): Promise<FirewallAnswer> {
    const { subject, doing } = call;
    const firewall = await this.#read(reading("firewall", subject, `read the firewall ${subject}, to ${doing}`));
    if (firewall === undefined) throw gone(call, "the project has no such firewall");
    if (firewall.isLabelled) return firewall;
    throw refused(call, `it has no label ${FIREWALL_LABEL}=true, so somebody else may write its rules`);
  }

  /** The servers of these that the project has. */
  async #serversOf(call: CallInfo, machineIDs: readonly string[]): Promise<readonly Server[]> {
    const found = machineIDs.map(async (machineID) => {
      const path = `/servers/${serverNumber(call, machineID)}`;
      return await this.#client.call<Server | undefined>({
        ...reading("machine", machineID, `read server ${machineID}`),
        send: (request) => request("GET", path),
        read: (body) => {
          const { server } = read(object({ server: SERVER }), body);
          if (server.id === machineID) return server;
          throw new AnswerFault(`server.id is ${server.id}, not ${machineID}`);
        },
        expected: expectedAs("not-found", undefined),
      });
    });
    return (await Promise.all(found)).filter((server) => server !== undefined);
  }

  /** Sends a change, and keeps what it began. Any 2xx means accepted. */
  async #write(call: CallInfo, command: string, body: object): Promise<void> {
    const id = call.subject;
    const begun = await this.#client.call<readonly Begun[]>({
      ...call,
      send: (request) => request("POST", `/firewalls/${id}/actions/${command}`, body),
      read: (answer) => read(object({ actions: list(BEGUN) }), answer).actions,
      otherwise: { value: [] },
    });
    const again = new Set(begun.map(({ server }) => server));
    this.#begun.set(id, [...(this.#begun.get(id) ?? []), ...begun]);
    this.#failed.set(id, new Set([...(this.#failed.get(id) ?? [])].filter((server) => !again.has(server))));
  }
}

/** What texts, errors and counters need to know about the calls to firewalls. @throws ProviderError `refused`, before anything is sent, when an id is none */
const FIREWALL_CALLS = {
  list: (page: number): CallInfo => reading("firewalls", "", `list the firewalls (page ${page})`),
  servers: (page: number): CallInfo => reading("machines", "", `list the servers (page ${page})`),
  get: (id: string): CallInfo => aboutFirewall(reading("firewall", id, `read the firewall ${id}`)),
  tagged(selector: string, page: number): CallInfo {
    const doing = `list the servers that ${JSON.stringify(selector)} selects (page ${page})`;
    const call = reading("tagged-machines", selector, doing);
    if (selector === "") throw refused(call, "a label selector must not be empty");
    return call;
  },
  open: (id: string, ports: readonly PortRange[]): CallInfo =>
    aboutFirewall(writing("open-ports", id, `open ${ports.map(portText).join(", ")} in the firewall ${id}`)),
  close: (id: string, ports: readonly PortRange[]): CallInfo =>
    aboutFirewall(writing("close-ports", id, `close ${ports.map(portText).join(", ")} in the firewall ${id}`)),
  add: (id: string, machineIDs: readonly string[]): CallInfo =>
    aboutFirewall(writing("add-machines", id, `add ${serversText(machineIDs)} to the firewall ${id}`)),
  remove: (id: string, machineIDs: readonly string[]): CallInfo =>
    aboutFirewall(writing("remove-machines", id, `remove ${serversText(machineIDs)} from the firewall ${id}`)),
};

function aboutFirewall(call: CallInfo): CallInfo {
  if (wholeNumber(call.subject) !== undefined) return call;
  throw refused(call, `${JSON.stringify(call.subject)} is not the id of a firewall`);
}

/** @throws ProviderError `refused` when a server has no other firewall in force, so that the change would have this effect there */
function checkOthers(call: CallInfo, servers: readonly Server[], effect: string): void {
  const bare = servers.find((server) => otherFirewalls(server, call.subject).inForce === 0);
  if (bare !== undefined) throw refused(call, `no other firewall is in force at server ${bare.id}: ${effect}`);
}

function serversText(machineIDs: readonly string[]): string {
  return `${machineIDs.length === 1 ? "server" : "servers"} ${machineIDs.join(", ")}`;
}

function gone(call: CallInfo, reason: string): Error {
  return providerError(call, { failure: "not-found", status: 0, reason });
}

/** Lists are no snapshots: sorted by id, pages do not slip by what is added. */
function serversCall(call: CallInfo, page: number, selector?: string): HetznerCall<ListPage<Server>> {
  const query = { label_selector: selector, page, per_page: PAGE_SIZE, sort: "id:asc" };
  return {
    ...call,
    send: (request) => request("GET", withQuery("/servers", query)),
    read: (body) => readPage(body, "servers", SERVER),
  };
}

function resourceOf(call: CallInfo): (machineID: string) => object {
  return (machineID) => ({ type: "server", server: { id: serverNumber(call, machineID) } });
}

function sortedTexts(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
