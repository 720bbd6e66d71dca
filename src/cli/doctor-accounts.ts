import { PROVIDER_ENTRIES, PROVIDERS } from "../adapters/registry.ts";
import type { Account, Facts, Objects, Probe } from "../doctor/facts.ts";
import { type ProviderUse, providerUses } from "../doctor/uses.ts";
import { ConfigError, ProviderError } from "../model/errors.ts";
import type { ProviderAccess } from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";
import type { Config, Runtime } from "./config.ts";
import type { DoctorTerms } from "./doctor-sources.ts";
import { openProviderReaders, readMeters } from "./providers.ts";

/** What accounts are read with. */
interface AccountSources {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly terms: DoctorTerms;
  readonly objects: { readonly read: () => Promise<Objects> };
  readonly nodes: { readonly read: () => Promise<Facts["nodes"]> };
}

/** Asks each provider that objects name for what a run would ask it, once; before flipop is installed each that has a token. */
export async function readAccounts(sources: AccountSources): Promise<readonly Account[]> {
  const { config, runtime, terms } = sources;
  const access = await openProviderReaders(config, runtime);
  const uses = terms.isBefore ? usesBefore(access) : providerUses(await sources.objects.read(), PROVIDERS);
  const nodes = terms.isBefore ? [] : await sources.nodes.read().catch(() => []);
  return await Promise.all(
    uses.map(async (use) => {
      const [account, end] = await Promise.all([accountOf(use, access, nodes), tokenEndOf(use, access, runtime.clock)]);
      return { ...account, ...end };
    }),
  );
}

/** How long a provider may take to say when its token ends, milliseconds: less than all of an account may take. */
const TOKEN_MS = 3500;

async function tokenEndOf(
  { provider }: ProviderUse,
  { dnsProviders }: Access,
  clock: Clock,
): Promise<Pick<Account, "tokenEnd">> {
  const ending = new AbortController();
  try {
    const late = clock.sleep(TOKEN_MS, ending.signal).then(() => "late" as const);
    const atMs = await Promise.race([usable(dnsProviders, provider)?.tokenEndMs?.(), late]);
    if (atMs === "late") return { tokenEnd: { error: "it did not answer in time" } };
    return atMs === undefined ? {} : { tokenEnd: { atMs, inMs: atMs - clock.wallMs() } };
  } catch (error) {
    if (error instanceof ProviderError) return { tokenEnd: { error: error.message } };
    if (error instanceof ConfigError) return {};
    throw error;
  } finally {
    ending.abort();
  }
}

type Access = Awaited<ReturnType<typeof openProviderReaders>>;

/** Any name does: an account that lacks the zone says so, and has accepted the token. */
const ANY_ZONE = "example.com";

function usesBefore({ providers, dnsProviders }: Access): readonly ProviderUse[] {
  const all = PROVIDER_ENTRIES.map(({ traits }) => ({
    provider: traits.name,
    hasAddresses: traits.addresses !== undefined,
    hasFirewalls: false,
    zones: traits.addresses === undefined ? [ANY_ZONE] : [],
  }));
  const withToken = all.filter(
    ({ provider }) => (providers.get(provider) ?? dnsProviders.get(provider))?.kind === "usable",
  );
  return withToken.length > 0 ? withToken : all.filter(({ hasAddresses }) => hasAddresses);
}

async function accountOf(use: ProviderUse, access: Access, nodes: Facts["nodes"]): Promise<Account> {
  const { provider } = use;
  const entry = PROVIDER_ENTRIES.find(({ traits }) => traits.name === provider);
  const known = { provider, label: entry?.label ?? provider };
  const any: ProviderAccess<unknown> | undefined = access.providers.get(provider) ?? access.dnsProviders.get(provider);
  if (any?.kind === "no-token") return { ...known, missing: any.variables, probes: [] };
  const counts: Counts = {};
  const questions = [...questionsOfAddresses(use, access, { nodes, counts }), ...otherQuestions(use, access)];
  const probes = await Promise.all(questions.map(([what, ask]) => probe(what, ask)));
  const reading = readMeters(access.meters).find((one) => one.provider === provider);
  if (reading === undefined || entry === undefined) return { ...known, missing: [], probes, ...counts };
  const rateLimit = { ...reading.rateLimit, windowMs: entry.rateLimitMs };
  return { ...known, missing: [], probes, ...counts, rateLimit };
}

type Question = readonly [what: string, ask: () => Promise<unknown>];

/** Filled by the answers. */
interface Counts {
  used?: number;
  limit?: number;
}

function questionsOfAddresses(
  { provider, hasAddresses }: ProviderUse,
  access: Access,
  { nodes, counts }: { readonly nodes: Facts["nodes"]; readonly counts: Counts },
): readonly Question[] {
  const addresses = usable(access.providers, provider);
  if (!hasAddresses || addresses === undefined) return [];
  const machine = nodes.map(({ providerID }) => PROVIDERS.machineID(provider, providerID)).find(Boolean);
  const count = async (): Promise<void> => {
    const [{ total }, limit] = await Promise.all([addresses.listPage(1), addresses.addressLimit()]);
    counts.used = total;
    if (limit !== undefined) counts.limit = limit;
  };
  const machines: Question = ["machines", () => addresses.machineAddresses(machine ?? "")];
  return [["reserved addresses", count], ...(machine === undefined ? [] : [machines])];
}

function otherQuestions({ provider, hasFirewalls, zones }: ProviderUse, access: Access): readonly Question[] {
  const [firewalls, dns] = [usable(access.firewallProviders, provider), usable(access.dnsProviders, provider)];
  return [
    ...(hasFirewalls && firewalls !== undefined ? [["firewalls", () => firewalls.listFirewalls()] as const] : []),
    ...(dns === undefined ? [] : zones.map((zone) => [`zone ${zone}`, () => dns.findZone(zone)] as const)),
  ];
}

function usable<P>(all: ReadonlyMap<string, ProviderAccess<P>>, name: string): P | undefined {
  const access = all.get(name);
  return access?.kind === "usable" ? access.provider : undefined;
}

async function probe(what: string, ask: () => Promise<unknown>): Promise<Probe> {
  try {
    await ask();
    return { what };
  } catch (error) {
    if (error instanceof ConfigError) return { what, failure: { kind: "rejected", message: error.message } };
    if (!(error instanceof ProviderError)) throw error;
    const kind = error.failure === "unauthorized" ? "rejected" : error.failure === "forbidden" ? "forbidden" : "failed";
    return { what, failure: { kind, message: error.message } };
  }
}
