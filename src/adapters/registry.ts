import { ProviderRegistry, type ProviderTraits } from "../model/provider.ts";

const DIGITALOCEAN: ProviderTraits = {
  name: "digitalocean",
  addresses: {
    // DigitalOcean's cloud controller manager writes the droplet's decimal id, verified 2026-08.
    providerIDPrefix: "digitalocean://",
    machineIDPattern: /^[1-9]\d{0,18}$/,
    addressesPerMachine: 1,
    regionLabel: "topology.kubernetes.io/region",
    // Documented limit of reserved IPs, verified 2026-08.
    acquisitionsPerMinute: 12,
    isMoveOneCall: true,
  },
  dns: { isDefault: true },
  // Firewalls of DigitalOcean Kubernetes, which overwrites changes (documented, verified 2026-08).
  firewalls: { reservedPrefix: "k8s-" },
};

const CLOUDFLARE: ProviderTraits = {
  name: "cloudflare",
  // A zone can be given by its id; a token without the right `Zone:Read` does not show the zone's name.
  dns: { zoneIDPattern: /^[0-9a-f]{32}$/ },
};

/** Every provider that flipop knows. A new provider gets an entry here and a folder beside this file. */
export const PROVIDERS: ProviderRegistry = new ProviderRegistry([DIGITALOCEAN, CLOUDFLARE]);
