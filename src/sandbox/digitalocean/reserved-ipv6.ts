import { canonicalIPv6 } from "../../model/address.ts";
import { type APIObject, membersOf, type Route } from "../provider.ts";
import type { AddressView } from "./actions.ts";
import { dropletJSON, startedAction } from "./api-json.ts";
import { listAnswer, notFound, type RouteAnswer, type RouteCall, unprocessable } from "./calls.ts";

const ONE = String.raw`/v2/reserved_ipv6/([\da-f:.]+)`;

/** The operations on reserved IPv6 addresses. An action of one is not found below it, only by its id. */
export const ipv6Routes: readonly Route<RouteCall, RouteAnswer>[] = [
  ["GET", /^\/v2\/reserved_ipv6$/, list],
  ["POST", /^\/v2\/reserved_ipv6$/, create],
  ["GET", new RegExp(`^${ONE}$`, "i"), (call, ip) => answerWith(200, call, call.cloud.address(call.caller, known(ip)))],
  ["DELETE", new RegExp(`^${ONE}$`, "i"), remove],
  ["POST", new RegExp(`^${ONE}/actions$`, "i"), (call, ip) => startedAction(call, known(ip))],
];

/** The address that a path names, however it is written. @throws Refusal 404 */
function known(text = ""): string {
  const ip = canonicalIPv6(text);
  if (ip === undefined) throw notFound();
  return ip;
}

function list(call: RouteCall): RouteAnswer {
  const key = isBare(call) ? "reserved_ips" : "reserved_ipv6s";
  return listAnswer(key, call.cloud.listAddresses(call.caller, "IPv6").map(addressJSON), call);
}

function create(call: RouteCall): RouteAnswer {
  const { region_slug: region, ...others } = membersOf(call.body) ?? {};
  if (typeof region !== "string") throw unprocessable("region_slug must be a string.");
  const [other] = Object.keys(others);
  if (other !== undefined) throw unprocessable(`${other} is not expected.`);
  return answerWith(201, call, call.cloud.createIPv6(call.caller, region));
}

function remove({ cloud, caller }: RouteCall, ip = ""): RouteAnswer {
  cloud.delete(caller, known(ip));
  return { status: 204 };
}

function answerWith(status: number, call: RouteCall, address: AddressView): RouteAnswer {
  const shown = addressJSON(address);
  return { status, body: isBare(call) ? shown : { reserved_ipv6: shown } };
}

function isBare({ cloud }: RouteCall): boolean {
  return cloud.state.settings.ipv6_answers === "bare";
}

/** An address: without a droplet there is no member for it, and no word of a lock. */
function addressJSON({ ip, region, droplet, locked }: AddressView): APIObject {
  const view = { isBusy: locked, reservedIP: undefined, reservedIPv6: ip };
  return {
    ip,
    region_slug: region,
    reserved_at: "2026-01-01T00:00:00Z",
    ...(droplet === null ? {} : { droplet: dropletJSON({ droplet, ...view }) }),
  };
}
