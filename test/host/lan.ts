// A link with a peer and two hosts on it, each in a network namespace of its own; the machine's own network stays as it is.
import { execFile, execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { vi } from "vitest";
import { skipOrFail } from "../cluster/assets.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { FLIPOP } from "../programs/entry.ts";

const run = promisify(execFile);

/** Who is on the link: the peer is the gateway of the two hosts. */
export type Place = "peer" | "a" | "b";

/** The programs that the link is made and looked at with. */
interface Tools {
  readonly ip: string;
  readonly ping: string;
}

/** Returns a link that can be made here; undefined where the tests need root, and what the kernel or Debian lacks. With `CI=true` it throws then. */
export async function lanTools(): Promise<Tools | undefined> {
  const [ip, ping] = [await debianProgram("iproute2", "ip"), await debianProgram("iputils-ping", "ping")];
  if (ip === undefined || ping === undefined) return undefined;
  try {
    const trial = `flipop-trial-${process.pid}`;
    execFileSync(ip, ["netns", "add", trial], { stdio: "pipe" });
    execFileSync(ip, ["netns", "delete", trial], { stdio: "pipe" });
    return { ip, ping };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    skipOrFail(new Error(`network namespaces cannot be made, which needs root: ${why}`), "TESTS IN NETWORK NAMESPACES");
    return undefined;
  }
}

const FOUR = { peer: "10.77.0.1", a: "10.77.0.2", b: "10.77.0.3" } as const;
const SIX = { peer: "fd77::1", a: "fd77::2", b: "fd77::3" } as const;

/** The link: everybody sends what goes to 203.0.113.0/24 or 2001:db8::/64 onto it. */
export class Lan {
  readonly #tools: Tools;
  readonly #name: string = `flipop-${process.pid}`;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** Makes it. */
  async up(): Promise<void> {
    for (const place of ["peer", "a", "b"] as const) {
      await run(this.#tools.ip, ["netns", "add", this.#space(place)]);
      await this.ip(place, "link set lo up");
    }
    await this.ip("peer", "link add br0 type bridge");
    await this.ip("peer", "link set br0 up");
    for (const place of ["a", "b"] as const) {
      await this.ip("peer", `link add v${place} type veth peer name eth0 netns ${this.#space(place)}`);
      await this.ip("peer", `link set v${place} master br0 up`);
      await this.ip(place, "link set eth0 up");
    }
    for (const place of ["peer", "a", "b"] as const) {
      const on = place === "peer" ? "br0" : "eth0";
      await this.ip(place, `address add ${FOUR[place]}/24 dev ${on}`);
      await this.ip(place, `address add ${SIX[place]}/64 dev ${on} nodad`);
      if (place === "peer") {
        await this.ip(place, `route add 203.0.113.0/24 dev ${on}`);
        await this.ip(place, `-6 route add 2001:db8::/64 dev ${on}`);
      } else {
        await this.ip(place, `route add default via ${FOUR.peer}`);
        await this.ip(place, `-6 route add default via ${SIX.peer}`);
      }
    }
  }

  /** Removes it with all that is in it. */
  async down(): Promise<void> {
    for (const place of ["peer", "a", "b"] as const)
      await run(this.#tools.ip, ["netns", "delete", this.#space(place)]).catch(() => undefined);
  }

  /** Runs `ip` there. Returns what it prints. */
  async ip(place: Place, words: string): Promise<string> {
    const { stdout } = await run(this.#tools.ip, ["-n", this.#space(place), ...words.split(" ")]);
    return stdout;
  }

  /** True if a ping from the peer is answered within a second. */
  async isAnswered(address: string): Promise<boolean> {
    const { ip, ping } = this.#tools;
    return await run(ip, ["netns", "exec", this.#space("peer"), ping, "-c", "1", "-W", "1", address]).then(
      () => true,
      () => false,
    );
  }

  /** The host to which the peer sends what goes to an address, by what it knows now; undefined where it knows nothing. */
  async knownAt(address: string): Promise<"a" | "b" | undefined> {
    const known = JSON.parse((await this.ip("peer", `-json neighbour show ${address} dev br0`)) || "[]")[0]?.lladdr;
    for (const place of ["a", "b"] as const) if (known === (await this.#hardwareAddress(place))) return place;
    return undefined;
  }

  async #hardwareAddress(place: Place): Promise<string> {
    return JSON.parse(await this.ip(place, "-json link show eth0"))[0].address;
  }

  /** The addresses on an interface of a host: `203.0.113.7/32 eth0:flipop`. Those that it had from the start are left out. */
  async addresses(place: "a" | "b", on: string = "eth0"): Promise<readonly string[]> {
    const infos: readonly { readonly local: string; readonly prefixlen: number; readonly label?: string }[] =
      JSON.parse(await this.ip(place, `-json address show dev ${on}`)).flatMap(
        ({ addr_info }: { readonly addr_info: unknown }) => addr_info,
      );
    return infos
      .filter(({ local }) => local !== FOUR[place] && local !== SIX[place] && !local.startsWith("fe80:"))
      .map(({ local, prefixlen, label }) => `${local}/${prefixlen} ${label ?? on}`)
      .toSorted();
  }

  /** Starts a program on a host. */
  start(place: "a" | "b", program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
    return new Program(this.#tools.ip, ["netns", "exec", this.#space(place), program, ...args], env);
  }

  /** The file by which a program enters the network of a place. */
  file(place: Place): string {
    return `/var/run/netns/${this.#space(place)}`;
  }

  #space(place: Place): string {
    return `${this.#name}-${place}`;
  }
}

/** A program that runs. */
export class Program {
  stderr = "";
  stdout = "";
  readonly ended: Promise<number | null>;
  readonly #kill: (signal: NodeJS.Signals) => void;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = spawn(command, args, { env: { PATH: process.env["PATH"], ...env } });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.ended = new Promise((resolve) => child.on("close", resolve));
    this.#kill = (signal) => void child.kill(signal);
  }

  /** Resolves once it has written this to stderr or stdout. */
  async says(text: string): Promise<void> {
    await vi.waitUntil(() => this.stderr.includes(text) || this.stdout.includes(text), 60_000);
  }

  /** Ends it, and returns its exit code; null when the signal ended it. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#kill(signal);
    return await this.ended;
  }
}

/** A cluster with one node, on the loopback of one host. */
export class HostCluster {
  readonly #lan: Lan;
  readonly #place: "a" | "b";
  readonly #folder: string;
  #sandbox: Program | undefined;

  constructor(lan: Lan, place: "a" | "b", folder: string) {
    this.#lan = lan;
    this.#place = place;
    this.#folder = folder;
  }

  /** Starts it, with a node of the name `worker-1` and no annotation. */
  async up(): Promise<void> {
    const made = this.#lan.start(this.#place, FLIPOP, [`--sandbox=${this.#folder}`, "status"]);
    await made.ended;
    const [first = ""] = this.#nodes().split("\n---\n");
    writeFileSync(this.#file, `${first}\n`);
    this.#sandbox = this.#lan.start(this.#place, FLIPOP, ["sandbox", this.#folder, "-o", "json"]);
    await this.#sandbox.says("until it is interrupted");
  }

  async down(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#sandbox?.end(signal);
  }

  /** Writes the annotation, or removes it. */
  annotate(text: string | undefined): void {
    const bare = this.#nodes().replace(/\n {2}annotations: .*/, "");
    const line =
      text === undefined ? "" : `\n  annotations: { flipop.digitalocean.com/host-addresses: ${JSON.stringify(text)} }`;
    writeFileSync(
      this.#file,
      bare.replace(/\n {2}name: worker-1/, (name) => `${name}${line}`),
    );
  }

  /** The kubeconfig, which is good on the host alone. */
  get kubeconfig(): string {
    return JSON.parse(this.#sandbox?.stdout ?? "{}").environment.KUBECONFIG;
  }

  /** Starts `flipop host` for the node. */
  host(...args: readonly string[]): Program {
    const env = { KUBECONFIG: this.kubeconfig };
    return this.#lan.start(this.#place, FLIPOP, ["host", "--node-name", "worker-1", ...args], env);
  }

  get #file(): string {
    return `${this.#folder}/nodes.yaml`;
  }

  #nodes(): string {
    return readFileSync(this.#file, "utf8");
  }
}
