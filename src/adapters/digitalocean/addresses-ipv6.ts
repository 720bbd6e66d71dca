// Reserved IPv6 addresses: `/v2/reserved_ipv6`, with `/v2/droplets/{id}` and `/v2/actions/{id}`.
//
// They differ from reserved IPs (IPv4) in this:
//   Buying     An address is bought for a region only, never for a droplet.
//   Moving     An address does not show that an action is under way. Only a refusal does (422, "pending event").
//              There is no action below an address: `/v2/actions/{id}` needs the scope `actions:read`, which flipop does not ask for. Without it the address alone tells.
//              So an address that this process has sent counts as locked until it is there, or its action has ended.
//              If the action cannot be read, the address counts as locked for 10 seconds.
//              Another process knows of no action, and learns of it by the refusal.
//   Answers    The description of the API has an address in `reserved_ipv6`, and a list in `reserved_ipv6s`. The API itself gave an address bare, and DigitalOcean's own
//              client for Go reads it so, and a list in `reserved_ips` (https://github.com/digitalocean/openapi/pull/951, godo, read 2026-11-26). Each of them is understood.
//   Limits     Nothing says whether they count against the account's limit of reserved IPs. So no limit is told: the refusal tells.

import type { Address } from "../../model/address.ts";
import { sourceText } from "../../model/address-source.ts";
import type { ActionState, AddressPage, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import type { Clock } from "../../ports/system.ts";
import { ADDRESS, AnswerFault, anyList, fieldsOf, map, maybe, object, read, type Schema } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { accepted, readActionState, readMachine, SLUG } from "./address-answers.ts";
import { type Client, callTo, expectedFailure, PAGE_SIZE, readPage, refused } from "./api.ts";
import { aboutAddress, dropletNumber, ID, wholeNumber } from "./ids.ts";
import { OwnChanges } from "./own-changes.ts";

/** Returns the reading half of the port over DigitalOcean's API. */
export function addressReaderIPv6(client: Client): IPProviderReader {
  return {
    name: sourceText({ provider: "digitalocean", family: "IPv6" }),
    pageSize: PAGE_SIZE,

    listPage: (page) =>
      client.call({
        ...callTo("list", "", `list the reserved IPv6 addresses (page ${page})`, "reserved_ip:read"),
        send: ({ reservedIPv6 }) => reservedIPv6.get({ queryParameters: { page, perPage: PAGE_SIZE } }),
        read: (body) => readAddressPage(body, page),
      }),

    getAddress: async (ip) =>
      client.call<Address | undefined>({
        ...aboutIPv6(callTo("get", ip, `read ${ip}`, "reserved_ip:read")),
        send: ({ reservedIPv6 }) => reservedIPv6.byReserved_ipv6(ip).get(),
        read: (body) => {
          const address = readReservedIPv6(body);
          if (address.ip !== ip) throw new AnswerFault(`reserved_ipv6.ip is ${address.ip}, not ${ip}`);
          return address;
        },
        expected: expectedFailure("not-found", undefined),
      }),

    machineAddresses: (machineID) =>
      readMachine(client, machineID, (body) =>
        read(DROPLET, body).droplet.networks.v6.map((network) => network.ip_address),
      ),

    addressLimit: () => Promise.resolve(undefined),
  };
}

/** Returns the port over DigitalOcean's API, which may change addresses. An address that it has sent somewhere is locked while it is on its way. */
export function addressesIPv6<Reader extends IPProviderReader>(
  reader: Reader,
  client: Client,
  clock: Clock,
): Reader & IPProvider {
  const changes = new OwnChanges(clock);
  const writer = addressWriter(client, changes);
  const questions = { actionState: writer.actionState, read: reader.getAddress };
  return {
    ...reader,
    ...writer,
    listPage: async (page) => {
      const answer = await reader.listPage(page);
      const settle = async (address: Address): Promise<Address> =>
        (await changes.settled(address, questions)) ?? address;
      return { ...answer, addresses: await Promise.all(answer.addresses.map(settle)) };
    },
    getAddress: async (ip) => {
      const address = await reader.getAddress(ip);
      return address === undefined ? undefined : await changes.settled(address, questions);
    },
  };
}

function addressWriter(client: Client, changes: OwnChanges): Omit<IPProvider, keyof IPProviderReader> {
  // Nothing else is learned by asking again: a token does not get other scopes.
  let areActionsHidden = false;
  return {
    assign: async (ip, machineID) => {
      const call = aboutIPv6(callTo("assign", ip, `assign ${ip} to droplet ${machineID}`, "reserved_ip:update"));
      const dropletId = dropletNumber(call, machineID);
      const action = await client.call({
        ...call,
        send: ({ reservedIPv6 }) => reservedIPv6.byReserved_ipv6(ip).actions.post({ type: "assign", dropletId }),
        ...accepted(ip),
      });
      return changes.begun(action, machineID);
    },

    unassign: async (ip) => {
      const action = await client.call({
        ...aboutIPv6(callTo("unassign", ip, `unassign ${ip}`, "reserved_ip:update")),
        send: ({ reservedIPv6 }) => reservedIPv6.byReserved_ipv6(ip).actions.post({ type: "unassign" }),
        ...accepted(ip),
      });
      return changes.begun(action);
    },

    actionState: async ({ ip, actionID }) => {
      const id = wholeNumber(actionID);
      if (id === undefined || areActionsHidden) return "unknown";
      return await client.call<ActionState>({
        ...aboutIPv6(callTo("action", ip, `read action ${id} of ${ip}`, "actions:read")),
        send: (sdk) => sdk.action(id).get(),
        read: readActionState,
        expected: ({ error: { failure } }) => {
          if (failure === "forbidden") areActionsHidden = true;
          return failure === "forbidden" || failure === "not-found" ? { value: "unknown" } : undefined;
        },
      });
    },

    create: async (place) => {
      if ("machineID" in place) {
        const { machineID } = place;
        const call = callTo(
          "create",
          machineID,
          `create a reserved IPv6 for droplet ${machineID}`,
          "reserved_ip:create",
        );
        throw refused(call, "DigitalOcean makes one for a region only");
      }
      const where = `in region ${JSON.stringify(place.region)}`;
      return await client.call({
        ...callTo("create", "", `create a reserved IPv6 ${where}`, "reserved_ip:create"),
        send: ({ reservedIPv6 }) => reservedIPv6.post({ regionSlug: place.region }),
        read: readReservedIPv6,
      });
    },

    delete: async (ip) =>
      client.call({
        ...aboutIPv6(callTo("delete", ip, `delete ${ip}`, "reserved_ip:delete")),
        send: ({ reservedIPv6 }) => reservedIPv6.byReserved_ipv6(ip).delete(),
        read: () => undefined,
        otherwise: { value: undefined },
        expected: expectedFailure("not-found", undefined),
      }),
  };
}

/** @throws ProviderError `refused` when the subject of the call is not a canonical IPv6 address */
function aboutIPv6(call: CallInfo): CallInfo {
  return aboutAddress(call, "IPv6");
}

function readAddressPage(body: unknown, page: number): AddressPage {
  const { reserved_ipv6s: documented, reserved_ips: other } = fieldsOf(body);
  const key = documented === undefined && other !== undefined ? "reserved_ips" : "reserved_ipv6s";
  const { items, ...rest } = readPage(body, { key, page, mayShrink: true }, RESERVED_IPV6);
  return { addresses: items, ...rest };
}

function readReservedIPv6(body: unknown): Address {
  const isBare = Object.hasOwn(fieldsOf(body), "ip");
  return isBare ? read(RESERVED_IPV6, body) : read(object({ reserved_ipv6: RESERVED_IPV6 }), body).reserved_ipv6;
}

/**
 * Reads an address. `droplet` null or absent = unattached; a droplet without an id is a fault, never "unattached"; a region that is null or absent is `""`.
 */
const RESERVED_IPV6: Schema<Address> = map(
  object({ ip: ADDRESS.AAAA, region_slug: maybe(SLUG), droplet: maybe(object({ id: ID })) }),
  ({ ip, region_slug: region = "", droplet }) => ({
    ip,
    region,
    isLocked: false,
    ...(droplet === undefined ? {} : { holderID: droplet.id }),
  }),
);

/** A droplet without IPv6 may have no such list. */
const DROPLET = object({
  droplet: object({ networks: object({ v6: anyList(object({ ip_address: ADDRESS.AAAA })) }) }),
});
