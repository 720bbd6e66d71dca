/** What a provider name can be used for. */
export interface ProviderCapabilities {
  readonly providesIPs: boolean;
  readonly providesDNS: boolean;
}

/** Every provider name that flipop knows. */
const PROVIDERS: Readonly<Record<string, ProviderCapabilities>> = {
  digitalocean: { providesIPs: true, providesDNS: true },
  cloudflare: { providesIPs: false, providesDNS: true },
};

/** What the provider of this name can be used for; undefined when flipop does not know it. */
export function capabilitiesOf(provider: string): ProviderCapabilities | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
}
