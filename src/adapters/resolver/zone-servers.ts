import { Resolver } from "node:dns/promises";
import { canonicalAddress } from "../../model/address.ts";
import type { ServerAnswer, ZoneAnswer } from "../../model/live.ts";
import { setNamed } from "../../model/record-types.ts";
import type { ZoneServers } from "../../ports/resolver.ts";
import { dnsErrorText, meansNothing } from "./resolver.ts";

const TIMEOUT_MS = 2000;
/** How many servers are asked at the same time. */
const AT_ONCE = 4;

/** Where servers are found, and how they are reached. */
interface Ways {
  /** `ADDRESS:PORT` of the one server that serves every zone. Absent = the servers that DNS names for the zone. */
  readonly only?: string | undefined;
  /** `ADDRESS:PORT` of the server that is asked which servers a zone has. Absent = those of the system. */
  readonly finder?: string;
  /** The port of the servers that DNS names. */
  readonly port?: number;
}

/** A server of a zone. */
interface Server {
  readonly name: string;
  /** `ADDRESS:PORT`; absent where its name has no address. */
  readonly at?: string;
}

/** Returns what asks the servers of zones over UDP, over TCP where the answer is too long: once each, for at most 2 s, four at a time. */
export function createZoneServers({ only, finder, port = 53 }: Ways = {}): ZoneServers {
  const find = resolverOf(finder);
  const inTurn = limited(AT_ONCE);
  const known = new Map<string, Promise<readonly Server[] | string>>();
  const serversOf = (zone: string): Promise<readonly Server[] | string> => {
    const found = known.get(zone) ?? findServers(find, zone, port);
    known.set(zone, found);
    return found;
  };
  const answers = new Map<string, Promise<ZoneAnswer>>();
  const askAll = async (fqdn: string, zone: string | undefined): Promise<ZoneAnswer> => {
    const servers = only === undefined ? await firstFound(zonesOf(fqdn, zone), serversOf) : [{ name: only, at: only }];
    if (typeof servers === "string") return { error: servers };
    return { servers: await Promise.all(servers.map((server) => inTurn(() => ask(server, fqdn)))) };
  };
  return {
    answerOf: (fqdn, zone) => {
      const answer = answers.get(fqdn) ?? askAll(fqdn, zone);
      answers.set(fqdn, answer);
      return answer;
    },
  };
}

/** The zone, or where it is not known every name above the name, the longest first; never a top-level domain. */
function zonesOf(fqdn: string, zone: string | undefined): readonly string[] {
  if (zone !== undefined) return [zone];
  const labels = setNamed(fqdn).fqdn.split(".");
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join("."));
}

/** The servers of the first zone that has some, else why the first has none. */
async function firstFound(
  zones: readonly string[],
  serversOf: (zone: string) => Promise<readonly Server[] | string>,
): Promise<readonly Server[] | string> {
  const problems: string[] = [];
  for (const zone of zones) {
    const found = await serversOf(zone);
    if (typeof found !== "string") return found;
    problems.push(found);
  }
  return problems.at(-1) ?? "the name is in no zone";
}

/** The servers of a zone, sorted by name; or why none is known. */
async function findServers(find: Resolver, zone: string, port: number): Promise<readonly Server[] | string> {
  try {
    const names = (await find.resolveNs(zone)).map((name) => name.toLowerCase()).toSorted();
    if (names.length === 0) return `DNS names no server for ${zone}`;
    return await Promise.all(
      names.map(async (name): Promise<Server> => {
        const [address] = await find.resolve4(name).catch(() => []);
        return address === undefined ? { name } : { name, at: `${address}:${port}` };
      }),
    );
  } catch (error) {
    return meansNothing(error) ? `DNS names no server for ${zone}` : `the servers of ${zone}: ${dnsErrorText(error)}`;
  }
}

async function ask({ name: server, at }: Server, text: string): Promise<ServerAnswer> {
  if (at === undefined) return { server, error: "its name has no IPv4 address" };
  try {
    const { fqdn, type } = setNamed(text);
    const resolver = resolverOf(at);
    const records = await (type === "A"
      ? resolver.resolve4(fqdn, { ttl: true })
      : resolver.resolve6(fqdn, { ttl: true }));
    const addresses = records.map(({ address }) => canonicalAddress(address) ?? address).toSorted();
    return { server, addresses, ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)) };
  } catch (error) {
    return meansNothing(error) ? { server, addresses: [] } : { server, error: dnsErrorText(error) };
  }
}

function resolverOf(server: string | undefined): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  if (server !== undefined) resolver.setServers([server]);
  return resolver;
}

/** Returns what runs tasks, at most so many at a time, in the order in which they come. */
function limited(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
