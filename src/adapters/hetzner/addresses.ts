// Floating IPs: `/floating_ips`, with `/servers/{id}` and `/actions`.
//
//   Finding    The API knows a floating IP by its id, and cannot be asked for an address.
//              The list tells which id an address has. So an unknown address costs one reading of the list, which all who ask at the same time share.
//   Buying     A project can have each name of a floating IP only once. So each purchase has a name of its own, `flipop-UID-1`.
//              When the answer is lost, flipop buys under the same name again. The API refuses that (409), and flipop takes the floating IP of that name.
//   Moving     One call moves an address. It starts an action, and until that ends the API refuses other changes of the address (423 `locked`).
//              Nobody has verified whether the address shows its new server earlier. So it counts as locked until the action says that it has ended.
//              A change can get no answer, or be refused because something runs. Then the address counts as locked for as long as the API names an action that runs.

import { type Address, canonicalIPv4 } from "../../model/address.ts";
import { ProviderError } from "../../model/errors.ts";
import type { ListPage } from "../../ports/listing.ts";
import type { AcceptedAction, AddressPage, Buyer, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import {
  ANY,
  AnswerFault,
  choose,
  FLAG,
  fieldsOf,
  IPV4,
  list,
  map,
  maybe,
  object,
  read,
  type Schema,
  TEXT,
} from "../http/answer.ts";
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
  refused,
  serverNumber,
  withQuery,
  writing,
} from "./api.ts";

/** How many items a page of a list has: the most that the API gives. */
const PAGE_SIZE = 50;

/** The label with the uid of the object that flipop bought a floating IP for. */
const OWNER_LABEL = "flipop.digitalocean.com/owner";

/** Returns the port over Hetzner's API. */
export function addressPort(client: Client): IPProvider {
  return { ...new FloatingIPs(client).port };
}

/** Returns the reading half of the port: there is no method that could write, at run time either. */
export function addressReader(client: Client): IPProviderReader {
  const { assign: _a, unassign: _u, actionState: _s, create: _c, delete: _d, ...reader } = addressPort(client);
  return reader;
}

/** A floating IP of the project, as the API knows it. */
interface FloatingIP {
  readonly id: string;
  readonly name: string;
  /** Absent for an IPv6 network. */
  readonly address?: Address;
}

/** Where an address was sent: to a machine, or off it. */
interface Move {
  readonly actionID: string;
  readonly to: string | undefined;
}

/** Where an address is bought. */
type BuyingPlace = Parameters<IPProvider["create"]>[0];

