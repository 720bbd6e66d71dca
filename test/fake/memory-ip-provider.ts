import { refused } from "../../src/adapters/digitalocean/api.ts";
import { aboutAddress, dropletNumber } from "../../src/adapters/digitalocean/ids.ts";
import { OwnChanges } from "../../src/adapters/digitalocean/own-changes.ts";
import type { CallInfo } from "../../src/adapters/http/failures.ts";
import type { Address } from "../../src/model/address.ts";
import { type IPFamily, sourceText } from "../../src/model/address-source.ts";
import { ProviderError } from "../../src/model/errors.ts";
import type { AcceptedAction, ActionState, AddressPage, IPProvider } from "../../src/ports/providers.ts";
import { type AddressView, familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import { dropletAddresses, dropletAddressesIPv6 } from "../../src/sandbox/digitalocean/api-json.ts";
import { MemoryCloudCalls, type MemoryCloudOptions } from "./memory-cloud-calls.ts";

const pageSize = 200;

/** What a memory provider of addresses may be given. */
interface MemoryIPProviderOptions extends MemoryCloudOptions {
  /** The family of its addresses; default: IPv4. */
  readonly family?: IPFamily;
}

/**
 * The IPProvider port of one IP family straight on an emulated account, without HTTP: same errors, same texts, same rate-limit gate as the
 * DigitalOcean adapter, in microseconds. Every method settles within promise reactions alone.
 */
export class MemoryIPProvider extends MemoryCloudCalls implements IPProvider {
  readonly name: string;
  readonly pageSize: number = pageSize;
  private readonly family: IPFamily;
  private areActionsHidden = false;
  /** Of IPv6 addresses, which show no lock; as the adapter does it. */
  private readonly changes: OwnChanges;

  constructor({ family = "IPv4", ...options }: MemoryIPProviderOptions) {
    super(options);
    this.family = family;
    this.name = sourceText({ provider: "digitalocean", family });
    this.changes = new OwnChanges(this.clock);
  }

  async listPage(page: number): Promise<AddressPage> {
    const what = this.family === "IPv6" ? "reserved IPv6 addresses" : "reserved IPs";
    const facts = factsOf("list", "", `list the ${what} (page ${page})`, "reserved_ip:read");
    const all = this.call(facts, (caller) => this.cloud.listAddresses(caller, this.family));
    const shown = all.slice((page - 1) * pageSize, page * pageSize).map(toAddress);
    const addresses = await Promise.all(shown.map(async (address) => (await this.settled(address)) ?? address));
    return { addresses, hasMore: page * pageSize < all.length, total: all.length };
  }

  async getAddress(ip: string): Promise<Address | undefined> {
    const address = this.read(ip);
    return address === undefined ? undefined : await this.settled(address);
  }

  private async settled(address: Address): Promise<Address | undefined> {
    if (this.family === "IPv4") return address;
    const actionState = (action: AcceptedAction): Promise<ActionState> => this.actionState(action);
    return await this.changes.settled(address, { actionState, read: async (ip) => this.read(ip) });
  }

  private read(ip: string): Address | undefined {
    const facts = factsOf("get", ip, `read ${ip}`, "reserved_ip:read");
    aboutAddress(facts, this.family);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.address(caller, ip));
    return view === undefined ? undefined : toAddress(view);
  }

  async machineAddresses(machineID: string): Promise<readonly string[] | undefined> {
    const facts = factsOf("machine", machineID, `read droplet ${machineID}`, "droplet:read");
    const id = dropletNumber(facts, machineID);
    const view = this.callUnless("not-found", facts, (caller) => this.cloud.droplet(caller, id));
    if (view === undefined) return undefined;
    return this.family === "IPv6" ? dropletAddressesIPv6(view) : dropletAddresses(view).map((address) => address.ip);
  }

  async addressLimit(): Promise<number | undefined> {
    if (this.family === "IPv6") return undefined;
    const facts = factsOf("limit", "", "read the account's limit of reserved IPs", "account:read");
    const account = this.callUnless("forbidden", facts, (caller) => this.cloud.account(caller));
    return account?.reserved_ip_limit === 0 ? undefined : account?.reserved_ip_limit;
  }

  async assign(ip: string, machineID: string): Promise<AcceptedAction> {
    const facts = factsOf("assign", ip, `assign ${ip} to droplet ${machineID}`, "reserved_ip:update");
    aboutAddress(facts, this.family);
    const id = dropletNumber(facts, machineID);
    return this.changes.begun(accepted(this.call(facts, (caller) => this.cloud.assign(caller, ip, id))), machineID);
  }

  async unassign(ip: string): Promise<AcceptedAction> {
    const facts = factsOf("unassign", ip, `unassign ${ip}`, "reserved_ip:update");
    aboutAddress(facts, this.family);
    return this.changes.begun(accepted(this.call(facts, (caller) => this.cloud.unassign(caller, ip))));
  }

  async actionState({ ip, actionID }: AcceptedAction): Promise<ActionState> {
    const id = /^[1-9]\d*$/.test(actionID) ? Number(actionID) : Number.NaN;
    if (!Number.isSafeInteger(id)) return "unknown";
    if (this.family === "IPv6") return this.stateOfIPv6(ip, id);
    const facts = factsOf("action", ip, `read action ${id} of ${ip}`, "reserved_ip:read");
    aboutAddress(facts, this.family);
    const action = this.callUnless("not-found", facts, (caller) => this.cloud.addressAction(caller, ip, id));
    return action === undefined ? "unknown" : STATES[action.status];
  }

  private stateOfIPv6(ip: string, id: number): ActionState {
    if (this.areActionsHidden) return "unknown";
    const facts = factsOf("action", ip, `read action ${id} of ${ip}`, "actions:read");
    aboutAddress(facts, "IPv6");
    try {
      const action = this.callUnless("not-found", facts, (caller) => this.cloud.action(caller, id));
      return action === undefined ? "unknown" : STATES[action.status];
    } catch (error) {
      if (!(error instanceof ProviderError) || error.failure !== "forbidden") throw error;
      this.areActionsHidden = true;
      return "unknown";
    }
  }

  async create(place: { readonly machineID: string } | { readonly region: string }): Promise<Address> {
    if (this.family === "IPv6") return this.createIPv6(place);
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

  private createIPv6(place: { readonly machineID: string } | { readonly region: string }): Address {
    if ("machineID" in place) {
      const { machineID } = place;
      const facts = factsOf(
        "create",
        machineID,
        `create a reserved IPv6 for droplet ${machineID}`,
        "reserved_ip:create",
      );
      throw refused(facts, "DigitalOcean makes one for a region only");
    }
    const doing = `create a reserved IPv6 in region ${JSON.stringify(place.region)}`;
    const facts = factsOf("create", "", doing, "reserved_ip:create");
    return toAddress(this.call(facts, (caller) => this.cloud.createIPv6(caller, place.region)));
  }

  async delete(ip: string): Promise<void> {
    const facts = factsOf("delete", ip, `delete ${ip}`, "reserved_ip:delete");
    aboutAddress(facts, this.family);
    this.callUnless("not-found", facts, (caller) => this.cloud.delete(caller, ip));
  }
}

const STATES = { "in-progress": "pending", completed: "done", errored: "errored" } as const;

function toAddress(view: AddressView): Address {
  return {
    ip: view.ip,
    region: view.region,
    isLocked: view.locked && familyOf(view.ip) === "IPv4",
    ...(view.droplet === null ? {} : { holderID: String(view.droplet.id) }),
  };
}

function accepted(action: { readonly ip: string; readonly id: number }): AcceptedAction {
  return { ip: action.ip, actionID: String(action.id) };
}

function factsOf(operation: string, subject: string, doing: string, scope: string): CallInfo {
  return { operation, subject, doing, scope, isWrite: !scope.endsWith(":read") };
}
