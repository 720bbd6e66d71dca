import type { IPFamily } from "./address-source.ts";

/** Node annotation: the reserved IPv4 address verified on that node. */
export const ADDRESS_ANNOTATION = "flipop.digitalocean.com/ipv4-reserved-ip";
/** Node annotation: the reserved IPv6 address verified on that node. */
export const IPV6_ADDRESS_ANNOTATION = "flipop.digitalocean.com/ipv6-reserved-ip";

/** The node annotations of one family of addresses. */
interface AnnotationNames {
  /** Shows the address that is verified on the node. */
  readonly address: string;
  /** Shows whose that is: `NAMESPACE/NAME` of the pool, or `routedip/NAMESPACE/NAME` of the RoutedIP. */
  readonly pool: string;
  /** Shows those of its addresses that `flipop host` puts on an interface of the node's system; see `host-address.ts`. */
  readonly host: string;
}

/** Each family has annotations of its own: a write for one of them never touches what the other one shows. */
export const NODE_ANNOTATIONS: Readonly<Record<IPFamily, AnnotationNames>> = {
  IPv4: {
    address: ADDRESS_ANNOTATION,
    pool: "flipop.digitalocean.com/pool",
    host: "flipop.digitalocean.com/host-addresses",
  },
  IPv6: {
    address: IPV6_ADDRESS_ANNOTATION,
    pool: "flipop.digitalocean.com/ipv6-pool",
    host: "flipop.digitalocean.com/host-ipv6-addresses",
  },
};

/** The families of addresses of addresses, in the order in which people are told of them. */
export const IP_FAMILIES: readonly IPFamily[] = ["IPv4", "IPv6"];
