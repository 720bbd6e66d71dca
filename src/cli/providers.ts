import { readTextNow, whyUnread } from "../adapters/files/read-bytes.ts";
import type { ProviderOptions } from "../adapters/http/api-client.ts";
import { type Opened, PROVIDER_ENTRIES, PROVIDERS, type ProviderEntry, webhookEntry } from "../adapters/registry.ts";
import { sourceText } from "../model/address-source.ts";
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
import type { Secrets } from "../ports/system.ts";
import type { Config, Runtime } from "./config.ts";
import { given, type ProviderSettings, readVersion, type TokenSource } from "./environment.ts";
import { warnOfPlainText } from "./output.ts";

/** Providers by the name that objects give them: of DNS and of cloud firewalls; of addresses by their source. */
interface ProviderMaps<IP, DNS, Firewalls> {
  readonly registry: ProviderRegistry;
  /** All that are listed, and the webhooks that are set up. */
  readonly entries: readonly ProviderEntry[];
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
  return mapsOf(config, ({ openReaders }, settings) => openReaders(optionsOf(settings, runtime, config)));
}

/**
 * Returns the providers for a run that may write; else as {@link openProviderReaders}. Each write asks `mayWrite` right before it is sent.
 * @throws ConfigError when the URL of an API is not usable
 */
export async function openProviders(
  config: Config,
  runtime: Runtime,
  mayWrite: () => boolean,
): Promise<ProviderMaps<IPProvider, DNSProvider, FirewallProvider>> {
  return mapsOf(config, ({ open }, settings) => open({ ...optionsOf(settings, runtime, config), mayWrite }));
}

async function mapsOf<IP, DNS, Firewalls>(
  config: Config,
  open: (entry: ProviderEntry, settings: ProviderSettings) => Promise<Opened<IP, DNS, Firewalls>>,
): Promise<ProviderMaps<IP, DNS, Firewalls>> {
  const all: {
    readonly entry: ProviderEntry;
    readonly settings: ProviderSettings;
    readonly opened: Opened<IP, DNS, Firewalls> | undefined;
  }[] = [];
  for (const [entry, settings] of settingsOf(config)) {
    const hasOwn = hasToken(settings.token, config.secrets);
    if (hasOwn) warnOfPlainText(config.warn, settings.apiURL ?? "", `The token of ${entry.label}`);
    all.push({ entry, settings, opened: hasOwn ? await open(entry, settings) : undefined });
  }
  const accesses = <P>(
    kind: "addresses" | "addressesIPv6" | "dns" | "firewalls",
    of: (opened: Opened<IP, DNS, Firewalls>) => P | undefined,
  ) =>
    new Map(
      all
        .filter(({ entry }) => entry.traits[kind] !== undefined)
        .map(
          ({ entry, settings, opened }) =>
            [entry.traits.name, usableOr(entry, settings, opened && of(opened))] as const,
        ),
    );
  return {
    registry: PROVIDERS,
    entries: all.map(({ entry }) => entry),
    meters: new Map(all.flatMap(({ entry, opened }) => (opened ? [[entry.traits.name, opened.meter] as const] : []))),
    providers: new Map([
      ...accesses("addresses", ({ addresses }) => addresses),
      ...[...accesses("addressesIPv6", ({ addressesIPv6 }) => addressesIPv6)].map(
        ([provider, access]) => [sourceText({ provider, family: "IPv6" }), access] as const,
      ),
    ]),
    dnsProviders: accesses("dns", ({ dns }) => dns),
    firewallProviders: accesses("firewalls", ({ firewalls }) => firewalls),
  };
}

function usableOr<P>(
  { traits: { name, family }, tokenVariables: [variable] }: ProviderEntry,
  { token }: ProviderSettings,
  provider: P | undefined,
): ProviderAccess<P> {
  if (provider !== undefined) return { kind: "usable", provider };
  // The token of a family's member comes by a flag, which has no twin.
  const variables = family === undefined ? [variable, `${variable}_FILE`] : [variable];
  if (token.kind !== "file") return { kind: "no-token", name, variables };
  const emptyFile = `the token file ${token.path} that ${token.variable} names is empty`;
  return { kind: "no-token", name, variables, emptyFile };
}

/** What says how providers are reached. */
type ProviderConfig = Pick<Config, "providers" | "webhooks">;

