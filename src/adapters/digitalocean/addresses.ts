// Reserved IPs: `/v2/reserved_ips`, with `/v2/droplets/{id}` and `/v2/account`.

import type { Address } from "../../model/address.ts";
import type { ActionState, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import { AnswerFault, COUNT, FLAG, IPV4, list, map, maybe, object, read, type Schema } from "../http/answer.ts";
import { accepted, readActionState, readMachine, SLUG } from "./address-answers.ts";
import { type Client, callTo, expectedFailure, PAGE_SIZE, readPage } from "./api.ts";
import { aboutAddress, dropletNumber, ID, wholeNumber } from "./ids.ts";

/** Returns the reading half of the port over DigitalOcean's API. */
export function addressReader(client: Client): IPProviderReader {
  return {
    name: "digitalocean",
    pageSize: PAGE_SIZE,

    listPage: (page) =>
      client.call({
        ...callTo("list", "", `list the reserved IPs (page ${page})`, "reserved_ip:read"),
        send: ({ reservedIPs }) => reservedIPs.get({ queryParameters: { page, perPage: PAGE_SIZE } }),
        read: (body) => {
          const { items, ...rest } = readPage(body, { key: "reserved_ips", page, mayShrink: true }, ADDRESS);
          return { addresses: items, ...rest };
        },
      }),

    getAddress: async (ip) =>
      client.call({
        ...aboutAddress(callTo("get", ip, `read ${ip}`, "reserved_ip:read")),
        send: ({ reservedIPs }) => reservedIPs.byReserved_ip(ip).get(),
        read: (body) => {
          const address = readReservedIP(body);
          if (address.ip !== ip) throw new AnswerFault(`reserved_ip.ip is ${address.ip}, not ${ip}`);
          return address;
        },
        expected: expectedFailure("not-found", undefined),
      }),

    machineAddresses: (machineID) =>
      readMachine(client, machineID, (body) =>
        read(DROPLET, body).droplet.networks.v4.map((network) => network.ip_address),
      ),

    addressLimit: () =>
      client.call({
        ...callTo("limit", "", "read the account's limit of reserved IPs", "account:read"),
        send: ({ account }) => account.get(),
        read: (body) => {
          const { account } = read(ACCOUNT, body);
          // 0 says nothing: `floating_ip_limit` is 0 when the token lacks reserved_ip:read.
          return account.reserved_ip_limit || account.floating_ip_limit || undefined;
        },
        expected: expectedFailure("forbidden", undefined),
      }),
  };
}

/** Returns the writing half of the port over DigitalOcean's API. */
export function addressWriter(client: Client): Omit<IPProvider, keyof IPProviderReader> {
  return {
    assign: async (ip, machineID) => {
      const doing = `assign ${ip} to droplet ${machineID}`;
      const call = aboutAddress(callTo("assign", ip, doing, "reserved_ip:update"));
      const dropletId = dropletNumber(call, machineID);
      return await client.call({
        ...call,
        send: ({ reservedIPs }) => reservedIPs.byReserved_ip(ip).actions.post({ type: "assign", dropletId }),
        ...accepted(ip),
      });
    },

    unassign: async (ip) =>
      client.call({
        ...aboutAddress(callTo("unassign", ip, `unassign ${ip}`, "reserved_ip:update")),
        send: ({ reservedIPs }) => reservedIPs.byReserved_ip(ip).actions.post({ type: "unassign" }),
        ...accepted(ip),
      }),

    actionState: async ({ ip, actionID }) => {
      const id = wholeNumber(actionID);
      if (id === undefined) return "unknown";
      return await client.call<ActionState>({
        ...aboutAddress(callTo("action", ip, `read action ${id} of ${ip}`, "reserved_ip:read")),
        send: ({ reservedIPs }) => reservedIPs.byReserved_ip(ip).actions.byAction_id(id).get(),
        read: readActionState,
        // The action of a BYOIP address is 404 for ever.
        // https://github.com/digitalocean/terraform-provider-digitalocean/issues/1557 (verified 2026-08-07)
        expected: expectedFailure("not-found", "unknown"),
      });
    },

    create: async (place) => {
      const [subject, where] =
        "machineID" in place
          ? [place.machineID, `for droplet ${place.machineID}`]
          : ["", `in region ${JSON.stringify(place.region)}`];
      const call = callTo("create", subject, `create a reserved IP ${where}`, "reserved_ip:create");
      const order = "region" in place ? place : { dropletId: dropletNumber(call, place.machineID) };
      return await client.call({ ...call, send: ({ reservedIPs }) => reservedIPs.post(order), read: readReservedIP });
    },

    delete: async (ip) =>
      client.call({
        ...aboutAddress(callTo("delete", ip, `delete ${ip}`, "reserved_ip:delete")),
        send: ({ reservedIPs }) => reservedIPs.byReserved_ip(ip).delete(),
        read: () => undefined,
        otherwise: { value: undefined },
        expected: expectedFailure("not-found", undefined),
      }),
  };
}

function readReservedIP(body: unknown): Address {
  return read(object({ reserved_ip: ADDRESS }), body).reserved_ip;
}

/**
 * Reads a `reserved_ip` object. `droplet` null or absent = unattached; a droplet without an id is a fault, never
 * "unattached"; a region that is null or absent is `""`.
 */
export const ADDRESS: Schema<Address> = map(
  object({
    region: maybe(object({ slug: SLUG })),
    droplet: maybe(object({ id: ID })),
    ip: IPV4,
    locked: FLAG,
  }),
  ({ ip, region, locked, droplet }) => ({
    ip,
    region: region?.slug ?? "",
    isLocked: locked,
    ...(droplet === undefined ? {} : { holderID: droplet.id }),
  }),
);

const DROPLET = object({ droplet: object({ networks: object({ v4: list(object({ ip_address: IPV4 })) }) }) });

const ACCOUNT = object({
  account: object({ reserved_ip_limit: maybe(COUNT), floating_ip_limit: maybe(COUNT) }),
});
