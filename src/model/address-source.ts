/** An IP family, as Kubernetes writes it. */
export type IPFamily = "IPv4" | "IPv6";

/**
 * Where addresses come from: a provider, and one IP family of it. What flipop knows of the addresses of one source (its list, its quota, what was bought of it) has nothing to
 * do with those of another one, so that no family delays or blocks the other. The account, its token and its limit of calls are those of the provider.
 */
export interface AddressSource {
  /** As objects write it in `spec.provider`: `digitalocean`. */
  readonly provider: string;
  readonly family: IPFamily;
}

const IPV6_SUFFIX = " IPv6";

/** Returns a source as one text, as people are shown it: `digitalocean` is the source of IPv4 addresses, `digitalocean IPv6` that of IPv6 addresses. Pure. */
export function sourceText({ provider, family }: AddressSource): string {
  return family === "IPv4" ? provider : `${provider}${IPV6_SUFFIX}`;
}

/** Returns the source that a text of {@link sourceText} names. Pure. */
export function sourceNamed(text: string): AddressSource {
  return text.endsWith(IPV6_SUFFIX)
    ? { provider: text.slice(0, -IPV6_SUFFIX.length), family: "IPv6" }
    : { provider: text, family: "IPv4" };
}
