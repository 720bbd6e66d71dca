// The ids of DigitalOcean: those that go into a request, checked before anything is sent, and those in answers.

import { CANONICAL } from "../../model/address.ts";
import type { IPFamily } from "../../model/address-source.ts";
import { ANY, check, map, type Schema, textLike } from "../http/answer.ts";
import type { CallInfo } from "../http/failures.ts";
import { refused } from "./api.ts";

/**
 * Returns the call when its subject may go into a URL path as an address.
 * @throws ProviderError `refused` when it is not a canonical address of the family
 */
export function aboutAddress(call: CallInfo, family: IPFamily = "IPv4"): CallInfo {
  const { subject } = call;
  if (CANONICAL[family](subject) === subject) return call;
  throw refused(call, `${JSON.stringify(subject)} is not an ${family} address`);
}

/**
 * Returns the id of a droplet as the number that the API takes.
 * @throws ProviderError `refused` when it is not a decimal number that JavaScript holds exactly
 */
export function dropletNumber(call: CallInfo, machineID: string): number {
  const id = wholeNumber(machineID);
  if (id !== undefined) return id;
  throw refused({ ...call, subject: machineID }, `${JSON.stringify(machineID)} is not a droplet id`);
}

/** Returns the number > 0 that a decimal text is; undefined if JavaScript does not hold it exactly. */
export function wholeNumber(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/**
 * What a firewall's id may look like. DigitalOcean documents UUIDs (OpenAPI document of 2026-08-07). But flipop only ever sends an id back. So
 * any text will do that is safe in the path of a URL.
 */
const FIREWALL_ID_FORM = /^[a-z\d][\w-]*$/i;
const UUID_FORM = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns an id as it is compared: letter case means nothing in a UUID. */
const comparable = (id: string): string => (UUID_FORM.test(id) ? id.toLowerCase() : id);

/**
 * Returns the call about a firewall; its id in lower case when it is a UUID.
 * @throws ProviderError `refused` when it cannot be an id
 */
export function aboutFirewall(call: CallInfo): CallInfo {
  if (FIREWALL_ID_FORM.test(call.subject)) return { ...call, subject: comparable(call.subject) };
  throw refused(call, `${JSON.stringify(call.subject)} is not the id of a firewall`);
}

/** Reads the id of a firewall; a UUID in lower case. */
export const FIREWALL_ID: Schema<string> = map(
  textLike((text) => FIREWALL_ID_FORM.test(text), "the id of a firewall"),
  comparable,
);

/** Reads a numeric id > 0 as decimal text. */
export const ID: Schema<string> = map(
  check(ANY, (value) => Number.isSafeInteger(value) && Number(value) > 0, "a numeric id"),
  String,
);
