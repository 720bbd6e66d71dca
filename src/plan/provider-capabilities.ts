/** What a provider name can be used for. */
interface ProviderCapabilities {
  readonly providesIPs: boolean;
  readonly providesDNS: boolean;
}

/** Every provider name that flipop knows. */
const PROVIDERS: ReadonlyMap<string, ProviderCapabilities> = new Map<string, ProviderCapabilities>(
  Object.entries({
    digitalocean: { providesIPs: true, providesDNS: true },
    cloudflare: { providesIPs: false, providesDNS: true },
  }),
);

/** What the provider of this name can be used for; undefined when flipop does not know it. */
export function capabilitiesOf(provider: string): ProviderCapabilities | undefined {
  return PROVIDERS.get(provider);
}
