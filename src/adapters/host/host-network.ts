import { readFile } from "node:fs/promises";
import { canonicalAddress } from "../../model/address.ts";
import { ConfigError, HostError } from "../../model/errors.ts";
import { familyOf } from "../../model/host-address.ts";
import type { HostNetwork, HostState, PresentAddress } from "../../ports/host.ts";
import { ANY, anyList, COUNT, fieldsOf, map, maybe, object, read, type Schema, TEXT } from "../http/answer.ts";
import { announce4, announce6, clearAnnouncements } from "./announce.ts";
import { IPRefusal, ipProgram, NOT_PERMITTED, OWN_METRIC, type RunIP } from "./ip-program.ts";

/*
 * How flipop knows its own addresses, also after it was killed: each carries the metric OWN_METRIC. The kernel keeps the number with the
 * address (IFA_RT_PRIORITY, Linux 4.18 and newer) as long as the address itself, and for IPv6 as well, which has no labels. It means nothing here: it would be that of the
 * route to the prefix of the address, and one that stands for a single host has none. IPv4 addresses have a label, too, where the name of the interface leaves room
 * for it: `ip address` shows people eth0:flipop.
 *
 * Other ways that there are: a label alone, which IPv6 has not and long names leave no room for; the protocol of an address, which needs Linux 5.18; a file, which a
 * restart of the machine outlives, while addresses do not.
 */

/** The longest label, and the longest name of an interface (IFNAMSIZ of Linux, less the zero at its end). */
const LONGEST_NAME = 15;

/** The bit of CAP_NET_ADMIN in the masks of /proc/PID/status. */
const NET_ADMIN = 1n << 12n;

/** Returns the network of the machine, or of the network namespace, in which the process runs. @param searchPath - where `ip` is looked for first, as in `$PATH` */
export function createHostNetwork(searchPath: string): HostNetwork {
  return new LinuxNetwork(ipProgram(searchPath));
}

class LinuxNetwork implements HostNetwork {
  readonly #ip: RunIP;

  constructor(ip: RunIP) {
    this.#ip = ip;
  }

  async prepare(mayChange: boolean): Promise<void> {
    // Before it matters: a node must not learn at its first failover that it may not take the address.
    if (mayChange && !(await hasNetAdmin())) throw new ConfigError("permission", NOT_PERMITTED);
    await this.read();
    if (mayChange) await clearAnnouncements(this.#ip);
  }

  async read(): Promise<HostState> {
    const [links, four, six] = await Promise.all([
      this.#json(LINKS, "address", "show"),
      this.#json(ROUTES, "-4", "route", "show", "default"),
      this.#json(ROUTES, "-6", "route", "show", "default"),
    ]);
    const [v4, v6] = [interfaceOf(four), interfaceOf(six)];
    return {
      addresses: links.flatMap(({ ifname, addr_info: infos }) =>
        ifname === undefined ? [] : infos.flatMap((info) => addressOf(ifname, info)),
      ),
      interfaces: links.flatMap(({ ifname }) => ifname ?? []),
      defaults: { ...(v4 === undefined ? {} : { 4: v4 }), ...(v6 === undefined ? {} : { 6: v6 }) },
    };
  }

  async add(ip: string, on: string): Promise<void> {
    const label = `${on}:flipop`;
    const own =
      familyOf(ip) === 4
        ? [...(label.length <= LONGEST_NAME ? ["label", label] : [])]
        : // No doubt whether another host has it: the provider has said where it is. Connections that the host begins do not use it.
          ["nodad", "noprefixroute", "preferred_lft", "0"];
    await unlessSo(
      "exists",
      this.#ip("address", "add", ownPrefix(ip), "dev", on, ...own, "metric", String(OWN_METRIC)),
    );
  }

  async remove({ ip, prefix, interface: on }: PresentAddress): Promise<void> {
    await unlessSo("gone", this.#ip("address", "delete", `${ip}/${prefix}`, "dev", on));
  }

  async announce(ip: string, on: string): Promise<void> {
    if (familyOf(ip) === 4) return announce4(this.#ip, ip, on);
    const routes = await this.#json(ROUTES, "-6", "route", "show", "default");
    for (const { gateway, dev } of routes)
      if (gateway !== undefined && dev === on) await announce6(this.#ip, { ip, on, gateway });
  }

  async #json<T>(schema: Schema<T>, ...args: readonly string[]): Promise<T> {
    const text = await this.#ip("-json", ...args);
    try {
      // It prints nothing where there is nothing to print.
      return read(schema, text.trim() === "" ? [] : JSON.parse(text));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "unknown";
      const message = `ip -json ${args.join(" ")} prints what is not understood: ${why}. flipop needs ip of iproute2.`;
      throw new HostError(message, { cause });
    }
  }
}

/** An address, where it can be read; a message of an older program has entries without a name. */
interface Info {
  readonly family: string | undefined;
  readonly local: string | undefined;
  readonly prefixlen: number | undefined;
  readonly metric: number | undefined;
}

interface Link {
  readonly ifname: string | undefined;
  readonly addr_info: readonly Info[];
}

const INFO: Schema<Info> = object({
  family: maybe(TEXT),
  local: maybe(TEXT),
  prefixlen: maybe(COUNT),
  metric: maybe(COUNT),
});
const LINKS: Schema<readonly Link[]> = anyList(object({ ifname: maybe(TEXT), addr_info: anyList(INFO) }));

interface Route {
  readonly dev: string | undefined;
  readonly gateway: string | undefined;
  readonly metric: number;
}

const ROUTES: Schema<readonly Route[]> = anyList(
  map(ANY, (route) => {
    const { dev, gateway, metric, nexthops } = fieldsOf(route);
    // A route over several ways has them in a list.
    const [first] = Array.isArray(nexthops) ? nexthops.map(fieldsOf) : [];
    const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
    return {
      dev: text(dev) ?? text(first?.["dev"]),
      gateway: text(gateway) ?? text(first?.["gateway"]),
      metric: typeof metric === "number" ? metric : 0,
    };
  }),
);

/** The interface of the route that the kernel prefers. */
function interfaceOf(routes: readonly Route[]): string | undefined {
  return routes.filter(({ dev }) => dev !== undefined).toSorted((a, b) => a.metric - b.metric)[0]?.dev;
}

function addressOf(on: string, { local, prefixlen, metric }: Info): readonly PresentAddress[] {
  const ip = local === undefined ? undefined : canonicalAddress(local);
  if (ip === undefined || prefixlen === undefined) return [];
  const isOwn = metric === OWN_METRIC && ownPrefix(ip) === `${ip}/${prefixlen}`;
  return [{ ip, prefix: prefixlen, interface: on, isOwn }];
}

/** An own address with its prefix: of one host. */
function ownPrefix(ip: string): string {
  return `${ip}/${familyOf(ip) === 4 ? 32 : 128}`;
}

/** Waits for a change that may have been made already. */
async function unlessSo(kind: IPRefusal["kind"], change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof IPRefusal && error.kind === kind)) throw error;
  }
}

/** True with the capability; where the system does not say, the first change will show it. */
async function hasNetAdmin(): Promise<boolean> {
  const status = await readFile("/proc/self/status", "utf8").catch(() => "");
  const [, mask] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return mask === undefined || (BigInt(`0x${mask}`) & NET_ADMIN) !== 0n;
}
