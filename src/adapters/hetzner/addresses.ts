// Floating IPs: `/floating_ips`, with `/servers/{id}` and `/actions`.
//
//   Finding    The API knows a floating IP by its id, and cannot be asked for an address.
//              The list tells which id an address has. So an unknown address costs one reading of the list, which all who ask at the same time share.
//   Buying     A project can have each name of a floating IP only once, whatever its family. So each purchase has a name of its own, `flipop-UID-1`, or `flipop-UID-ipv6-1`.
//              When the answer is lost, flipop buys under the same name again. The API refuses that (409), and flipop takes the floating IP of that name.
//   Moving     One call moves an address. It starts an action, and until that ends the API refuses other changes of the address (423 `locked`).
//              Nobody has verified whether the address shows its new server earlier. So it counts as locked until the action says that it has ended.
//              A change can get no answer, or be refused because something runs. Then the address counts as locked for as long as the API names an action that runs.
//              Another process is told which addresses status has as unconfirmed, and asks once for each whether an action runs.
//              If actions cannot be read, the address counts as locked for 10 seconds more. Then it is believed.
//              So a fault of `/actions` alone delays a failover by 10 seconds at most.

import type { Address } from "../../model/address.ts";
import { type IPFamily, sourceText } from "../../model/address-source.ts";
import { ProviderError } from "../../model/errors.ts";
import { firstAddressOf } from "../../model/ipv6-network.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { AcceptedAction, AddressPage, Buyer, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import { AnswerFault, IPV4, list, map, maybe, object, read, type Schema, TEXT } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { SharedRead } from "../http/shared-read.ts";
import { ActionPoll } from "./actions.ts";
import {
  type Client,
  expectedAs,
  type HetznerCall,
  ID,
  listAll,
  providerError,
  reading,
  readPage,
  serverNumber,
  withQuery,
  writing,
} from "./api.ts";
import { Doubts } from "./doubts.ts";
import {
  aboutAddress,
  type FloatingIP,
  floatingIPSchema,
  holds,
  isOwn,
  type ListedFloatingIP,
  listedSchema,
  NETWORK,
  OWNER_LABEL,
  type OwnFloatingIP,
  SeenFloatingIPs,
} from "./floating-ip.ts";

/** How many items a page of a list has: the most that the API gives. */
const PAGE_SIZE = 50;

/** Returns the ports over Hetzner's API, one for each family. They ask for actions together. */
export function addressPorts(client: Client, clock: Clock): Readonly<Record<IPFamily, IPProvider>> {
  const poll = new ActionPoll(client);
  const portOf = (family: IPFamily): IPProvider => new FloatingIPs(client, family, { poll, clock }).port;
  return { IPv4: portOf("IPv4"), IPv6: portOf("IPv6") };
}

/** Returns the reading halves of the ports: there is no method that could write, at run time either. */
export function addressReaders(client: Client, clock: Clock): Readonly<Record<IPFamily, IPProviderReader>> {
  const { IPv4, IPv6 } = addressPorts(client, clock);
  return { IPv4: readerOf(IPv4), IPv6: readerOf(IPv6) };
}

function readerOf(port: IPProvider): IPProviderReader {
  const { assign: _a, unassign: _u, actionState: _s, create: _c, delete: _d, ...reader } = port;
  return reader;
}

/** Where an address was sent: to a machine, or off it. */
interface Move {
  readonly actionID: string;
  readonly to: string | undefined;
}

/** What a reading of the whole list has shown of one family. */
interface Everything {
  readonly ids: ReadonlySet<string>;
  /** True where an entry cannot be understood, whatever it is. */
  readonly hasUnclear: boolean;
}

/** Where an address is bought. */
type BuyingPlace = Parameters<IPProvider["create"]>[0];

