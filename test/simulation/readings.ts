import type { SimCall } from "./faults.ts";

/** An address as one answer of the provider showed it. */
export interface Reading {
  readonly ip: string;
  readonly holderID?: string;
  readonly isLocked: boolean;
}

/** What a process was shown in the pass under way. */
export class Readings {
  /** The newest of each address; lists may lag behind, so one read by itself counts more. */
  readonly newest: Map<string, Reading | "failed"> = new Map();
  /** Addresses read by themselves. */
  readonly singly: Set<string> = new Set();
  /** What a list said of an address that had been read by itself before. */
  readonly listed: Map<string, Reading> = new Map();
  /** The newest of each address that decisions rest on: those of the account's list while the world is observed, then single ones. */
  readonly seen: Map<string, Reading> = new Map();
  /** Nodes read by themselves. */
  readonly nodes: Set<string> = new Set();

  /** Forgets everything: a pass begins. */
  clear(): void {
    for (const memory of [this.newest, this.singly, this.listed, this.seen, this.nodes]) memory.clear();
  }

  /** Enters what a call answered. */
  enter(call: SimCall, result: unknown, isObserving: boolean): void {
    const { operation, subject } = call;
    if (operation === "get") this.singly.add(subject);
    if (operation === "read-node") this.nodes.add(subject);
    for (const shown of shownBy(call, result)) this.#show(shown, operation, isObserving);
  }

  #show(shown: Reading, operation: string, isObserving: boolean): void {
    if (operation === "get" || (operation === "list" && isObserving)) this.seen.set(shown.ip, shown);
    const isSecondHand = operation === "list" || operation === "machine";
    if (!isSecondHand || !this.singly.has(shown.ip)) this.newest.set(shown.ip, shown);
    else if (operation === "list") this.listed.set(shown.ip, shown);
  }
}

/** The addresses that an answer shows, and where. */
function shownBy(call: SimCall, result: unknown): readonly Reading[] {
  switch (call.operation) {
    case "machine":
      return ((result ?? []) as readonly string[]).map((ip) => ({ ip, holderID: call.subject, isLocked: false }));
    case "list":
      return (result as { readonly addresses: readonly Reading[] }).addresses;
    case "get":
    case "create":
      return result === undefined ? [] : [result as Reading];
    default:
      return [];
  }
}
