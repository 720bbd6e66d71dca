import { ConfigError } from "../model/errors.ts";
import { contentHash } from "../model/text.ts";
import type {
  DNSProvider,
  DNSProviderReader,
  FirewallProvider,
  FirewallProviderReader,
  IPProvider,
  IPProviderReader,
  ProviderAccess,
  ProviderMeter,
} from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";
import type { Config } from "./config.ts";
import type { ProviderSettings, TokenSource } from "./environment.ts";
import type { Machine } from "./machine.ts";
import { warnOfPlainText } from "./plain-text.ts";
import { readToken } from "./token.ts";
import { readVersion } from "./version.ts";

/** Providers by the name that objects give them: of addresses, of DNS, and of cloud firewalls. */
export interface ProviderMaps<IP, DNS, Firewalls> {
  /** The meters of those that have a token. */
  readonly meters: ReadonlyMap<string, ProviderMeter>;
  readonly providers: ReadonlyMap<string, ProviderAccess<IP>>;
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNS>>;
  readonly firewallProviders: ReadonlyMap<string, ProviderAccess<Firewalls>>;
}

/**
 * Returns the providers for a run that only reads. SDKs are loaded by their first calls: one that no object names stays unloaded.
 * @throws ConfigError when the URL of an API is not usable
 */
