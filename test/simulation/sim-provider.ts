import type { IPFamily } from "../../src/model/address-source.ts";
import { IP_FAMILIES } from "../../src/model/node-annotations.ts";
import type { IPProvider } from "../../src/ports/providers.ts";
import { MemoryIPProvider } from "../fake/memory-ip-provider.ts";
import type { Process } from "./process.ts";

/** Both families of the account's addresses as one process reaches them, by their source. */
export function simProviders(
  process: Process,
): ReadonlyMap<string, { readonly kind: "usable"; readonly provider: IPProvider }> {
  const all = IP_FAMILIES.map((family) => simProvider(process, family));
  return new Map(all.map((provider) => [provider.name, { kind: "usable", provider }]));
}

/** The addresses of a family as one process reaches them: every call may be late, fail, or be its last. */
function simProvider(process: Process, family: IPFamily): IPProvider {
  const { world } = process.simulation;
  // The account has its own clock.
  const clock = { ...process.clock, wallMs: (): number => world.nowMs() };
  const provider = new MemoryIPProvider({ cloud: world.cloud, clock, family });
  const through = <T>(
    operation: string,
    subject: string,
    args: readonly unknown[],
    effect: () => Promise<T>,
  ): Promise<T> => {
    const isWrite = ["assign", "unassign", "create", "delete"].includes(operation);
    return process.call({ side: "cloud", provider: "digitalocean", operation, subject, isWrite, args }, effect);
  };
  /** The requests of both families to list look alike: what is asked for IPv6 says so. */
  const asked = (first: unknown): readonly unknown[] => (family === "IPv6" ? [first, family] : [first]);
  return {
    name: provider.name,
    pageSize: provider.pageSize,
    listPage: (page) => through("list", "", asked(page), () => provider.listPage(page)),
    getAddress: (ip) => through("get", ip, [], () => provider.getAddress(ip)),
    machineAddresses: (id) => through("machine", id, [], () => provider.machineAddresses(id)),
    addressLimit: () => through("limit", "", [], () => provider.addressLimit()),
    assign: (ip, id) => through("assign", ip, [id], () => provider.assign(ip, id)),
    unassign: (ip) => through("unassign", ip, [], () => provider.unassign(ip)),
    actionState: (action) => through("action", action.ip, [action], () => provider.actionState(action)),
    create: (place, { uid }) => through("create", "", [place, family, uid], () => provider.create(place)),
    delete: (ip) => through("delete", ip, [], () => provider.delete(ip)),
  };
}
