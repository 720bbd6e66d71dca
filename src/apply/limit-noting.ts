import { ProviderError } from "../model/errors.ts";
import type { IPProvider } from "../ports/ip-provider.ts";

/**
 * The same provider, which also enters in `limits`, by its name, until when it asked for no calls (local milliseconds), whatever call was told so and whoever made
 * it: such an answer concerns every later run, even where the call itself did not matter.
 */
export function limitNoting(provider: IPProvider, limits: Map<string, number>): IPProvider {
  const { name, pageSize } = provider;
  const noting = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (error instanceof ProviderError && error.failure === "rate-limited" && error.notBeforeMs !== undefined)
        limits.set(name, Math.max(limits.get(name) ?? 0, error.notBeforeMs));
      throw error;
    }
  };
  return {
    name,
    pageSize,
    listPage: (page) => noting(provider.listPage(page)),
    getAddress: (ip) => noting(provider.getAddress(ip)),
    machineAddresses: (machineID) => noting(provider.machineAddresses(machineID)),
    addressLimit: () => noting(provider.addressLimit()),
    assign: (ip, machineID) => noting(provider.assign(ip, machineID)),
    unassign: (ip) => noting(provider.unassign(ip)),
    actionState: (action) => noting(provider.actionState(action)),
    create: (place) => noting(provider.create(place)),
    delete: (ip) => noting(provider.delete(ip)),
  };
}