export async function openProviderReaders(
  config: Config,
  machine: Machine,
): Promise<ProviderMaps<IPProviderReader, DNSProviderReader, FirewallProviderReader>> {
  return mapsOf(config, machine, {
    digitalOcean: async (options) => {
      const [{ createCaller }, ip, dns, firewalls] = await Promise.all([
        import("../adapters/digitalocean/api.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
      ]);
      const caller = createCaller(options);
      return {
        ip: ip.createDigitalOceanReader(options, caller),
        dns: dns.createDigitalOceanDNSReader(options, caller),
        firewalls: firewalls.createDigitalOceanFirewallsReader(options, caller),
      };
    },
    cloudflare: async (options) =>
      (await import("../adapters/cloudflare/cloudflare.ts")).createCloudflareReader(options),
  });
}

/**
 * Returns the providers for a run that may write; else as {@link openProviderReaders}.
 * @throws ConfigError when the URL of an API is not usable
 */
export async function openProviders(
  config: Config,
  machine: Machine,
): Promise<ProviderMaps<IPProvider, DNSProvider, FirewallProvider>> {
  return mapsOf(config, machine, {
    digitalOcean: async (options) => {
      const [{ createCaller }, ip, dns, firewalls] = await Promise.all([
        import("../adapters/digitalocean/api.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
        import("../adapters/digitalocean/digitalocean.ts"),
      ]);
      const caller = createCaller(options);
      return {
        ip: ip.createDigitalOcean(options, caller),
        dns: dns.createDigitalOceanDNS(options, caller),
        firewalls: firewalls.createDigitalOceanFirewalls(options, caller),
      };
    },
    cloudflare: async (options) => (await import("../adapters/cloudflare/cloudflare.ts")).createCloudflare(options),
  });
}

/** How the adapters are made. Those of DigitalOcean share one caller, so that a 429 stops all of them. */
interface Makers<IP, DNS, Firewalls> {
  readonly digitalOcean: (
    options: AdapterOptions,
  ) => Promise<{ readonly ip: IP & ProviderMeter; readonly dns: DNS; readonly firewalls: Firewalls }>;
  readonly cloudflare: (options: AdapterOptions) => Promise<DNS & ProviderMeter>;
}

async function mapsOf<IP, DNS, Firewalls>(
  config: Config,
  machine: Machine,
  make: Makers<IP, DNS, Firewalls>,
): Promise<ProviderMaps<IP, DNS, Firewalls>> {
  const { digitalOcean, cloudflare, warn, secrets } = config;
  for (const [label, { token, apiURL = "" }] of [
    ["DigitalOcean", digitalOcean],
    ["Cloudflare", cloudflare],
  ] as const)
    if (hasToken(token, secrets)) warnOfPlainText(warn, apiURL, `The token of ${label}`);
  const ofDigitalOcean = hasToken(digitalOcean.token, secrets)
    ? await make.digitalOcean(optionsOf(digitalOcean, machine, config))
    : undefined;
  const ofCloudflare = hasToken(cloudflare.token)
    ? await make.cloudflare(optionsOf(cloudflare, machine, config))
    : undefined;
  return {
    // All of DigitalOcean's count on one meter.
    meters: new Map<string, ProviderMeter>([
      ...(ofDigitalOcean === undefined ? [] : [["digitalocean", ofDigitalOcean.ip] as const]),
      ...(ofCloudflare === undefined ? [] : [["cloudflare", ofCloudflare] as const]),
    ]),
    providers: new Map([["digitalocean", access("digitalocean", ofDigitalOcean?.ip)]]),
    dnsProviders: new Map([
      ["digitalocean", access("digitalocean", ofDigitalOcean?.dns)],
      ["cloudflare", access("cloudflare", ofCloudflare)],
    ]),
    firewallProviders: new Map([["digitalocean", access("digitalocean", ofDigitalOcean?.firewalls)]]),
  };
}

/** What a person is told to set; the aliases work, too. */
const TOKEN_VARIABLES = {
  digitalocean: ["DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_ACCESS_TOKEN_FILE"],
  cloudflare: ["CLOUDFLARE_TOKEN", "CLOUDFLARE_TOKEN_FILE"],
} as const;

function access<P>(name: keyof typeof TOKEN_VARIABLES, provider: P | undefined): ProviderAccess<P> {
  return provider === undefined
    ? { kind: "no-token", name, variables: TOKEN_VARIABLES[name] }
    : { kind: "usable", provider };
}

/** A token that is there and cannot be read is told by the first call: it concerns the objects of that provider alone. */
function hasToken(source: TokenSource, secrets?: Config["secrets"]): boolean {
  try {
    return readToken(source, secrets) !== undefined;
  } catch {
    return true;
  }
}

/** The tokens as they are now, for comparison: a Secret may be mounted, replaced or emptied while a process runs. */
export interface TokenState {
  /** Names the providers that have one. */
  readonly present: string;
  /** A hash of all of them. */
  readonly fingerprint: string;
}

/** Reads the state of all tokens; files are read anew. */
export function tokenState({ digitalOcean, cloudflare }: Pick<Config, "digitalOcean" | "cloudflare">): TokenState {
  const sources = [
    ["digitalocean", digitalOcean.token],
    ["cloudflare", cloudflare.token],
  ] as const;
  const tokens = sources.map(([name, source]) => (hasToken(source) ? `${name} ${textOf(source)}` : ""));
  const present = sources.map(([name, source]) => (hasToken(source) ? name : "")).join(" ");
  return { present, fingerprint: contentHash(tokens.join("\n")) };
}

/** The token, or why it cannot be read. */
function textOf(source: TokenSource): string {
  try {
    return readToken(source) ?? "";
  } catch (error) {
    return String(error);
  }
}

/** Returns the providers whose token, as it is now, no header can carry. */
export function unusableTokens({
  digitalOcean,
  cloudflare,
}: Pick<Config, "digitalOcean" | "cloudflare">): readonly string[] {
  const sources = { digitalocean: digitalOcean.token, cloudflare: cloudflare.token };
  return Object.entries(sources).flatMap(([name, source]) => (isUnusable(source) ? [name] : []));
}

function isUnusable(source: TokenSource): boolean {
  try {
    readToken(source);
    return false;
  } catch (error) {
    return error instanceof ConfigError && error.kind === "invalid";
  }
}

interface AdapterOptions {
  readonly token: () => string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly chooseProxy: Config["chooseProxy"];
  readonly secrets: Config["secrets"];
  readonly baseURL?: string;
  readonly timeoutMs?: number;
  readonly untilMs?: number;
}

function optionsOf(
  { token, apiURL, userAgent }: ProviderSettings,
  { clock, providerTimeoutMs: timeoutMs, untilMs }: Machine,
  { chooseProxy, secrets }: Config,
): AdapterOptions {
  return {
    token: () => readToken(token, secrets) ?? "",
    secrets,
    userAgent: userAgent ?? `flipop/${readVersion()}`,
    clock,
    chooseProxy,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(apiURL === undefined ? {} : { baseURL: apiURL }),
  };
}
