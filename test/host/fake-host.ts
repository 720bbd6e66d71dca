// A host in memory, and the node that it goes by.
import { HostError, KubeError } from "../../src/model/errors.ts";
import { familyOf } from "../../src/model/host-address.ts";
import type { HostNetwork, HostState, NodeReading, OwnNode, PresentAddress } from "../../src/ports/host.ts";

/** A host with the interfaces lo and eth0, whose default routes lead over eth0. */
export class FakeHost implements HostNetwork {
  addresses: PresentAddress[] = [];
  interfaces: string[] = ["lo", "eth0"];
  defaults: HostState["defaults"] = { 4: "eth0", 6: "eth0" };
  /** What was done, in order: `add 203.0.113.7 eth0`. */
  readonly calls: string[] = [];
  /** The calls that fail, by their text, with what they throw. */
  readonly failures: Map<string, Error> = new Map();

  async prepare(mayChange: boolean): Promise<void> {
    this.#call(`prepare ${mayChange}`);
  }

  async read(): Promise<HostState> {
    const failure = this.failures.get("read");
    if (failure !== undefined) throw failure;
    return { addresses: [...this.addresses], interfaces: this.interfaces, defaults: this.defaults };
  }

  async add(ip: string, on: string): Promise<void> {
    this.#call(`add ${ip} ${on}`);
    this.addresses.push(present(ip, on, true));
  }

  async remove(address: PresentAddress): Promise<void> {
    this.#call(`remove ${address.ip} ${address.interface}`);
    this.addresses = this.addresses.filter((one) => one.ip !== address.ip || one.interface !== address.interface);
  }

  async announce(ip: string, on: string): Promise<void> {
    this.#call(`announce ${ip} ${on}`);
  }

  /** The calls since the last time that it was asked. */
  takeCalls(): readonly string[] {
    return this.calls.splice(0);
  }

  #call(text: string): void {
    const failure = this.failures.get(text);
    if (failure !== undefined) throw failure;
    this.calls.push(text);
  }
}

/** An address of one host on an interface. */
export function present(ip: string, on: string, isOwn: boolean): PresentAddress {
  return { ip, prefix: familyOf(ip) === 4 ? 32 : 128, interface: on, isOwn };
}

/** What the kernel may say. */
export function refusal(message: string = "RTNETLINK answers: Invalid argument"): HostError {
  return new HostError(message);
}

/** A node whose annotation a test changes. */
export class FakeNode implements OwnNode {
  reading: NodeReading | KubeError = { kind: "known" };
  /** How often it was read. */
  reads = 0;
  readonly #listeners: (() => void)[] = [];

  async read(): Promise<NodeReading> {
    this.reads += 1;
    if (this.reading instanceof KubeError) throw this.reading;
    return this.reading;
  }

  /** Changes the node, and tells of it. */
  become(reading: NodeReading): void {
    this.reading = reading;
    for (const tell of this.#listeners) tell();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#listeners.length = 0;
  }
}
