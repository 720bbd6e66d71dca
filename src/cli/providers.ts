import { readFileSync } from "node:fs";
import { PROVIDERS } from "../adapters/registry.ts";
import { ConfigError } from "../model/errors.ts";
import type { MeterReading } from "../model/meter.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { contentHash, isTokenText, UNUSABLE_TOKEN } from "../model/text.ts";
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
import type { Clock, Secrets } from "../ports/system.ts";
import type { Config, Runtime } from "./config.ts";
import { type ProviderSettings, readVersion, type TokenSource } from "./environment.ts";
import { warnOfPlainText } from "./output.ts";

/** Providers by the name that objects give them: of addresses, of DNS, and of cloud firewalls. */
interface ProviderMaps<IP, DNS, Firewalls> {
  readonly registry: ProviderRegistry;
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
  runtime: Runtime,
): Promise<ProviderMaps<IPProviderReader, DNSProviderReader, FirewallProviderReader>> {
  return mapsOf(config, runtime, {
    digitalOcean: async (options) =>
      (await import("../adapters/digitalocean/digitalocean.ts")).openDigitalOceanReaders(options),
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
  runtime: Runtime,
): Promise<ProviderMaps<IPProvider, DNSProvider, FirewallProvider>> {
  return mapsOf(config, runtime, {
    digitalOcean: async (options) =>
      (await import("../adapters/digitalocean/digitalocean.ts")).openDigitalOcean(options),
    cloudflare: async (options) => (await import("../adapters/cloudflare/cloudflare.ts")).createCloudflare(options),
  });
}

/** How the adapters are made. Those of DigitalOcean share one caller, so that a 429 stops all of them. */
interface Makers<IP, DNS, Firewalls> {
  readonly digitalOcean: (
    options: AdapterOptions,
  ) => Promise<{ readonly addresses: IP & ProviderMeter; readonly dns: DNS; readonly firewalls: Firewalls }>;
  readonly cloudflare: (options: AdapterOptions) => Promise<DNS & ProviderMeter>;
}

async function mapsOf<IP, DNS, Firewalls>(
  config: Config,
  runtime: Runtime,
  make: Makers<IP, DNS, Firewalls>,
): Promise<ProviderMaps<IP, DNS, Firewalls>> {
  const { digitalOcean, cloudflare, warn, secrets } = config;
  for (const [label, { token, apiURL = "" }] of [
    ["DigitalOcean", digitalOcean],
    ["Cloudflare", cloudflare],
  ] as const)
    if (hasToken(token, secrets)) warnOfPlainText(warn, apiURL, `The token of ${label}`);
  const ofDigitalOcean = hasToken(digitalOcean.token, secrets)
    ? await make.digitalOcean(optionsOf(digitalOcean, runtime, config))
    : undefined;
  const ofCloudflare = hasToken(cloudflare.token)
    ? await make.cloudflare(optionsOf(cloudflare, runtime, config))
    : undefined;
  return {
    registry: PROVIDERS,
    // All of DigitalOcean's count on one meter.
    meters: new Map<string, ProviderMeter>([
      ...(ofDigitalOcean === undefined ? [] : [["digitalocean", ofDigitalOcean.addresses] as const]),
      ...(ofCloudflare === undefined ? [] : [["cloudflare", ofCloudflare] as const]),
    ]),
    providers: new Map([["digitalocean", access("digitalocean", ofDigitalOcean?.addresses)]]),
    dnsProviders: new Map([
      ["digitalocean", access("digitalocean", ofDigitalOcean?.dns)],
      ["cloudflare", access("cloudflare", ofCloudflare)],
    ]),
    firewallProviders: new Map([["digitalocean", access("digitalocean", ofDigitalOcean?.firewalls)]]),
  };
}

/** Returns what each provider has counted since it was opened, in the order given. */
export function readMeters(meters: ReadonlyMap<string, ProviderMeter>): readonly MeterReading[] {
  return [...meters].map(([provider, meter]) => ({
    provider,
    calls: meter.calls(),
    durations: meter.durations(),
    rateLimit: meter.rateLimit(),
  }));
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
interface TokenState {
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
  const tokens = sources.map(([name, source]) => (hasToken(source) ? `${name} ${tokenText(source)}` : ""));
  const present = sources.map(([name, source]) => (hasToken(source) ? name : "")).join(" ");
  return { present, fingerprint: contentHash(tokens.join("\n")) };
}

/** The token, or why it cannot be read. */
function tokenText(source: TokenSource): string {
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
  { clock, providerTimeoutMs: timeoutMs, untilMs }: Runtime,
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

/**
 * Returns the token as it is now, or undefined where there is none (an empty file counts as none). Adds it to `secrets`. Reads the file each
 * time, so that a rotated Secret is picked up.
 * @throws ConfigError naming variable and path: `permission` when the file cannot be read, `invalid` when what is there cannot be a token; never
 * with the token itself.
 */
export function readToken(source: TokenSource, secrets?: Pick<Secrets, "add">): string | undefined {
  if (source.kind === "none") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (isTokenText(text)) return text;
  throw new ConfigError("invalid", `The token in ${placeOf(source)} ${UNUSABLE_TOKEN}. Copy it again.`);
}

/**
 * Returns the password as it is now, or undefined where there is none; may have spaces and any letters.
 * @throws ConfigError as {@link readToken}
 */
export function readPassword(source: TokenSource, secrets?: Pick<Secrets, "add">): string | undefined {
  if (source.kind === "none") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (!/\p{Cc}/u.test(text)) return text;
  throw new ConfigError(
    "invalid",
    `The password in ${placeOf(source)} has a line end or another control character inside. Copy it again.`,
  );
}

type Given = Exclude<TokenSource, { readonly kind: "none" }>;

function textOf(source: Given, secrets: Pick<Secrets, "add"> | undefined): string {
  const text = source.kind === "value" ? source.token : readTokenFile(source).replace(/[\r\n]+$/, "");
  // An unusable token is a secret, too: each of its lines may be the real one.
  if (source.kind === "file" || source.isPublic !== true) for (const line of text.split(/[\r\n]+/)) secrets?.add(line);
  return text;
}

function placeOf(source: Given): string {
  return source.kind === "value" ? source.variable : `${source.path} (${source.variable})`;
}

function readTokenFile({ variable, path }: { readonly variable: string; readonly path: string }): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ConfigError(
      "permission",
      `Cannot read the token file ${path} that ${variable} names (${why}). Correct the path or its permissions.`,
      { cause },
    );
  }
}