/** The floating IPs of one family of one project. What was seen of them is remembered. */
class FloatingIPs {
  readonly #client: Client;
  readonly #family: IPFamily;
  readonly #item: Schema<FloatingIP>;
  readonly #listed: Schema<ListedFloatingIP>;
  readonly #seen = new SeenFloatingIPs();
  readonly #poll: ActionPoll;
  readonly #everything: SharedRead<Everything>;
  /** By id what this process has sent on its way. */
  readonly #moves = new Map<string, Move>();
  /** The ids of those whose last change may be under way, or was refused since another one is. */
  readonly #doubtful = new Set<string>();
  /** By id whether what was begun has ended. */
  readonly #doubts: Doubts;

  constructor(client: Client, family: IPFamily, { poll, clock }: { readonly poll: ActionPoll; readonly clock: Clock }) {
    this.#client = client;
    this.#family = family;
    this.#item = floatingIPSchema(family);
    this.#listed = listedSchema(family);
    this.#poll = poll;
    this.#doubts = new Doubts(clock);
    this.#everything = new SharedRead(() => this.#readEverything());
  }

  get port(): IPProvider {
    return {
      name: sourceText({ provider: "hetzner", family: this.#family }),
      pageSize: PAGE_SIZE,
      listPage: (page) => this.#listPage(page),
      getAddress: (ip) => this.#getAddress(ip),
      getUnconfirmed: (ip) => this.#getUnconfirmed(ip),
      machineAddresses: (machineID) => this.#machineAddresses(machineID),
      // The limit of a project stands in the console only.
      addressLimit: () => Promise.resolve(undefined),
      assign: (ip, machineID) => this.#assign(ip, machineID),
      unassign: (ip) => this.#unassign(ip),
      actionState: ({ ip, actionID }) => this.#poll.stateOf(actionID || this.#begunFor(ip)),
      create: (place, buyer) => this.#create(place, buyer),
      delete: (ip) => this.#delete(ip),
    };
  }

  async #listPage(page: number): Promise<AddressPage> {
    const { items: listed, hasMore, total } = await this.#client.call(this.#pageCall(page));
    const items = listed.flatMap((one) => ("item" in one ? one.item : []));
    const unclear = listed.flatMap((one) => ("item" in one ? [] : one.unclear));
    for (const item of items) this.#seen.see(item);
    const addresses = items.flatMap((item) => (isOwn(item) ? [this.#settled(item)] : []));
    const others = items.flatMap((item) => (isOwn(item) ? [] : [item.id]));
    return {
      addresses: await Promise.all(addresses),
      ...(others.length === 0 ? {} : { others }),
      ...(unclear.length === 0 ? {} : { unclear }),
      hasMore,
      ...(total === undefined ? {} : { total }),
    };
  }

  /** Lists are no snapshots: sorted by id, pages do not slip by what is added. */
  #pageCall(page: number): HetznerCall<ListPage<ListedFloatingIP>> {
    return {
      ...reading("list", "", `list the floating IPs (page ${page})`),
      send: (request) => request("GET", withQuery("/floating_ips", { page, per_page: PAGE_SIZE, sort: "id:asc" })),
      read: (body) => readPage(body, "floating_ips", this.#listed),
    };
  }

  async #getAddress(ip: string): Promise<Address | undefined> {
    aboutAddress(reading("get", ip, `read ${ip}`), this.#family);
    const seen = await this.#find(ip);
    if (seen === undefined) return undefined;
    this.#seen.askedFor(ip, seen);
    const known = await this.#read(seen.id, ip);
    if (known === undefined) this.#seen.forget(seen);
    else this.#seen.see(known);
    return known === undefined || !isOwn(known) ? undefined : { ...(await this.#settled(known)), ip };
  }

  /**
   * Reads an address that another process may have sent on its way. It asks for a running action first. Where that ends between the two calls, the address is read where it
   * stays.
   */
  async #getUnconfirmed(ip: string): Promise<Address | undefined> {
    const seen = await this.#find(ip);
    if (seen !== undefined && !this.#moves.has(seen.id) && (await this.#isWorkedOn(seen.id, ip)))
      this.#doubtful.add(seen.id);
    return await this.#getAddress(ip);
  }

  /** A process that has not begun the action cannot tell since when it runs: it does not wait where it cannot be read. */
  async #isWorkedOn(id: string, ip: string): Promise<boolean> {
    try {
      return await this.#hasAction(id, ip);
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  }

  /** The floating IP with this id, and with this address where one is given; undefined if it is gone. */
  async #read(id: string, ip?: string): Promise<FloatingIP | undefined> {
    return await this.#client.call<FloatingIP | undefined>({
      ...(ip === undefined ? reading("get", id, `read the floating IP ${id}`) : reading("get", ip, `read ${ip}`)),
      send: (request) => request("GET", `/floating_ips/${id}`),
      read: (body) => this.#readOne(body, ip),
      expected: expectedAs("not-found", undefined),
    });
  }

  /** @throws AnswerFault also when it is another address than the one asked for */
  #readOne(body: unknown, ip?: string): FloatingIP {
    const { floating_ip: found } = read(object({ floating_ip: this.#item }), body);
    if (ip === undefined || (isOwn(found) && holds(found, ip))) return found;
    throw new AnswerFault(
      `floating_ip.ip is ${found.own?.text ?? `of another family than ${this.#family}`}, not ${ip}`,
    );
  }

  /** Returns the address. It is locked while the action of our last change runs. Where nobody knows what a change of ours began, it is locked while any action runs. */
  async #settled(item: OwnFloatingIP): Promise<Address> {
    const { id } = item;
    const address = this.#seen.show(item);
    const move = this.#moves.get(id);
    if (move !== undefined) {
      const state = await this.#doubts.answer(id, this.#poll.stateOf(move.actionID), {
        unread: "pending",
        believed: "unknown",
      });
      if (state === "pending") return { ...address, isLocked: true };
      // One that failed is still asked about: whoever waits for it learns so.
      if (state !== "errored" && this.#moves.get(id) === move) this.#moves.delete(id);
      this.#doubtful.delete(id);
      const isShown = state === "done" && move.to === address.holderID;
      return state === "unknown" || isShown ? address : await this.#readAgain(item, address);
    }
    if (!this.#doubtful.has(id)) return address;
    const isMoving = await this.#doubts.answer(id, this.#hasAction(id, address.ip), { unread: true, believed: false });
    if (isMoving) return { ...address, isLocked: true };
    this.#doubtful.delete(id);
    // What ran may have ended between the two answers.
    return await this.#readAgain(item, address);
  }

  /** The address as a new answer has it; as it was where there is no such floating IP any more. */
  async #readAgain({ id }: OwnFloatingIP, before: Address): Promise<Address> {
    const again = await this.#read(id, before.ip);
    return again !== undefined && isOwn(again) ? { ...this.#seen.show(again), ip: before.ip } : before;
  }

  async #hasAction(id: string, ip: string): Promise<boolean> {
    return await this.#client.call({
      ...reading("action", ip, `read what is done with ${ip}`),
      send: (request) => request("GET", withQuery(`/floating_ips/${id}/actions`, { status: "running" })),
      // One that has ended is left out: a filter that is ignored must not make the address look busy for ever.
      read: (body) =>
        readPage(body, "actions", object({ id: ID, status: TEXT })).items.some(({ status }) => status === "running"),
      expected: expectedAs("not-found", false),
    });
  }

  /** The id of the action that this process began last for an address, such as that of its purchase; `""` if none is known. */
  #begunFor(ip: string): string {
    return this.#moves.get(this.#seen.find(ip)?.id ?? "")?.actionID ?? "";
  }

  /** Sends an address on its way. Any 2xx means accepted. Without a readable action id it is `""`: the address itself is the truth. */
  async #move(
    call: CallInfo,
    ip: string,
    { path, to, body }: { readonly path: string; readonly to?: string; readonly body?: object },
  ): Promise<AcceptedAction> {
    const id = await this.#idOf(ip, call);
    this.#doubts.forget(id);
    try {
      const { actionID } = await this.#client.call<{ readonly actionID: string }>({
        ...call,
        send: (request) => request("POST", `/floating_ips/${id}/actions/${path}`, body),
        read: (answer) => ({ actionID: read(object({ action: object({ id: ID }) }), answer).action.id }),
        otherwise: { value: { actionID: "" } },
      });
      this.#moves.set(id, { actionID, to });
      return { ip, actionID };
    } catch (error) {
      const isOpen = error instanceof ProviderError && (error.isAmbiguous || error.failure === "busy");
      if (isOpen) {
        this.#moves.delete(id);
        this.#doubtful.add(id);
      }
      throw error;
    }
  }

  async #machineAddresses(machineID: string): Promise<readonly string[] | undefined> {
    const call = reading("machine", machineID, `read server ${machineID}`);
    serverNumber(call, machineID);
    const server = await this.#client.call<Server | undefined>({
      ...call,
      send: (request) => request("GET", `/servers/${machineID}`),
      read: (body) => {
        const { server: found } = read(object({ server: SERVERS[this.#family] }), body);
        if (found.id !== machineID) throw new AnswerFault(`server.id is ${found.id}, not ${machineID}`);
        return found;
      },
      expected: expectedAs("not-found", undefined),
    });
    if (server === undefined) return undefined;
    const moving = await Promise.all(server.floatingIPs.map((id) => this.#addressOf(id)));
    return [...server.own, ...moving.flatMap((ip) => ip ?? [])];
  }

  async #assign(ip: string, machineID: string): Promise<AcceptedAction> {
    const call = aboutAddress(writing("assign", ip, `assign ${ip} to server ${machineID}`), this.#family);
    const server = serverNumber(call, machineID);
    return await this.#move(call, ip, { path: "assign", to: machineID, body: { server } });
  }

  async #unassign(ip: string): Promise<AcceptedAction> {
    const call = aboutAddress(writing("unassign", ip, `unassign ${ip}`), this.#family);
    return await this.#move(call, ip, { path: "unassign" });
  }

  async #create(place: BuyingPlace, { uid, knownIPs }: Buyer): Promise<Address> {
    const call = purchaseOf(place);
    const where =
      "machineID" in place ? { server: serverNumber(call, place.machineID) } : { home_location: place.region };
    const labels = { [OWNER_LABEL]: uid };
    const type = this.#family === "IPv6" ? "ipv6" : "ipv4";
    for (;;) {
      const name = this.#freeName(uid);
      const bought = await this.#client.call<FloatingIP | undefined>({
        ...call,
        send: (request) => request("POST", "/floating_ips", { type, ...where, name, labels }),
        read: (body) => this.#readPurchase(body, place),
        expected: expectedAs({ code: "uniqueness_error" }, undefined),
      });
      const made = bought ?? (await this.#named(name, call));
      this.#seen.see(made);
      // A list that lags behind may not have shown what an earlier purchase brought.
      if (isOwn(made) && (bought !== undefined || !knownIPs.some((ip) => holds(made, ip))))
        return this.#seen.show(made);
      if (bought !== undefined) throw this.#notOfFamily(call);
    }
  }

  #readPurchase(body: unknown, place: BuyingPlace): FloatingIP {
    const made = this.#readOne(body);
    const { action } = read(object({ action: maybe(object({ id: ID })) }), body);
    if (action !== undefined && "machineID" in place)
      this.#moves.set(made.id, { actionID: action.id, to: place.machineID });
    return made;
  }

  #notOfFamily(call: CallInfo): ProviderError {
    const reason = `it is no ${this.#family} address`;
    return providerError(call, { failure: "malformed", status: 201, reason, isAmbiguous: true });
  }

  async #delete(ip: string): Promise<void> {
    const call = aboutAddress(writing("delete", ip, `delete ${ip}`), this.#family);
    const known = await this.#find(ip);
    if (known === undefined) return;
    await this.#client.call({
      ...call,
      send: (request) => request("DELETE", `/floating_ips/${known.id}`),
      read: () => undefined,
      otherwise: { value: undefined },
      expected: expectedAs("not-found", undefined),
    });
    this.#seen.forget(known);
  }

  /** The first name that no floating IP has of which is known. */
  #freeName(ownerUID: string): string {
    for (let number = 1; ; number += 1) {
      const name = `flipop-${ownerUID}-${this.#family === "IPv6" ? "ipv6-" : ""}${number}`;
      if (!this.#seen.hasName(name)) return name;
    }
  }

  /** The floating IP with a name that is taken: what an earlier purchase of this name brought. */
  async #named(name: string, call: CallInfo): Promise<FloatingIP> {
    const [found] = await this.#client.call({
      ...call,
      isWrite: false,
      doing: `find the floating IP ${name}, which is there already`,
      send: (request) => request("GET", withQuery("/floating_ips", { name })),
      read: (body) => readPage(body, "floating_ips", this.#item).items.filter((one) => one.name === name),
    });
    if (found !== undefined) {
      // The answer that named its action was lost: that may still run.
      this.#doubtful.add(found.id);
      return found;
    }
    throw providerError(call, {
      failure: "malformed",
      status: 409,
      reason: `it says that there is a floating IP ${name}, and shows none`,
      isAmbiguous: true,
    });
  }

  async #idOf(ip: string, call: CallInfo): Promise<string> {
    const known = await this.#find(ip);
    if (known !== undefined) return known.id;
    throw providerError(call, { failure: "not-found", status: 0, reason: "the project has no such floating IP" });
  }

  /**
   * The floating IP that is, or holds, an address; undefined if the project has none.
   * @throws ProviderError `malformed` where the list has an entry that cannot be understood: that may be the one
   */
  async #find(ip: string): Promise<OwnFloatingIP | undefined> {
    const known = this.#seen.find(ip);
    if (known !== undefined) return known;
    const { ids, hasUnclear } = await this.#everything.fresh("address");
    const found = this.#seen.find(ip);
    if (found !== undefined && ids.has(found.id)) return found;
    if (!hasUnclear) return undefined;
    const reason = "an entry of the list of floating IPs cannot be understood, and no other one has the address";
    throw providerError(reading("get", ip, `read ${ip}`), { failure: "malformed", status: 200, reason });
  }

  /** The address of a floating IP that a server has; undefined for one of another family, and for one that is gone. */
  async #addressOf(id: string): Promise<string | undefined> {
    const known = this.#seen.withID(id) ?? (await this.#read(id));
    if (known === undefined) return undefined;
    this.#seen.see(known);
    return isOwn(known) ? this.#seen.show(known).ip : undefined;
  }

  async #readEverything(): Promise<Everything> {
    const keyOf = (one: ListedFloatingIP): string => ("item" in one ? one.item.id : one.unclear);
    const listed = await listAll(this.#client, { noun: "floating IPs", keyOf }, (page) => this.#pageCall(page));
    const items = listed.flatMap((one) => ("item" in one ? one.item : []));
    for (const item of items) this.#seen.see(item);
    return { ids: new Set(items.filter(isOwn).map(({ id }) => id)), hasUnclear: items.length < listed.length };
  }
}

