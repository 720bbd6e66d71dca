import { ProviderError } from "../../model/errors.ts";
import type { FirewallMemory, PendingFirewall } from "../../model/firewall.ts";
import type { DNSMemory, PublishedName } from "../../model/resource.ts";
import { categoryOf, messageOf } from "../text/errors.ts";

/** The version every JSON document carries; changes within it only add. */
export const API_VERSION = "cli.flipop.digitalocean.com/v1";

/** A JSON object, ready to be written as JSON or YAML. */
export type JSONObject = { readonly [name: string]: JSONValue | undefined };

/** A JSON value; undefined fields of objects are left out when written. */
export type JSONValue = string | number | boolean | null | readonly JSONValue[] | JSONObject;

/** Returns the document `Version`: what runs. Schema: `schema/version.json`. */
export function versionDocument(version: string, node: string): JSONObject {
  return { apiVersion: API_VERSION, kind: "Version", version, node };
}

/** Returns the document `Sandbox`: where an embedded world is kept, and the variables by which programs find it. Schema: `schema/sandbox.json`. */
export function sandboxDocument(directory: string, environment: Readonly<Record<string, string>>): JSONObject {
  return { apiVersion: API_VERSION, kind: "Sandbox", directory, environment };
}

/** Returns the document `Error`: why a command could not do its work. Schema: `schema/error.json`. */
export function errorDocument(error: unknown, exitCode: number): JSONObject {
  const requestID = error instanceof ProviderError ? error.requestID : undefined;
  return {
    apiVersion: API_VERSION,
    kind: "Error",
    exitCode,
    category: categoryOf(error),
    message: messageOf(error),
    requestId: requestID,
  };
}

/** Returns the document `Error` for a run that did not take place because someone else holds the lock. */
export function lockedDocument(message: string, exitCode: number): JSONObject {
  return { apiVersion: API_VERSION, kind: "Error", exitCode, category: "locked", message };
}

/** Returns the document `Error` for a saved plan that was not carried out. */
export function refusedDocument(message: string, exitCode: number): JSONObject {
  return { apiVersion: API_VERSION, kind: "Error", exitCode, category: "refused", message };
}

/** Returns what flipop added to one firewall for an object, as documents carry it. */
export function firewallField({ provider, id, name, ports, machineIDs }: FirewallMemory): JSONObject {
  return { provider, id, name, ports, machineIDs };
}

/** Returns a change of a firewall that is pending, as documents carry it. */
export function pendingFirewallField({ id, name, machineID, since }: PendingFirewall): JSONObject {
  return { id, name, machineID: machineID ?? null, since };
}

/** Returns the name an object publishes and the addresses its records had when last seen, as documents carry it; `null` = none is on record. */
export function publishedField({ publishedDNS }: Pick<DNSMemory, "publishedDNS">): JSONObject | null {
  return publishedDNS === undefined ? null : nameField(publishedDNS);
}

/** Returns one name with its records as documents carry it. */
export function nameField(published: PublishedName): JSONObject {
  const { provider, zone, name, addresses } = published;
  return { provider, zone, name, addresses, published: addresses, ...foreignField(published) };
}

/** Returns the addresses that flipop did not write, and when each was first seen; no field where there are none. */
export function foreignField({ foreign }: Partial<Pick<PublishedName, "foreign">>): JSONObject {
  return foreign === undefined ? {} : { foreign: foreign.map(({ address, since }) => ({ address, since })) };
}
