/** The spec of an issuer as a manifest has it, with the fields the simulator plays with. */
export interface IssuerSpecText {
  readonly provider: string;
  readonly region?: string;
  readonly routedIPReclaimPolicy?: "Retain" | "Delete";
  readonly routedIPFirewallName?: string;
  readonly nodeLabel?: string;
}

/** The spec of a RoutedIP as a manifest has it, with the fields the simulator plays with. */
export interface RoutedIPSpecText {
  readonly issuer: string;
  readonly serviceName: string;
  readonly address?: string;
  readonly ports?: readonly { readonly protocol: string; readonly port?: string | number }[];
  readonly gracePeriodSeconds?: number;
  readonly foreignHolder?: "Hold" | "TakeOver";
  readonly suspend?: boolean;
  readonly dnsRecordSet?: unknown;
}

/** What somebody does to a firewall by hand: rules for everybody, wide and narrow ones; droplets; or the whole of it. */
export type FirewallEdit =
  | "open"
  | "close"
  | "widen"
  | "narrow"
  | "attach"
  | "detach"
  | "tag"
  | "fill"
  | "clear"
  | "delete"
  /** No change of a firewall reaches the droplet any more. */
  | "cut-off";

/** Something that happens to RoutedIPs, to what they refer to, or to a cloud firewall. */
export type RoutedEvent = { readonly atMs: number } & (
  | { readonly kind: "issuer"; readonly name: string; readonly spec: IssuerSpecText }
  | {
      readonly kind: "edit-issuer";
      readonly name: string;
      readonly spec: Partial<Record<keyof IssuerSpecText, unknown>>;
    }
  | { readonly kind: "delete-issuer"; readonly name: string }
  | { readonly kind: "routed-ip"; readonly name: string; readonly spec: RoutedIPSpecText }
  | {
      readonly kind: "edit-routed-ip";
      readonly name: string;
      readonly spec: Partial<Record<keyof RoutedIPSpecText, unknown>>;
    }
  | { readonly kind: "delete-routed-ip"; readonly name: string }
  | { readonly kind: "wipe-routed-ip"; readonly name: string }
  | {
      /** A Service that is there already gets these ports and this selector. */
      readonly kind: "service";
      readonly name: string;
      readonly app: string | null;
      readonly ports: readonly number[];
    }
  | { readonly kind: "delete-service"; readonly name: string }
  | {
      readonly kind: "endpoints";
      readonly service: string;
      readonly nodes: Readonly<Record<string, boolean>>;
    }
  | {
      readonly kind: "firewall";
      readonly name: string;
      readonly open: readonly string[];
      readonly droplets: readonly number[];
    }
  | {
      readonly kind: "hand-firewall";
      readonly name: string;
      readonly edit: FirewallEdit;
      readonly ports: string;
      readonly droplet: number;
    }
);
