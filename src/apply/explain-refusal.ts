import type { Place } from "../model/action.ts";
import { ProviderError } from "../model/errors.ts";
import type { Learned } from "../model/run.ts";
import type { IPProvider } from "../ports/providers.ts";
import { failed, type Result, skipped } from "./result.ts";

/** Private address ranges: a machine's own internal and anchor addresses, which say nothing about reserved ones. */
const PRIVATE = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/**
 * What came of a change that the provider refused for a machine: a machine with a second public address carries a reserved one already, and one that the provider
 * does not know cannot take any; then the next node is tried. At most one reading of the machine.
 */
export async function explainRefusal(
  error: ProviderError,
  { machineID, nodeName }: Required<Place>,
  provider: IPProvider,
  learned: readonly Learned[],
): Promise<Result> {
  if (error.failure !== "refused" && error.failure !== "not-found") return failed(error, { learned });
  const carried = await carriedBy(machineID, provider);
  if (carried === "unknown") return failed(error, { learned });
  if (carried === undefined)
    return skipped("MachineNotFound", missingMachine({ machineID, nodeName }, provider), learned);
  const isPublic = carried.filter((ip) => !PRIVATE.test(ip));
  if (isPublic.length > 1) {
    const text = `${nodeName}: machine ${machineID} carries ${isPublic.join(", ")}; ${error.message}`;
    return skipped("NodeHasForeignIP", text, learned);
  }
  return failed(error, { learned });
}

/** Says that a node's machine does not exist. Pure. */
export function missingMachine({ machineID, nodeName }: Required<Place>, { name }: Pick<IPProvider, "name">): string {
  return `${nodeName}: ${name} does not know machine ${machineID}`;
}

/** What a machine carries; undefined when there is none. Where it cannot be read the refusal stands as it is. */
async function carriedBy(machineID: string, provider: IPProvider): Promise<readonly string[] | undefined | "unknown"> {
  try {
    return await provider.machineAddresses(machineID);
  } catch (error) {
    if (error instanceof ProviderError) return "unknown";
    throw error;
  }
}
