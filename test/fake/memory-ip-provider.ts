import { aboutAddress, dropletNumber } from "../../src/adapters/digitalocean/ids.ts";
import type { CallInfo } from "../../src/adapters/http/failures.ts";
import type { Address } from "../../src/model/address.ts";
import type { AcceptedAction, ActionState, AddressPage, IPProvider } from "../../src/ports/providers.ts";
import type { AddressView } from "../../src/sandbox/digitalocean/actions.ts";
import { dropletAddresses } from "../../src/sandbox/digitalocean/routes.ts";
import { MemoryCloudCalls } from "./memory-cloud-calls.ts";

const pageSize = 200;

/**
 * The IPProvider port straight on an emulated account, without HTTP: same errors, same texts, same rate-limit gate as the
 * DigitalOcean adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryIPProvider extends MemoryCloudCalls implements IPProvider {
  readonly name = "digitalocean";
  readonly pageSize: number = pageSize;

  async listPage(page: number): Promise<AddressPage> {
    const facts = factsOf("list", "", `list the reserved IPs (page ${page})`, "reserved_ip:read");
    const all = this.call(facts, (caller) => this.cloud.listAddresses(caller));
    return { addresses: all.slice((page - 1) * pageSize, page * pageSize).map(toAddress), total: all.length };
  }

  async getAddress(ip: string): Promise<Address | undefined> {
    const facts = factsOf("get", ip, `read ${ip}`, "reserved_ip:read");
    aboutAddress(facts);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.address(caller, ip));
    return view === undefined ? undefined : toAddress(view);
  }

  async machineAddresses(machineID: string): Promise<readonly string[] | undefined> {
    const facts = factsOf("machine", machineID, `read droplet ${machineID}`, "droplet:read");
    const id = dropletNumber(facts, machineID);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.droplet(caller, id));
    return view === undefined ? undefined : dropletAddresses(view).map((address) => address.ip);
  }

  async addressLimit(): Promise<number | undefined> {
    const facts = factsOf("limit", "", "read the account's limit of reserved IPs", "account:read");
    const account = this.callUnless("forbidden", facts, (caller) => this.cloud.account(caller));
    return account?.reserved_ip_limit === 0 ? undefined : account?.reserved_ip_limit;
  }

  async assign(ip: string, machineID: string): Promise<AcceptedAction> {
    const facts = factsOf("assign", ip, `assign ${ip} to droplet ${machineID}`, "reserved_ip:update");
    aboutAddress(facts);
    const id = dropletNumber(facts, machineID);
    return accepted(this.call(facts, (caller) => this.cloud.assign(caller, ip, id)));
  }

  async unassign(ip: string): Promise<AcceptedAction> {
    const facts = factsOf("unassign", ip, `unassign ${ip}`, "reserved_ip:update");
    aboutAddress(facts);
    return accepted(this.call(facts, (caller) => this.cloud.unassign(caller, ip)));
  }

  async actionState({ ip, actionID }: AcceptedAction): Promise<ActionState> {
    const id = /^[1-9]\d*$/.test(actionID) ? Number(actionID) : Number.NaN;
    if (!Number.isSafeInteger(id)) return "unknown";
    const facts = factsOf("action", ip, `read action ${id} of ${ip}`, "reserved_ip:read");
    aboutAddress(facts);
    const action = this.callUnless("not-found", facts, (caller) => this.cloud.addressAction(caller, ip, id));
    if (action === undefined) return "unknown";
    return ({ "in-progress": "pending", completed: "done", errored: "errored" } as const)[action.status];
  }

  async create(place: { readonly machineID: string } | { readonly region: string }): Promise<Address> {
    if (!("machineID" in place)) {
      const doing = `create a reserved IP in region ${JSON.stringify(place.region)}`;
      const inRegion = factsOf("create", "", doing, "reserved_ip:create");
      return toAddress(this.call(inRegion, (caller) => this.cloud.create(caller, { region: place.region }).address));
    }
    const doing = `create a reserved IP for droplet ${place.machineID}`;
    const facts = factsOf("create", place.machineID, doing, "reserved_ip:create");
    const id = dropletNumber(facts, place.machineID);
    return toAddress(this.call(facts, (caller) => this.cloud.create(caller, { droplet_id: id }).address));
  }

  async delete(ip: string): Promise<void> {
    const facts = factsOf("delete", ip, `delete ${ip}`, "reserved_ip:delete");
    aboutAddress(facts);
    this.callUnless("not-found", facts, (caller) => this.cloud.delete(caller, ip));
  }
}

function toAddress(view: AddressView): Address {
  return {
    ip: view.ip,
    region: view.region,
    isLocked: view.locked,
    ...(view.droplet === null ? {} : { holderID: String(view.droplet.id) }),
  };
}

function accepted(action: { readonly ip: string; readonly id: number }): AcceptedAction {
  return { ip: action.ip, actionID: String(action.id) };
}

function factsOf(operation: string, subject: string, doing: string, scope: string): CallInfo {
  return { operation, subject, doing, scope, isWrite: !scope.endsWith(":read") };
}
