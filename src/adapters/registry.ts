import { type AddressTraits, ProviderRegistry, type ProviderTraits } from "../model/provider.ts";
import type {
  DNSProvider,
  DNSProviderReader,
  FirewallProvider,
  FirewallProviderReader,
  IPProvider,
  IPProviderReader,
  ProviderMeter,
} from "../ports/providers.ts";
import { ALLOWANCE as CLOUDFLARE_ALLOWANCE } from "./cloudflare/allowance.ts";
import { TTL_RULES as CLOUDFLARE_TTLS } from "./cloudflare/ttl.ts";
import { ALLOWANCE as DIGITALOCEAN_ALLOWANCE } from "./digitalocean/allowance.ts";
import { TTL_RULES as DIGITALOCEAN_TTLS } from "./digitalocean/ttl.ts";
import { ALLOWANCE as HETZNER_ALLOWANCE, TTL_RULES as HETZNER_TTLS, NETWORK_ZONES } from "./hetzner/traits.ts";
import type { ProviderOptions } from "./http/api-client.ts";
import { WEBHOOK, ALLOWANCE as WEBHOOK_ALLOWANCE, webhookLabel } from "./webhook/traits.ts";

/** What flipop knows of one provider: all that the command line needs to offer it. */
export interface ProviderEntry {
  readonly traits: ProviderTraits;
  /** For people: `DigitalOcean`. */
  readonly label: string;
  /** `DIGITALOCEAN` for `DIGITALOCEAN_API_URL` and `DIGITALOCEAN_USER_AGENT`. */
  readonly variablePrefix: string;
  /** The variable in which the provider's own tools look for the URL of the API; ours goes before it. */
  readonly urlVariable?: string;
  /** Variables with the token; the first that is set wins. Each has a twin `…_FILE`. People are told to set the first one. */
  readonly tokenVariables: readonly [string, ...string[]];
  /** The time that the rate limit it tells is for, milliseconds. */
  readonly rateLimitMs: number;
  /** Loads the adapter, which loads its SDK at the first call. @throws ConfigError when the URL of the API is not usable */
  readonly open: (options: ProviderOptions) => Promise<Opened<IPProvider, DNSProvider, FirewallProvider>>;
  /** As `open`, for a run that never writes. */
  readonly openReaders: (
    options: ProviderOptions,
  ) => Promise<Opened<IPProviderReader, DNSProviderReader, FirewallProviderReader>>;
}

/** What a provider offers, ready to be called. All of it counts on one meter. */
export interface Opened<Addresses, DNS, Firewalls> {
  readonly meter: ProviderMeter;
  /** The port of IPv4 addresses. */
  readonly addresses?: Addresses;
  /** The port of IPv6 addresses. */
  readonly addressesIPv6?: Addresses;
  readonly dns?: DNS;
  readonly firewalls?: Firewalls;
}

const DROPLETS: Pick<AddressTraits, "providerIDPrefix" | "machineIDPattern" | "regionLabel"> = {
  // DigitalOcean's cloud controller manager writes the droplet's decimal id, verified 2026-08.
  providerIDPrefix: "digitalocean://",
  machineIDPattern: /^[1-9]\d{0,18}$/,
  regionLabel: "topology.kubernetes.io/region",
};

const DIGITALOCEAN: ProviderEntry = {
  traits: {
    name: "digitalocean",
    allowance: DIGITALOCEAN_ALLOWANCE,
    // Documented beside it, verified 2026-11-21.
    hourlyCalls: 5000,
    addresses: {
      ...DROPLETS,
      addressesPerMachine: 1,
      // Documented limit of reserved IPs, verified 2026-08.
      acquisitionsPerMinute: 12,
      isMoveOneCall: true,
    },
    addressesIPv6: {
      ...DROPLETS,
      // "Droplets cannot have more than one reserved IP address" (documented, read 2026-11-26). Taken as one of each family, which nobody has verified.
      addressesPerMachine: 1,
      // That of reserved IPs: none is documented for IPv6.
      acquisitionsPerMinute: 12,
      buysUnattached: true,
      // DigitalOcean only routes it to the droplet (documented, read 2026-11-26).
      needsHost: true,
      // Reserved IPs, IPv6 among them, can be reassigned (documented, read 2026-11-26).
      isMoveOneCall: true,
    },
    dns: { isDefault: true, ttlRules: DIGITALOCEAN_TTLS },
    // Firewalls of DigitalOcean Kubernetes, which overwrites changes (documented, verified 2026-08).
    firewalls: { reservedPrefix: "k8s-" },
  },
  label: "DigitalOcean",
  variablePrefix: "DIGITALOCEAN",
  tokenVariables: ["DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_TOKEN"],
  rateLimitMs: 3_600_000,
  open: async (options) => (await import("./digitalocean/digitalocean.ts")).openDigitalOcean(options),
  openReaders: async (options) => (await import("./digitalocean/digitalocean.ts")).openDigitalOceanReaders(options),
};

