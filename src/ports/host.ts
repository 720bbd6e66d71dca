/** What of a node `flipop host` goes by. */
export type NodeReading =
  /** `annotation` is absent where the node has none. */
  | { readonly kind: "known"; readonly annotation?: string }
  /** No such node is in the cluster. */
  | { readonly kind: "missing" }
  /** The annotation cannot be read; `part` says what of the node. */
  | { readonly kind: "unreadable"; readonly part: string };

/** The one node that a process runs on. */
export interface OwnNode {
  /**
   * The node as the cluster has it now.
   * @throws KubeError, ConfigError: why it is not known, or not known to be current
   */
  read(): Promise<NodeReading>;
  /** Calls `listener` whenever what {@link read} returns may be another one. */
  onChange(listener: () => void): void;
  /** Ends watching, and lets connections go. */
  close(): void;
}

/** An address on an interface of the host. */
export interface PresentAddress {
  /** As `canonicalAddress` returns it. */
  readonly ip: string;
  /** Length of its prefix in bits. */
  readonly prefix: number;
  readonly interface: string;
  /** True for one that {@link HostNetwork.add} put there, in this process or an earlier one. */
  readonly isOwn: boolean;
}

/** The network of the host, as far as it matters. */
export interface HostState {
  readonly addresses: readonly PresentAddress[];
  /** The names of all interfaces. */
  readonly interfaces: readonly string[];
  /** The interface of the default route of each family; absent where there is no such route. */
  readonly defaults: { readonly 4?: string; readonly 6?: string };
}

/** Reads and changes the addresses of the host. Each change ends as `HostError` or ConfigError `permission` if the host refuses it. */
export interface HostNetwork {
  /**
   * Checks once that the host can be read, and changed where `mayChange`. Clears what an earlier process left half done.
   * @throws ConfigError `invalid` when what reads it is missing, `permission` when the process may not change it
   */
  prepare(mayChange: boolean): Promise<void>;
  /** The network as it is now. @throws HostError */
  read(): Promise<HostState>;
  /** Puts an address on an interface, as its own. One that is there already is left as it is. */
  add(ip: string, on: string): Promise<void>;
  /** Takes an own address from its interface. One that is gone already is none to take. */
  remove(address: PresentAddress): Promise<void>;
  /** Tells the neighbours on the link of an interface where an address is now. @throws HostError when that could not be sent */
  announce(ip: string, on: string): Promise<void>;
}
