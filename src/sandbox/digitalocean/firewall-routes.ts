import { firewallJSON } from "./firewall-json.ts";
import { readDropletIDs, readRules } from "./firewall-rules.ts";
import { addDroplets, addRules, listFirewalls, readFirewall, removeDroplets, removeRules } from "./firewalls.ts";
import { pageOf } from "./paging.ts";
import { ok, type Route, type RouteAnswer, type RouteCall } from "./route.ts";

const rulesPath = /^\/v2\/firewalls\/([^/]+)\/rules$/;
const dropletsPath = /^\/v2\/firewalls\/([^/]+)\/droplets$/;

/** The operations on firewalls that add and remove; firewalls themselves, and their tags, are made in the file. */
export const firewallRoutes: readonly Route[] = [
  ["GET", /^\/v2\/firewalls$/, firewalls],
  ["GET", /^\/v2\/firewalls\/([^/]+)$/, firewall],
  ["POST", rulesPath, (call) => changed(call, addRules, readRules)],
  ["DELETE", rulesPath, (call) => changed(call, removeRules, readRules)],
  ["POST", dropletsPath, (call) => changed(call, addDroplets, readDropletIDs)],
  ["DELETE", dropletsPath, (call) => changed(call, removeDroplets, readDropletIDs)],
];

function firewalls(call: RouteCall): RouteAnswer {
  const { cloud, caller } = call;
  const items = listFirewalls(cloud.state, caller).map((item) => firewallJSON(item, caller));
  return ok(pageOf("firewalls", items, call));
}

function firewall({ cloud, caller, parts }: RouteCall): RouteAnswer {
  return ok({ firewall: firewallJSON(readFirewall(cloud.state, caller, parts[0] ?? ""), caller) });
}

function changed<T>(
  { cloud, caller, parts, body }: RouteCall,
  change: (state: RouteCall["cloud"]["state"], caller: RouteCall["caller"], id: string, request: T) => void,
  read: (body: unknown) => T,
): RouteAnswer {
  change(cloud.state, caller, parts[0] ?? "", read(body));
  return { status: 204 };
}