/** The floating IPs of one project. What was seen of them is remembered: their ids and names never change by flipop's doing. */
class FloatingIPs {
  readonly #client: Client;
  readonly #byIP = new Map<string, FloatingIP>();
  readonly #names = new Set<string>();
  readonly #poll: ActionPoll;
  readonly #everything: SharedRead<ReadonlySet<string>>;
  /** By address what this process has sent on its way. */
  readonly #moves = new Map<string, Move>();
  /** Addresses whose last change may be under way, or was refused since another one is. */
  readonly #doubtful = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
    this.#poll = new ActionPoll(client);
    this.#everything = new SharedRead(() => this.#readEverything());
  }

  get port(): IPProvider {
    return {
      name: "hetzner",
      pageSize: PAGE_SIZE,
      listPage: (page) => this.#listPage(page),
      getAddress: (ip) => this.#getAddress(ip),
      machineAddresses: (machineID) => this.#machineAddresses(machineID),
      // The limit of a project stands in the console only.
      addressLimit: () => Promise.resolve(undefined),
      assign: (ip, machineID) => this.#assign(ip, machineID),
      unassign: (ip) => this.#unassign(ip),
      actionState: ({ actionID }) => this.#poll.stateOf(actionID),
      create: (place, buyer) => this.#create(place, buyer),
      delete: (ip) => this.#delete(ip),
    };
  }

  async #listPage(page: number): Promise<AddressPage> {
    const { items, hasMore, total } = await this.#client.call(pageCall(page));
    for (const item of items) this.#remember(item);
    const addresses = items.flatMap(({ address, ...item }) =>
      address === undefined ? [] : this.#settled({ ...item, address }),
    );
    const others = items.flatMap(({ id, address }) => (address === undefined ? [id] : []));
    return {
      addresses: await Promise.all(addresses),
      ...(others.length === 0 ? {} : { others }),
      // Without a total one more than is known says that there is another page.
      total: total ?? (hasMore ? page * PAGE_SIZE + 1 : (page - 1) * PAGE_SIZE + items.length),
    };
  }

  async #getAddress(ip: string): Promise<Address | undefined> {
    aboutAddress(readingAddress(ip));
    const id = await this.#idOf(ip);
    if (id === undefined) return undefined;
    const known = await this.#read(id, ip);
    if (known === undefined) this.#byIP.delete(ip);
    else this.#remember(known);
    return known?.address === undefined ? undefined : await this.#settled({ ...known, address: known.address });
  }

  /** The floating IP with this id, and with this address where one is given; undefined if it is gone. */
  async #read(id: string, ip?: string): Promise<FloatingIP | undefined> {
    return await this.#client.call<FloatingIP | undefined>({
      ...(ip === undefined ? reading("get", id, `read the floating IP ${id}`) : readingAddress(ip)),
      send: (request) => request("GET", `/floating_ips/${id}`),
      read: (body) => readFloatingIP(body, ip),
      expected: expectedAs("not-found", undefined),
    });
  }

  /** The address as it counts: locked while it shows what its action has not finished, and while an action runs that its last change may have begun, or met. */
  async #settled({ id, address }: Required<FloatingIP>): Promise<Address> {
    const { ip, holderID } = address;
    const move = this.#moves.get(ip);
    if (move !== undefined && move.to === holderID) {
      const state = await unless(this.#poll.stateOf(move.actionID), "pending");
      if (state === "pending") return { ...address, isLocked: true };
      if (this.#moves.get(ip) === move) this.#moves.delete(ip);
      this.#doubtful.delete(ip);
      return state === "errored" ? ((await this.#read(id, ip))?.address ?? address) : address;
    }
    if (!this.#doubtful.has(ip)) return address;
    if (await unless(this.#hasAction(id, ip), true)) return { ...address, isLocked: true };
    this.#doubtful.delete(ip);
    // What ran may have ended between the two answers.
    return (await this.#read(id, ip))?.address ?? address;
  }

  async #hasAction(id: string, ip: string): Promise<boolean> {
    return await this.#client.call({
      ...reading("action", ip, `read what is done with ${ip}`),
      send: (request) => request("GET", withQuery(`/floating_ips/${id}/actions`, { status: "running" })),
      read: (body) => readPage(body, "actions", object({ id: ID })).items.length > 0,
      expected: expectedAs("not-found", false),
    });
  }

  /** Sends an address on its way. Any 2xx means accepted. Without a readable action id it is `""`: the address itself is the truth. */
  async #move(
    call: CallInfo,
    ip: string,
    { path, to, body }: { readonly path: string; readonly to?: string; readonly body?: object },
  ): Promise<AcceptedAction> {
    const base = await this.#pathOf(ip, call);
    try {
      const { actionID } = await this.#client.call<{ readonly actionID: string }>({
        ...call,
        send: (request) => request("POST", `${base}/actions/${path}`, body),
        read: (answer) => ({ actionID: read(object({ action: object({ id: ID }) }), answer).action.id }),
        otherwise: { value: { actionID: "" } },
      });
      this.#moves.set(ip, { actionID, to });
      return { ip, actionID };
    } catch (error) {
      const isOpen = error instanceof ProviderError && (error.isAmbiguous || error.failure === "busy");
      if (isOpen) this.#doubtful.add(ip);
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
        const { server: found } = read(object({ server: SERVER }), body);
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
    const call = aboutAddress(writing("assign", ip, `assign ${ip} to server ${machineID}`));
    const server = serverNumber(call, machineID);
    return await this.#move(call, ip, { path: "assign", to: machineID, body: { server } });
  }

  async #unassign(ip: string): Promise<AcceptedAction> {
    const call = aboutAddress(writing("unassign", ip, `unassign ${ip}`));
    return await this.#move(call, ip, { path: "unassign" });
  }

  async #create(place: BuyingPlace, { uid, knownIPs }: Buyer): Promise<Address> {
    const call = purchaseOf(place);
    const where =
      "machineID" in place ? { server: serverNumber(call, place.machineID) } : { home_location: place.region };
    const labels = { [OWNER_LABEL]: uid };
    for (;;) {
      const name = this.#freeName(uid);
      const bought = await this.#client.call<FloatingIP | undefined>({
        ...call,
        send: (request) => request("POST", "/floating_ips", { type: "ipv4", ...where, name, labels }),
        read: (body) => this.#readPurchase(body, place),
        expected: expectedAs({ code: "uniqueness_error" }, undefined),
      });
      const made = bought ?? (await this.#named(name, call));
      this.#remember(made);
      const { address } = made;
      // A list that lags behind may not have shown what an earlier purchase brought.
      if (address !== undefined && (bought !== undefined || !knownIPs.includes(address.ip))) return address;
      if (bought !== undefined) throw notIPv4(call);
    }
  }

  #readPurchase(body: unknown, place: BuyingPlace): FloatingIP {
    const made = readFloatingIP(body);
    const { action } = read(object({ action: maybe(object({ id: ID })) }), body);
    if (action !== undefined && made.address !== undefined && "machineID" in place)
      this.#moves.set(made.address.ip, { actionID: action.id, to: place.machineID });
    return made;
  }

  async #delete(ip: string): Promise<void> {
    const call = aboutAddress(writing("delete", ip, `delete ${ip}`));
    const id = await this.#idOf(ip);
    if (id === undefined) return;
    await this.#client.call({
      ...call,
      send: (request) => request("DELETE", `/floating_ips/${id}`),
      read: () => undefined,
      otherwise: { value: undefined },
      expected: expectedAs("not-found", undefined),
    });
    this.#byIP.delete(ip);
  }

  /** The first name that no floating IP has of which is known. */
  #freeName(ownerUID: string): string {
    for (let number = 1; ; number += 1) {
      const name = `flipop-${ownerUID}-${number}`;
      if (!this.#names.has(name)) return name;
    }
  }

  /** The floating IP with a name that is taken: what an earlier purchase of this name brought. */
  async #named(name: string, call: CallInfo): Promise<FloatingIP> {
    const [found] = await this.#client.call({
      ...call,
      isWrite: false,
      doing: `find the floating IP ${name}, which is there already`,
      send: (request) => request("GET", withQuery("/floating_ips", { name })),
      read: (body) => readPage(body, "floating_ips", FLOATING_IP).items.filter((one) => one.name === name),
    });
    if (found !== undefined) return found;
    throw providerError(call, {
      failure: "malformed",
      status: 409,
      reason: `it says that there is a floating IP ${name}, and shows none`,
      isAmbiguous: true,
    });
  }

  async #pathOf(ip: string, call: CallInfo): Promise<string> {
    const id = await this.#idOf(ip);
    if (id !== undefined) return `/floating_ips/${id}`;
    throw providerError(call, { failure: "not-found", status: 0, reason: "the project has no such floating IP" });
  }

  async #idOf(ip: string): Promise<string | undefined> {
    const known = this.#byIP.get(ip);
    if (known !== undefined) return known.id;
    const found = await this.#everything.fresh("address");
    return found.has(ip) ? this.#byIP.get(ip)?.id : undefined;
  }

  /** The address of a floating IP that a server has; undefined for an IPv6 network, and for one that is gone. */
  async #addressOf(id: string): Promise<string | undefined> {
    const known = [...this.#byIP].find(([, floatingIP]) => floatingIP.id === id);
    if (known !== undefined) return known[0];
    const found = await this.#read(id);
    if (found !== undefined) this.#remember(found);
    return found?.address?.ip;
  }

  /** Returns every address of the project. */
  async #readEverything(): Promise<ReadonlySet<string>> {
    const items = await listAll(this.#client, { noun: "floating IPs", keyOf: ({ id }) => id }, pageCall);
    for (const item of items) this.#remember(item);
    return new Set(items.flatMap(({ address }) => address?.ip ?? []));
  }

  #remember(item: FloatingIP): void {
    this.#names.add(item.name);
    if (item.address !== undefined) this.#byIP.set(item.address.ip, item);
  }
}

