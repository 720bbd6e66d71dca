import { anyText, valid } from "./flag-values.ts";
import { CLUSTER, type ClusterFlags, type FlagTable, flag, type GlobalFlags, under } from "./flags.ts";

/** Flags of every command that speaks to a cluster, as far as one that reads a single node has them. */
type NodeFlags = Omit<
  ClusterFlags,
  "namespace" | "dnsWebhook" | "dnsTokenFile" | "leaseNamespace" | "leaseName" | keyof GlobalFlags
>;

/** Flags of `host`. */
export interface HostFlags extends NodeFlags, GlobalFlags {
  readonly nodeName?: string;
  readonly interface?: string;
  readonly once?: boolean;
  readonly dryRun?: boolean;
  readonly remove?: boolean;
  /** `HOST:PORT` or `:PORT`. */
  readonly metricsAddr?: string;
}

const {
  namespace: _namespace,
  dnsWebhook: _webhook,
  dnsTokenFile: _file,
  leaseNamespace: _in,
  leaseName: _lease,
  ...REST
} = CLUSTER;

/** The flags of `host`. */
export const HOST: FlagTable<Omit<HostFlags, keyof GlobalFlags>> = {
  nodeName: flag("--node-name <NAME>", "the node that this host is", anyText),
  interface: flag(
    "--interface <NAME>",
    "interface for the addresses; that of the default route by default",
    valid(isInterfaceName, "It is no name of an interface."),
  ),
  once: flag("--once", "do what is to do now, and end"),
  dryRun: flag("--dry-run", "say what would be changed, and change nothing"),
  remove: flag("--remove", "remove every address that flipop host added here; needs no cluster"),
  ...under("Metrics:", {
    metricsAddr: flag("--metrics-addr <ADDRESS>", "serve /metrics, /healthz and /readyz here, such as 127.0.0.1:9377"),
  }),
  ...REST,
};

/** True for a name that Linux gives an interface, and that no program takes for a flag. */
function isInterfaceName(text: string): boolean {
  return /^[^\s/:-][^\s/:]{0,14}$/.test(text) && text !== "." && text !== "..";
}