const CLOUDFLARE: ProviderEntry = {
  traits: {
    name: "cloudflare",
    allowance: CLOUDFLARE_ALLOWANCE,
    // A zone can be given by its id; a token without the right `Zone:Read` does not show the zone's name.
    dns: { zoneIDPattern: /^[0-9a-f]{32}$/, ttlRules: CLOUDFLARE_TTLS },
  },
  label: "Cloudflare",
  variablePrefix: "CLOUDFLARE",
  tokenVariables: ["CLOUDFLARE_TOKEN", "CLOUDFLARE_API_TOKEN"],
  rateLimitMs: 300_000,
  open: async (options) => {
    const dns = (await import("./cloudflare/cloudflare.ts")).createCloudflare(options);
    return { meter: dns, dns };
  },
  openReaders: async (options) => {
    const dns = (await import("./cloudflare/cloudflare.ts")).createCloudflareReader(options);
    return { meter: dns, dns };
  },
};

/** Floating IPs of either family. */
const FLOATING_IPS: AddressTraits = {
  isFloating: true,
  // Hetzner's cloud controller manager writes `hcloud://` and the server's id (read 2026-11-22). Robot servers, `hrobot://`, can have no floating IP.
  providerIDPrefix: "hcloud://",
  machineIDPattern: /^[1-9]\d{0,15}$/,
  // Hetzner names no limit of a server beside that of the project.
  addressesPerMachine: Number.POSITIVE_INFINITY,
  // The location of a server. That of an address only says where its traffic enters.
  regionLabel: "topology.kubernetes.io/region",
  areas: NETWORK_ZONES,
  // Hetzner names no limit of its own beside that of all calls.
  acquisitionsPerMinute: 12,
  keepsOwner: true,
  needsHost: true,
  isMoveOneCall: true,
};

const HETZNER: ProviderEntry = {
  traits: {
    name: "hetzner",
    allowance: HETZNER_ALLOWANCE,
    addresses: FLOATING_IPS,
    // A network of 2⁶⁴ addresses each, which moves as one.
    addressesIPv6: FLOATING_IPS,
    dns: { ttlRules: HETZNER_TTLS },
    firewalls: {},
  },
  label: "Hetzner",
  variablePrefix: "HCLOUD",
  urlVariable: "HCLOUD_ENDPOINT",
  tokenVariables: ["HCLOUD_TOKEN", "HCLOUD_API_TOKEN"],
  rateLimitMs: HETZNER_ALLOWANCE.ms,
  open: async (options) => (await import("./hetzner/hetzner.ts")).openHetzner(options),
  openReaders: async (options) => (await import("./hetzner/hetzner.ts")).openHetznerReaders(options),
};

/** Every provider that flipop knows by name. A new provider gets an entry here and a folder beside this file. */
export const PROVIDER_ENTRIES: readonly ProviderEntry[] = [DIGITALOCEAN, CLOUDFLARE, HETZNER];

/** The webhooks of external-dns, behind which about fifty DNS providers are. Each that somebody runs is a provider of its own. */
const WEBHOOKS: ProviderTraits = {
  name: WEBHOOK,
  // The definitions of objects have the same pattern, so that a name with a wrong letter is refused when it is applied.
  family: {
    namePattern: /^webhook(?:-[a-z0-9]+)*$/,
    settings: ["--dns-webhook", "FLIPOP_DNS_WEBHOOK"],
  },
  allowance: WEBHOOK_ALLOWANCE,
  dns: {},
};

/** Returns the entry of one webhook. */
export function webhookEntry(name: string, baseURL: string): ProviderEntry {
  const options = (given: ProviderOptions) => ({ ...given, name, baseURL });
  return {
    traits: { ...WEBHOOKS, name },
    label: webhookLabel(name),
    variablePrefix: "",
    tokenVariables: ["--dns-token-file"],
    rateLimitMs: WEBHOOK_ALLOWANCE.ms,
    open: async (given) => {
      const dns = (await import("./webhook/webhook.ts")).createWebhook(options(given));
      return { meter: dns, dns };
    },
    openReaders: async (given) => {
      const dns = (await import("./webhook/webhook.ts")).createWebhookReader(options(given));
      return { meter: dns, dns };
    },
  };
}

/** What each of them can do, for the planner. */
export const PROVIDERS: ProviderRegistry = new ProviderRegistry(
  [...PROVIDER_ENTRIES.map(({ traits }) => traits), WEBHOOKS],
  // Well-known labels of Kubernetes, verified 2026-08.
  { zone: "topology.kubernetes.io/zone", region: "topology.kubernetes.io/region" },
);