/** Returns every provider of the registry, and every webhook, with its settings. */
function settingsOf({ providers, webhooks }: ProviderConfig): readonly (readonly [ProviderEntry, ProviderSettings])[] {
  return [
    ...PROVIDER_ENTRIES.map((entry): readonly [ProviderEntry, ProviderSettings] => {
      const none: ProviderSettings = { token: { kind: "none", variables: entry.tokenVariables } };
      return [entry, providers[entry.traits.name] ?? none];
    }),
    ...webhooks.map(({ name, url, tokenFile: path }): readonly [ProviderEntry, ProviderSettings] => {
      const variable = `--dns-token-file ${name}`;
      const token = path === undefined ? ({ kind: "unneeded" } as const) : ({ kind: "file", variable, path } as const);
      return [webhookEntry(name, url), { token, apiURL: url }];
    }),
  ];
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

/** A token that is there and cannot be read is told by the first call: it concerns the objects of that provider alone. */
function hasToken(source: TokenSource, secrets?: Config["secrets"]): boolean {
  if (source.kind === "unneeded") return true;
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
export function tokenState(config: ProviderConfig): TokenState {
  const own = settingsOf(config).map(([{ traits }, { token }]) => ({
    name: traits.name,
    token,
    isThere: hasToken(token),
  }));
  const tokens = own.map(({ name, token, isThere }) => (isThere ? `${name} ${tokenText(token)}` : ""));
  const present = own.map(({ name, isThere }) => (isThere ? name : "")).join(" ");
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
export function unusableTokens(config: ProviderConfig): readonly string[] {
  return settingsOf(config).flatMap(([{ traits }, { token }]) => (isUnusable(token) ? [traits.name] : []));
}

function isUnusable(source: TokenSource): boolean {
  try {
    readToken(source);
    return false;
  } catch (error) {
    return error instanceof ConfigError && error.kind === "invalid";
  }
}

function optionsOf(
  { token, apiURL: baseURL, userAgent = `flipop/${readVersion()}` }: ProviderSettings,
  { clock, providerTimeoutMs: timeoutMs, untilMs }: Runtime,
  { chooseProxy, secrets, progress, onFailedRead }: Config,
): ProviderOptions {
  const readOwn = (): string => readToken(token, secrets) ?? "";
  return {
    token: token.kind === "unneeded" ? undefined : readOwn,
    secrets,
    userAgent,
    clock,
    chooseProxy,
    ...given({ timeoutMs, untilMs, baseURL, progress, onFailedRead }),
  };
}

/**
 * Returns the token as it is now, or undefined where there is none (an empty file counts as none). Adds it to `secrets`. Reads the file each
 * time, so that a rotated Secret is picked up.
 * @throws ConfigError naming variable and path: `permission` when the file cannot be read, `invalid` when what is there cannot be a token; never
 * with the token itself.
 */
export function readToken(source: TokenSource, secrets?: Pick<Secrets, "add">): string | undefined {
  if (source.kind === "none" || source.kind === "unneeded") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (isTokenText(text)) return text;
  throw new ConfigError("invalid", `The token in ${placeOf(source)} ${UNUSABLE_TOKEN}. Copy it again.`);
}

/**
 * Returns the password as it is now, or undefined where there is none; may have spaces and any letters.
 * @param called - what a message calls it
 * @throws ConfigError as {@link readToken}
 */
export function readPassword(
  source: TokenSource,
  secrets?: Pick<Secrets, "add">,
  called = "password",
): string | undefined {
  if (source.kind === "none" || source.kind === "unneeded") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (!/\p{Cc}/u.test(text)) return text;
  throw new ConfigError(
    "invalid",
    `The ${called} in ${placeOf(source)} has a line end or another control character inside. Copy it again.`,
  );
}

type Given = Exclude<TokenSource, { readonly kind: "none" | "unneeded" }>;

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
    return readSecretFile(path);
  } catch (cause) {
    const why = whyUnread(cause) ?? "unreadable";
    throw new ConfigError(
      "permission",
      `Cannot read the token file ${path} that ${variable} names (${why}). Correct the path or its permissions.`,
      { cause },
    );
  }
}

/** The most that a file with a token, a secret or URLs may hold, bytes. */
const MOST_BYTES = 1 << 20;

/** Returns the text of a file with a token, a secret or URLs as it is now. @throws as {@link readTextNow} does */
export function readSecretFile(path: string): string {
  return readTextNow(path, MOST_BYTES);
}