function purchaseOf(place: BuyingPlace): CallInfo {
  return "machineID" in place
    ? writing("create", place.machineID, `create a floating IP for server ${place.machineID}`)
    : writing("create", "", `create a floating IP in location ${JSON.stringify(place.region)}`);
}

/** What a server says of its addresses. */
interface Server {
  readonly id: string;
  /** Its own address of the family; none where it was made without. */
  readonly own: readonly string[];
  readonly floatingIPs: readonly string[];
}

const SERVERS: Readonly<Record<IPFamily, Schema<Server>>> = {
  IPv4: map(
    object({ id: ID, public_net: object({ ipv4: maybe(object({ ip: IPV4 })), floating_ips: list(ID) }) }),
    ({ id, public_net: { ipv4: own, floating_ips: floatingIPs } }) => ({ id, own: own ? [own.ip] : [], floatingIPs }),
  ),
  // Its own network is shown as its first address, as by Hetzner's cloud controller manager.
  IPv6: map(
    object({ id: ID, public_net: object({ ipv6: maybe(object({ ip: NETWORK })), floating_ips: list(ID) }) }),
    ({ id, public_net: { ipv6: own, floating_ips: floatingIPs } }) => ({
      id,
      own: own ? [firstAddressOf(own.ip)] : [],
      floatingIPs,
    }),
  ),
};