/** An answer; `otherwise` where the provider gives none. */
async function unless<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError) return otherwise;
    throw error;
  }
}

/** Lists are no snapshots: sorted by id, pages do not slip by what is added. */
function pageCall(page: number): HetznerCall<ListPage<FloatingIP>> {
  return {
    ...reading("list", "", `list the floating IPs (page ${page})`),
    send: (request) => request("GET", withQuery("/floating_ips", { page, per_page: PAGE_SIZE, sort: "id:asc" })),
    read: (body) => readPage(body, "floating_ips", FLOATING_IP),
  };
}

function readingAddress(ip: string): CallInfo {
  return reading("get", ip, `read ${ip}`);
}

function notIPv4(call: CallInfo): ProviderError {
  return providerError(call, { failure: "malformed", status: 201, reason: "it is no IPv4 address", isAmbiguous: true });
}

function purchaseOf(place: BuyingPlace): CallInfo {
  return "machineID" in place
    ? writing("create", place.machineID, `create a floating IP for server ${place.machineID}`)
    : writing("create", "", `create a floating IP in location ${JSON.stringify(place.region)}`);
}

/** @throws AnswerFault also when it is another address than the one asked for */
function readFloatingIP(body: unknown, ip?: string): FloatingIP {
  const { floating_ip: found } = read(object({ floating_ip: FLOATING_IP }), body);
  if (ip === undefined || found.address?.ip === ip) return found;
  throw new AnswerFault(`floating_ip.ip is ${found.address?.ip ?? "no IPv4 address"}, not ${ip}`);
}

