import { PROVIDERS } from "../adapters/registry.ts";
import type { Account, Facts, LookedMachine, Objects, Planned, Probe } from "../doctor/facts.ts";
import { type ProviderUse, providerUses, subjectsOf } from "../doctor/uses.ts";
import { refKey } from "../model/action.ts";
import { sourceNamed } from "../model/address-source.ts";
import { ConfigError, ProviderError } from "../model/errors.ts";
import { accessTo, type ProviderAccess } from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";
import type { Config, Runtime } from "./config.ts";
import type { DoctorTerms } from "./doctor-sources.ts";
import { given } from "./environment.ts";
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

/** Any name and any number do: an account that lacks the zone or the machine says so, and has accepted the token. */
const ANY_ZONE = "example.com";
const ANY_MACHINE = "1";

function usesBefore({ entries, providers, dnsProviders }: Access): readonly ProviderUse[] {
  const all = entries.map(({ traits }) => ({
    provider: traits.name,
    sources: traits.addresses === undefined ? [] : [traits.name],
    hasFirewalls: traits.firewalls !== undefined,
    zones: [ANY_ZONE],
    isGuess: true as const,
  }));
  const withToken = all.filter(
    ({ provider }) => (providers.get(provider) ?? dnsProviders.get(provider))?.kind === "usable",
  );
  return withToken.length > 0 ? withToken : all.filter(({ sources }) => sources.length > 0);
}

async function accountOf(use: ProviderUse, access: Access, nodes: Facts["nodes"]): Promise<Account> {
  const { provider } = use;
  const entry = access.entries.find(({ traits }) => traits.name === provider);
  const known = { provider, label: entry?.label ?? provider, about: subjectsOf(use) };
  const any: ProviderAccess<unknown> | undefined =
    access.providers.get(provider) ?? accessTo(access.dnsProviders, provider, PROVIDERS);
  if (any?.kind === "no-token")
    return { ...known, missing: any.variables, ...given({ emptyFile: any.emptyFile }), probes: [] };
  const counts: Counts = {};
  const questions = [
    ...use.sources.flatMap((source) => questionsOfAddresses(source, use, access, { nodes, counts })),
    ...otherQuestions(use, access, known.label),
  ];
  const probes = await Promise.all(questions.map(probe));
  const reading = readMeters(access.meters).find((one) => one.provider === provider);
  if (reading === undefined || entry === undefined) return { ...known, missing: [], probes, ...counts };
  const rateLimit = { ...reading.rateLimit, windowMs: entry.rateLimitMs };
  return { ...known, missing: [], probes, ...counts, rateLimit };
}

type Question = Pick<Probe, "what" | "onlyFor"> & { readonly ask: () => Promise<unknown> };

/** Filled by the answers. */
interface Counts {
  used?: number;
  limit?: number;
}

function questionsOfAddresses(
  source: string,
  { isGuess }: ProviderUse,
  access: Access,
  { nodes, counts }: { readonly nodes: Facts["nodes"]; readonly counts: Counts },
): readonly Question[] {
  const addresses = usable(access.providers, source);
  if (addresses === undefined) return [];
  const { family } = sourceNamed(source);
  const known = nodes.map(({ providerID }) => PROVIDERS.machineID(source, providerID)).find(Boolean);
  const machine = known ?? (isGuess ? ANY_MACHINE : undefined);
  const count = async (): Promise<void> => {
    const [{ total }, limit] = await Promise.all([addresses.listPage(1), addresses.addressLimit()]);
    // The limit that is known is that of IPv4 addresses.
    if (family === "IPv6") return;
    if (total !== undefined) counts.used = total;
    if (limit !== undefined) counts.limit = limit;
  };
  return [
    { what: family === "IPv4" ? "reserved addresses" : "reserved IPv6 addresses", ask: count },
    ...(machine === undefined ? [] : [{ what: "machines", ask: () => addresses.machineAddresses(machine) }]),
  ];
}

/** A provider that has nothing but names needs them for all that it is named for. */
function otherQuestions(
  { provider, sources, hasFirewalls, zones, isGuess }: ProviderUse,
  access: Access,
  label: string,
): readonly Question[] {
  const [firewalls, dns] = [usable(access.firewallProviders, provider), usable(access.dnsProviders, provider)];
  const only = (onlyFor: string): Pick<Probe, "onlyFor"> => (isGuess && sources.length > 0 ? { onlyFor } : {});
  const rules = { what: "firewalls", ...only("firewalls of routed IPs"), ask: async () => firewalls?.listFirewalls() };
  return [
    ...(hasFirewalls && firewalls !== undefined ? [rules] : []),
    ...zones.flatMap((zone) =>
      dns === undefined
        ? []
        : [{ what: `zone ${zone}`, ...only(`names at ${label}`), ask: async () => dns.findZone(zone) }],
    ),
  ];
}

/** So many machines are asked about, a call each: doctor may run every minute beside what needs the limit. */
const MOST_MACHINES = 20;

/** Asks whether providers know the machines of the nodes that match and carry no address yet: those that carry one are known. */
export async function readMachines(
  config: Config,
  runtime: Runtime,
  { observation, plan }: Planned,
): Promise<Facts["machines"]> {
  const { providers } = await openProviderReaders(config, runtime);
  const nodes = new Map(observation.nodes.map((node) => [node.name, node]));
  const wanted = plan.pools.flatMap(({ object, matching, status }) => {
    const pool = observation.pools.find(({ kind, meta }) => refKey({ kind, ...meta }) === refKey(object));
    const holding = new Set(Object.values(status.ips).flatMap(({ nodeName }) => nodeName ?? []));
    return matching.flatMap((nodeName) => {
      const provider = pool?.spec.provider ?? "";
      const machineID = PROVIDERS.machineID(provider, nodes.get(nodeName)?.providerID ?? "");
      return holding.has(nodeName) || machineID === undefined ? [] : [{ provider, nodeName, machineID }];
    });
  });
  const machines = [...new Map(wanted.map((one) => [`${one.provider} ${one.machineID}`, one])).values()];
  const asked = machines.slice(0, MOST_MACHINES).map(async (machine): Promise<LookedMachine> => {
    const access = usable(providers, machine.provider);
    if (access === undefined) return { ...machine, error: `there is no token for ${machine.provider}` };
    try {
      return { ...machine, isKnown: (await access.machineAddresses(machine.machineID)) !== undefined };
    } catch (error) {
      if (error instanceof ProviderError) return { ...machine, error: error.message };
      throw error;
    }
  });
  return { asked: await Promise.all(asked), count: machines.length };
}

function usable<P>(all: ReadonlyMap<string, ProviderAccess<P>>, name: string): P | undefined {
  const access = all.get(name);
  return access?.kind === "usable" ? access.provider : undefined;
}

async function probe({ ask, ...asked }: Question): Promise<Probe> {
  try {
    await ask();
    return asked;
  } catch (error) {
    if (error instanceof ConfigError) return { ...asked, failure: { kind: "rejected", message: error.message } };
    if (!(error instanceof ProviderError)) throw error;
    const kind = error.failure === "unauthorized" ? "rejected" : error.failure === "forbidden" ? "forbidden" : "failed";
    return { ...asked, failure: { kind, message: error.message } };
  }
}
