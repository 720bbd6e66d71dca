import type { Address } from "../../model/address.ts";
import type { AddressPage, IPProviderReader } from "../../ports/providers.ts";
import { type Answer, jsonOf } from "../provider-http/answer.ts";
import { AnswerFault } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { decodeAddress } from "./decode-address.ts";
import { expectedFailure } from "./expected-failure.ts";
import { addressSubject, machineSubject } from "./subject.ts";

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