const IPV4_FLOATING_IP = object({
  id: ID,
  name: TEXT,
  ip: IPV4,
  server: maybe(ID),
  home_location: object({ name: TEXT }),
  blocked: FLAG,
  labels: maybe(ANY),
});

const IPV6_FLOATING_IP: Schema<FloatingIP> = object({ id: ID, name: TEXT });

/** Reads a floating IP. `server` null = unassigned. */
const FLOATING_IP: Schema<FloatingIP> = choose<FloatingIP>(({ type }) =>
  type === "ipv6"
    ? IPV6_FLOATING_IP
    : map(IPV4_FLOATING_IP, ({ id, name, ip, server, home_location: home, blocked, labels }) => {
        const boughtFor = ownerIn(labels);
        const address: Address = {
          ip,
          region: home.name,
          isLocked: false,
          ...(server === undefined ? {} : { holderID: server }),
          ...(blocked ? { isBlocked: true } : {}),
          ...(boughtFor === undefined ? {} : { boughtFor }),
        };
        return { id, name, address };
      }),
);

function ownerIn(labels: unknown): string | undefined {
  const owner = fieldsOf(labels)[OWNER_LABEL];
  return typeof owner === "string" ? owner : undefined;
}

/** What a server says of its addresses. */
interface Server {
  readonly id: string;
  /** Its own IPv4 address; none where it was made without. */
  readonly own: readonly string[];
  readonly floatingIPs: readonly string[];
}

const SERVER: Schema<Server> = map(
  object({ id: ID, public_net: object({ ipv4: maybe(object({ ip: IPV4 })), floating_ips: list(ID) }) }),
  ({ id, public_net: { ipv4, floating_ips: floatingIPs } }) => ({
    id,
    own: ipv4 === undefined ? [] : [ipv4.ip],
    floatingIPs,
  }),
);

/** @throws ProviderError `refused` when the subject of the call is not a canonical IPv4 address */
function aboutAddress(call: CallInfo): CallInfo {
  if (canonicalIPv4(call.subject) !== undefined) return call;
  throw refused(call, `${JSON.stringify(call.subject)} is not an IPv4 address`);
}
