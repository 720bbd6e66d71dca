import type { Address } from "../../model/address.ts";
import type { AcceptedAction, ActionState, AddressPage, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import { type Answer, AnswerFault, type AnswerValue, jsonOf } from "../provider-http/answer.ts";
import { type Call, type Caller, expectedFailure } from "./api.ts";
import { addressSubject, answeredID, machineSubject } from "./ids.ts";

const pageSize = 200;

/** The reading half of the port over DigitalOcean's API: `/v2/reserved_ips`, `/v2/droplets/{id}`, `/v2/account`. */
export function readOperations(caller: Caller): IPProviderReader {
  return {
    name: "digitalocean",
    pageSize,
    listPage: (page) => caller.call(listCall(page)),
    getAddress: async (ip) => caller.call(getCall(ip)),
    machineAddresses: async (machineID) => caller.call(machineCall(machineID)),
    addressLimit: () => caller.call(limitCall),
  };
}

function listCall(page: number): Call<AddressPage> {
  return {
    operation: "list",
    subject: "",
    doing: `list the reserved IPs (page ${page})`,
    scope: "reserved_ip:read",
    isWrite: false,
    send: (client, configuration) =>
      client.reservedIPs.get({ ...configuration, queryParameters: { page, perPage: pageSize } }),
    decode: (answer) => decodePage(answer, page),
  };
}

/** A first page without addresses of an account that has some is a fault: an empty answer is never "no addresses". */
function decodePage(answer: Answer, page: number): AddressPage {
  const body = jsonOf(answer);
  const addresses = body.at("reserved_ips").items().map(decodeAddress);
  const total = body.at("meta").at("total").count();
  if (page === 1 && addresses.length === 0 && total > 0) {
    throw new AnswerFault(`reserved_ips is empty although meta.total is ${total}`);
  }
  return { addresses, total };
}

function getCall(ip: string): Call<Address | undefined> {
  const facts = { operation: "get", doing: `read ${ip}`, scope: "reserved_ip:read", isWrite: false };
  const subject = addressSubject(facts, ip);
  return {
    ...facts,
    subject,
    send: (client, configuration) => client.reservedIPs.byReserved_ip(subject).get(configuration),
    decode(answer) {
      const address = decodeAddress(jsonOf(answer).at("reserved_ip"));
      if (address.ip !== ip) throw new AnswerFault(`reserved_ip.ip is ${address.ip}, not ${ip}`);
      return address;
    },
    expected: expectedFailure("not-found", undefined),
  };
}

function machineCall(machineID: string): Call<readonly string[] | undefined> {
  const facts = { operation: "machine", doing: `read droplet ${machineID}`, scope: "droplet:read", isWrite: false };
  const dropletID = machineSubject(facts, machineID);
  return {
    ...facts,
    subject: machineID,
    send: (client, configuration) => client.droplet(dropletID).get(configuration),
    decode(answer) {
      const droplet = jsonOf(answer).at("droplet");
      const id = answeredID(droplet.at("id"));
      if (id !== machineID) throw new AnswerFault(`droplet.id is ${id}, not ${machineID}`);
      return droplet
        .at("networks")
        .at("v4")
        .items()
        .map((network) => network.at("ip_address").ipv4());
    },
    expected: expectedFailure("not-found", undefined),
  };
}

/** `floating_ip_limit` is 0 when the token lacks reserved_ip:read, so 0 says nothing. */
const limitCall: Call<number | undefined> = {
  operation: "limit",
  subject: "",
  doing: "read the account's limit of reserved IPs",
  scope: "account:read",
  isWrite: false,
  send: (client, configuration) => client.account.get(configuration),
  decode(answer) {
    const account = jsonOf(answer).at("account");
    const limit = account.at("reserved_ip_limit");
    const known = limit.isAbsent ? account.at("floating_ip_limit") : limit;
    const count = known.isAbsent ? 0 : known.count();
    return count === 0 ? undefined : count;
  },
  expected: expectedFailure("forbidden", undefined),
};

/** The writing half of the port over DigitalOcean's API. */
export function writeOperations(caller: Caller): Omit<IPProvider, keyof IPProviderReader> {
  return {
    assign: async (ip, machineID) => caller.call(assignCall(ip, machineID)),
    unassign: async (ip) => caller.call(unassignCall(ip)),
    actionState: async (action) => {
      const actionID = /^[1-9]\d*$/.test(action.actionID) ? Number(action.actionID) : Number.NaN;
      return Number.isSafeInteger(actionID) ? caller.call(actionCall(action.ip, actionID)) : "unknown";
    },
    create: async (place) =>
      caller.call("machineID" in place ? createForMachine(place.machineID) : createInRegion(place.region)),
    delete: async (ip) => caller.call(deleteCall(ip)),
  };
}

function assignCall(ip: string, machineID: string): Call<AcceptedAction> {
  const doing = `assign ${ip} to droplet ${machineID}`;
  const facts = { operation: "assign", doing, scope: "reserved_ip:update", isWrite: true };
  const subject = addressSubject(facts, ip);
  const dropletId = machineSubject(facts, machineID);
  return {
    ...facts,
    subject,
    send: (client, configuration) =>
      client.reservedIPs.byReserved_ip(subject).actions.post({ type: "assign", dropletId }, configuration),
    decode: (answer) => accepted(ip, answer),
  };
}

function unassignCall(ip: string): Call<AcceptedAction> {
  const facts = { operation: "unassign", doing: `unassign ${ip}`, scope: "reserved_ip:update", isWrite: true };
  const subject = addressSubject(facts, ip);
  return {
    ...facts,
    subject,
    send: (client, configuration) =>
      client.reservedIPs.byReserved_ip(subject).actions.post({ type: "unassign" }, configuration),
    decode: (answer) => accepted(ip, answer),
  };
}

/** Any 2xx means accepted. Without a readable action id it is `""`: the address itself is the truth. */
function accepted(ip: string, answer: Answer): AcceptedAction {
  try {
    return { ip, actionID: answeredID(jsonOf(answer).at("action").at("id")) };
  } catch {
    return { ip, actionID: "" };
  }
}

/**
 * Documented are in-progress, completed and errored; `new` and `done` have been seen as well. The action of a BYOIP
 * address is 404 for ever.
 * @see https://github.com/digitalocean/terraform-provider-digitalocean/issues/1557 (verified 2026-08-07)
 */
function actionCall(ip: string, actionID: number): Call<ActionState> {
  const doing = `read action ${actionID} of ${ip}`;
  const facts = { operation: "action", doing, scope: "reserved_ip:read", isWrite: false };
  const subject = addressSubject(facts, ip);
  return {
    ...facts,
    subject,
    send: (client, configuration) =>
      client.reservedIPs.byReserved_ip(subject).actions.byAction_id(actionID).get(configuration),
    decode(answer) {
      const status = jsonOf(answer).at("action").at("status").text();
      if (status === "completed" || status === "done") return "done";
      return status === "errored" ? "errored" : "pending";
    },
    expected: expectedFailure("not-found", "unknown"),
  };
}

function createForMachine(machineID: string): Call<Address> {
  const doing = `create a reserved IP for droplet ${machineID}`;
  const facts = { operation: "create", doing, scope: "reserved_ip:create", isWrite: true };
  const dropletId = machineSubject(facts, machineID);
  return {
    ...facts,
    subject: machineID,
    send: (client, configuration) => client.reservedIPs.post({ dropletId }, configuration),
    decode: (answer) => decodeAddress(jsonOf(answer).at("reserved_ip")),
  };
}

function createInRegion(region: string): Call<Address> {
  return {
    operation: "create",
    subject: "",
    doing: `create a reserved IP in region ${JSON.stringify(region)}`,
    scope: "reserved_ip:create",
    isWrite: true,
    send: (client, configuration) => client.reservedIPs.post({ region }, configuration),
    decode: (answer) => decodeAddress(jsonOf(answer).at("reserved_ip")),
  };
}

function deleteCall(ip: string): Call<void> {
  const facts = { operation: "delete", doing: `delete ${ip}`, scope: "reserved_ip:delete", isWrite: true };
  const subject = addressSubject(facts, ip);
  return {
    ...facts,
    subject,
    send: (client, configuration) => client.reservedIPs.byReserved_ip(subject).delete(configuration),
    decode: () => undefined,
    expected: expectedFailure("not-found", undefined),
  };
}

/** A region such as `nyc3`. */
const slug = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * The address in a `reserved_ip` object. `droplet` null or absent = unattached; a droplet without an id is a fault, never
 * "unattached"; a region that is null or absent is `""`.
 * @throws AnswerFault
 */
export function decodeAddress(value: AnswerValue): Address {
  const region = value.at("region");
  const droplet = value.at("droplet");
  return {
    ip: value.at("ip").ipv4(),
    region: region.isAbsent ? "" : region.at("slug").textLike(slug, "a slug"),
    isLocked: value.at("locked").flag(),
    ...(droplet.isAbsent ? {} : { holderID: answeredID(droplet.at("id")) }),
  };
}
