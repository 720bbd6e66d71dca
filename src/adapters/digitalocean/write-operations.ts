import type { Address } from "../../model/address.ts";
import type { AcceptedAction, ActionState, IPProvider, IPProviderReader } from "../../ports/providers.ts";
import { type Answer, jsonOf } from "../provider-http/answer.ts";
import { answeredID } from "./answered-id.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { decodeAddress } from "./decode-address.ts";
import { expectedFailure } from "./expected-failure.ts";
import { addressSubject, machineSubject } from "./subject.ts";

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
