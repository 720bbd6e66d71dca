import type { OperationFault } from "./operation-fault.ts";

/** Faults planned for calls of ports, used up call by call. */
export class PlannedFaults {
  #entries: { readonly fault: OperationFault; skip: number; times: number }[] = [];

  /** Appends a fault. */
  add(fault: OperationFault): void {
    const times = fault.times === 0 ? Number.POSITIVE_INFINITY : (fault.times ?? 1);
    this.#entries.push({ fault, skip: fault.skip ?? 0, times });
  }

  /** Forgets every fault. */
  clear(): void {
    this.#entries = [];
  }

  /** The fault of this call, counted as used; undefined when it goes well. */
  take(operation: string, subject: string): OperationFault | undefined {
    for (const entry of this.#entries) {
      if (!fits(entry.fault, operation, subject)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.times -= 1;
      this.#entries = this.#entries.filter(({ times }) => times > 0);
      return entry.fault;
    }
    return undefined;
  }
}

function fits(fault: OperationFault, operation: string, subject: string): boolean {
  if (fault.operation !== operation) return false;
  return fault.subject === undefined || fault.subject === subject || subject.endsWith(`/${fault.subject}`);
}
