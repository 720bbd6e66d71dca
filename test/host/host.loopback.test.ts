// `flipop host` on two hosts of one link, each in a network namespace, with a peer that pings across.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FLIPOP } from "../programs/entry.ts";
import { HostCluster, Lan, lanTools, type Program } from "./lan.ts";

const IP = "203.0.113.7";
const OTHER = "203.0.113.8";
const V6 = "2001:db8::7";
const OWN = `${IP}/32 eth0:flipop`;

const tools = await lanTools();

describe.skipIf(tools === undefined)("flipop host", () => {
  const lan = new Lan(tools ?? { ip: "", ping: "" });
  const folder = mkdtempSync(join(tmpdir(), "flipop-host-"));
  const clusters = { a: new HostCluster(lan, "a", join(folder, "a")), b: new HostCluster(lan, "b", join(folder, "b")) };
  const running: Program[] = [];

  beforeAll(async () => {
    await lan.up();
    await Promise.all([clusters.a.up(), clusters.b.up()]);
  });
  afterAll(async () => {
    await clusters.a.down();
    await clusters.b.down();
    await lan.down();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    clusters.a.annotate(undefined);
    clusters.b.annotate(undefined);
  });
  afterEach(async () => {
    for (const program of running.splice(0)) await program.end("SIGKILL");
    for (const place of ["a", "b"] as const) {
      await lan.ip(place, "address flush dev eth0 to 203.0.113.0/24");
      await lan.ip(place, "-6 address flush dev eth0 to 2001:db8::/64");
    }
    await lan.ip("peer", "neighbour flush all");
  });

  /** Starts `flipop host`, and ends it after the test. */
  function host(place: "a" | "b", ...args: readonly string[]): Program {
    const program = clusters[place].host(...args);
    running.push(program);
    return program;
  }

  /** Waits until the addresses on a host are these. */
  async function has(place: "a" | "b", ...addresses: readonly string[]): Promise<void> {
    await expect.poll(() => lan.addresses(place)).toEqual(addresses);
  }

  /** Waits until the peer gets an answer from an address: a host has the address a moment before its neighbours are told. */
  async function answers(address: string): Promise<void> {
    await expect.poll(() => lan.isAnswered(address)).toBe(true);
  }

  test("adds an address that then answers, and removes it when the annotation goes", async () => {
    expect(await lan.isAnswered(IP)).toBe(false);
    const agent = host("a");
    await agent.says("keeps the addresses of worker-1");
    clusters.a.annotate(IP);
    await has("a", OWN);
    await answers(IP);
    clusters.a.annotate(`${IP},${OTHER}`);
    await has("a", OWN, `${OTHER}/32 eth0:flipop`);
    await answers(OTHER);
    clusters.a.annotate(OTHER);
    await has("a", `${OTHER}/32 eth0:flipop`);
    expect(await lan.isAnswered(IP)).toBe(false);
    clusters.a.annotate(undefined);
    await has("a");
    expect(agent.stderr).toContain(`added ${IP}/32 on eth0`);
    expect(agent.stderr).toContain(`removed ${IP}/32 on eth0`);
  });

  test("adds an IPv6 address that answers at once, and that the host does not use by itself", async () => {
    host("a");
    clusters.a.annotate(`${V6},${IP}`);
    await has("a", `${V6}/128 eth0`, OWN);
    await answers(V6);
    const [{ addr_info: infos }] = JSON.parse(await lan.ip("a", "-json -6 address show dev eth0"));
    const info = infos.find(({ local }: { readonly local: string }) => local === V6);
    expect(info).toMatchObject({ nodad: true, deprecated: true });
    expect(info.tentative).toBeUndefined();
    expect(await lan.ip("a", "-6 route get fd77::1")).toContain("src fd77::2");
    clusters.a.annotate(undefined);
    await has("a");
    expect(await lan.isAnswered(V6)).toBe(false);
  });

  test.for([IP, V6])(
    "an address that goes to another host is found there at once by a peer that knew it here: %s",
    async (address) => {
      host("a");
      host("b");
      clusters.a.annotate(address);
      await expect.poll(() => lan.addresses("a")).toHaveLength(1);
      await answers(address);
      expect(await lan.knownAt(address)).toBe("a");
      // The cloud has moved it, and the host that had it is dead to its cluster: it still has the address, and still answers for it.
      clusters.b.annotate(address);
      await expect.poll(() => lan.addresses("b")).toHaveLength(1);
      await expect.poll(() => lan.knownAt(address)).toBe("b");
      await answers(address);
      clusters.a.annotate(undefined);
      await has("a");
      await answers(address);
      expect(await lan.knownAt(address)).toBe("b");
      // Nothing is left of what told the neighbours.
      for (const place of ["a", "b"] as const) expect(await lan.ip(place, "route show")).not.toContain("192.0.2");
    },
  );

  test("leaves alone what it did not add, also where the annotation asks for it, and says so once", async () => {
    await lan.ip("a", `address add ${IP}/32 dev eth0`);
    await lan.ip("a", `address add ${OTHER}/32 dev eth0 label eth0:flipop`);
    clusters.a.annotate(IP);
    const agent = host("a");
    await agent.says(`${IP}/32 on eth0 was there already, not from flipop`);
    await has("a", `${IP}/32 eth0`, `${OTHER}/32 eth0:flipop`);
    await answers(IP);
    clusters.a.annotate("203.0.113.9");
    await has("a", `${IP}/32 eth0`, `${OTHER}/32 eth0:flipop`, "203.0.113.9/32 eth0:flipop");
    expect(await clusters.a.host("--remove", "--once").ended).toBe(0);
    await has("a", `${IP}/32 eth0`, `${OTHER}/32 eth0:flipop`);
    expect(agent.stderr.match(/was there already/g)).toHaveLength(1);
  });

  test("killed and started again it knows its own, and goes by what the node asks for by then", async () => {
    const first = host("a");
    clusters.a.annotate(`${IP},${V6}`);
    await has("a", `${V6}/128 eth0`, OWN);
    await first.end("SIGKILL");
    await answers(IP);
    clusters.a.annotate(OTHER);
    const second = host("a");
    await has("a", `${OTHER}/32 eth0:flipop`);
    expect(second.stderr).not.toContain("was there already");
  });

  test("clears the route of an announcement during which it was killed, and no other", async () => {
    await lan.ip("a", "route add 192.0.2.7/32 dev eth0 proto 76 metric 1718380912 scope link");
    await lan.ip("a", "route add 192.0.2.8/32 dev eth0 proto 76 scope link");
    await host("a").says("keeps the addresses");
    await expect.poll(() => lan.ip("a", "route show")).not.toContain("192.0.2.7");
    expect(await lan.ip("a", "route show")).toContain("192.0.2.8");
    await lan.ip("a", "route delete 192.0.2.8/32 dev eth0");
  });

  test("asked to end it leaves the addresses, which go on answering", async () => {
    const agent = host("a");
    clusters.a.annotate(IP);
    await has("a", OWN);
    expect(await agent.end("SIGTERM")).toBe(143);
    expect(agent.stderr).toContain("stopped; addresses stay where they are");
    await has("a", OWN);
    await answers(IP);
  });

  test("with --remove it takes away what it added, needs no cluster for it, and stays until it is ended", async () => {
    clusters.a.annotate(`${IP},${V6}`);
    expect(await clusters.a.host("--once").ended).toBe(0);
    await has("a", `${V6}/128 eth0`, OWN);
    const remover = lan.start("a", FLIPOP, ["host", "--remove"]);
    running.push(remover);
    await has("a");
    expect(await lan.isAnswered(IP)).toBe(false);
    expect(remover.stderr).toContain(`removed ${V6}/128 on eth0`);
    expect(await remover.end()).toBe(143);
  });

  test("puts back what another program took away", async () => {
    host("a");
    clusters.a.annotate(IP);
    await has("a", OWN);
    await lan.ip("a", `address delete ${IP}/32 dev eth0`);
    await has("a", OWN);
    await answers(IP);
  });

  test("uses the interface that is named, also one whose name leaves no room for a label", async () => {
    const long = "enp0s31f6np0123";
    await lan.ip("a", `link add ${long} type veth peer name rest`);
    await lan.ip("a", `link set ${long} up`);
    clusters.a.annotate(IP);
    expect(await clusters.a.host("--once").ended).toBe(0);
    await has("a", OWN);
    expect(await clusters.a.host("--once", "--interface", long).ended).toBe(0);
    await has("a");
    expect(await lan.addresses("a", long)).toEqual([`${IP}/32 ${long}`]);
    expect(await clusters.a.host("--remove", "--once").ended).toBe(0);
    expect(await lan.addresses("a", long)).toEqual([]);
    await lan.ip("a", `link delete ${long}`);
  });

  test("passes rubbish over, says so once, and serves the rest", async () => {
    clusters.a.annotate(`rubbish,127.0.0.1,${IP}`);
    const agent = host("a");
    await has("a", OWN);
    await agent.says("the node asks for rubbish, which is passed over: it is no IP address");
    await agent.says("the node asks for 127.0.0.1, which is passed over: it is the host itself");
    await lan.ip("a", `address delete ${IP}/32 dev eth0`);
    await has("a", OWN);
    expect(agent.stderr.match(/rubbish/g)).toHaveLength(1);
  });

  test("keeps the addresses while the cluster is away", async () => {
    const agent = host("a");
    clusters.a.annotate(IP);
    await has("a", OWN);
    await clusters.a.down("SIGKILL");
    await agent.says("The cluster cannot be read; the host keeps the addresses that it has");
    await has("a", OWN);
    await clusters.a.up();
    await answers(IP);
  });

  test("says with --dry-run what it would change, and changes nothing", async () => {
    clusters.a.annotate(`${IP},rubbish`);
    const dry = clusters.a.host("--dry-run");
    expect(await dry.ended).toBe(0);
    expect(dry.stdout).toBe(`+ add ${IP}/32 on eth0\n! rubbish is passed over: it is no IP address\n`);
    await has("a");
    expect(await clusters.a.host("--once").ended).toBe(0);
    const again = clusters.a.host("--dry-run");
    await again.ended;
    expect(again.stdout).toContain(`= ${IP}/32 on eth0\n`);
    const idle = clusters.a.host("--once");
    expect(await idle.ended).toBe(0);
    expect(idle.stderr).toContain("passed over");
    const removal = lan.start("a", FLIPOP, ["host", "--remove", "--dry-run"]);
    await removal.ended;
    expect(removal.stdout).toBe(`- remove ${IP}/32 on eth0\n`);
    await has("a", OWN);
  });

  test("ends with 77 without the capability, and says which interface is not there", async () => {
    clusters.a.annotate(IP);
    const bare = lan.start("a", "setpriv", ["--bounding-set", "-net_admin", FLIPOP, "host", "--remove"]);
    expect(await bare.ended).toBe(77);
    expect(bare.stderr).toContain("the capability NET_ADMIN is missing");
    const named = clusters.a.host("--once", "--interface", "nothere");
    expect(await named.ended).toBe(1);
    expect(named.stderr).toContain(`${IP} cannot be added: there is no interface nothere; there are lo, eth0`);
    await has("a");
  });
});
