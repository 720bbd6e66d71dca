import { expect } from "vitest";
import { RULE_MARK } from "../../src/adapters/hetzner/firewall-answers.ts";
import { FIREWALL_LABEL } from "../../src/model/firewall.ts";
import type { RuleState } from "../../src/sandbox/hetzner/project-state.ts";
import { WWW, www } from "./dns-scene.ts";
import { HetznerCloud } from "./hetzner-cloud.ts";
import { routedScene } from "./routed-ip-scenarios.ts";
import type { Register } from "./scenario.ts";
import { bought, dropletOf, ip } from "./scenario-names.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;

/** The project of the world. */
function projectOf({ cloud }: World): HetznerCloud {
  if (cloud instanceof HetznerCloud) return cloud;
  throw new Error("the addresses of this world are elsewhere");
}

/** Two nodes, and a RoutedIP whose address is on n1. */
async function served(world: World, issuer: Readonly<Record<string, unknown>> = {}): Promise<HetznerCloud> {
  await routedScene(world, ["n1", "n2"], issuer);
  await world.routedIPs.create("vip", {});
  await world.pass();
  expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
  return projectOf(world);
}

/** Takes a node's server from the firewall that it is behind from the beginning. */
function bare(project: HetznerCloud, node: string): void {
  project.base.servers = project.base.servers.filter((server) => server !== dropletOf(node));
}

async function condition(world: World, type: "Ready" | "Reconciling" | "Stalled"): Promise<string> {
  const { conditions } = await world.routedIPs.status("vip");
  const found = conditions.find((one) => one.type === type);
  return `${found?.status} ${found?.reason}`;
}

async function message(world: World, type: "Ready" | "Stalled" | "Reconciling"): Promise<string> {
  const { conditions } = await world.routedIPs.status("vip");
  return conditions.find((one) => one.type === type)?.message ?? "";
}

/** Passes that write nothing. */
async function passIdly(world: World): Promise<void> {
  await world.pass();
  expect(world.cloudWrites()).toEqual([]);
}

const FAILOVER = ["add n2 to web", "assign new1 to n2", "remove n1 from web"];

/** What becomes of things right before n2 is put behind the firewall, and what is done then. */
const MEANWHILE: readonly (readonly [string, (project: HetznerCloud) => void, readonly string[]])[] = [
  [
    "the server has lost its other firewall",
    (project) => bare(project, "n2"),
    ["assign new1 to n2", "remove n1 from web"],
  ],
  [
    "its other firewall is being put there",
    (project) => {
      project.base.failed = [dropletOf("n2")];
    },
    ["add n3 to web", "assign new1 to n3", "remove n1 from web"],
  ],
  [
    "it is behind five others",
    (project) => {
      for (const name of ["b", "c", "d", "e"]) project.firewall(name, { nodes: ["n2"] });
    },
    ["add n2 to web", "add n3 to web", "assign new1 to n3", "remove n1 from web"],
  ],
];

const SSH: RuleState = {
  direction: "in",
  protocol: "tcp",
  port: "22",
  source_ips: ["192.0.2.0/24", "2001:db8::/32"],
  destination_ips: [],
  description: "the office",
};

/** A RoutedIP whose firewall is replaced as a whole. */
export function hetznerFirewallScenarios(scenario: Register): void {
  scenario(
    "a deleted RoutedIP keeps its ports while a pool has its address in a name, and a person is told",
    async (world) => {
      await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
      world.dns.zone("digitalocean");
      await world.routedIPs.create("vip", { dnsRecordSet: www("digitalocean") });
      await world.pass();
      await world.pools.create("heir", { ips: [bought(1)], dnsRecordSet: www("digitalocean") });
      await world.routedIPs.delete("vip");
      for (let pass = 0; pass < 4; pass += 1) {
        await world.pass();
        world.advance(MINUTE_MS);
      }
      await passIdly(world);
      expect(world.writes()).toEqual([]);
      expect(world.dns.set("digitalocean", WWW)).toEqual(["new1"]);
      expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
      expect(await condition(world, "Stalled")).toBe("True PortsInUse");
      expect(await message(world, "Stalled")).toContain(`${bought(1)} on n1. Take the node out of the firewall`);
      await world.pools.edit("heir", { dnsRecordSet: null });
      for (let pass = 0; pass < 4; pass += 1) {
        await world.pass();
        world.advance(MINUTE_MS);
      }
      expect(await world.routedIPs.existing()).toEqual([]);
      expect(world.cloud.showFirewall()).toBe("|");
      await world.pass();
      expect(world.writes()).toEqual([]);
    },
  );

  scenario(
    "a firewall without the label is refused before anything is asked, and used once it has it",
    async (world) => {
      await routedScene(world, ["n1"]);
      const project = projectOf(world);
      project.firewall("web", { labels: { [FIREWALL_LABEL]: "false" } });
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloudWrites()).toEqual([]);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        expect.stringContaining("False"),
        "True FirewallNotOwned",
      ]);
      expect(await message(world, "Stalled")).toContain(`web has no label ${FIREWALL_LABEL}=true`);
      project.firewallState().labels = { [FIREWALL_LABEL]: "true" };
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
    },
  );

  scenario("without the label any more nothing is added or removed, and what serves goes on", async (world) => {
    const project = await served(world);
    project.firewallState().labels = {};
    await world.routedIPs.setPorts([30443]);
    await passIdly(world);
    expect(await condition(world, "Stalled")).toBe("True FirewallNotOwned");
    expect(await world.showRouted()).toEqual(["new1 active n1"]);
    project.firewallState().labels = { [FIREWALL_LABEL]: "true" };
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30443 on web", "close tcp/30080 on web"]);
  });

  scenario("a RoutedIP that is deleted without the label waits for it, and says so", async (world) => {
    const project = await served(world, { routedIPReclaimPolicy: "Delete" });
    project.firewallState().labels = {};
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n1");
    const { plan } = await world.pass();
    expect(plan.holds).toContainEqual(expect.objectContaining({ kind: "close-ports", reason: "FirewallNotOwned" }));
    expect(await world.routedIPs.existing()).toEqual(["vip"]);
    project.firewallState().labels = { [FIREWALL_LABEL]: "true" };
    for (let pass = 0; pass < 3; pass += 1) {
      world.advance(MINUTE_MS);
      await world.pass();
    }
    expect([await world.routedIPs.existing(), world.cloud.showFirewall()]).toEqual([[], "|"]);
  });

  scenario(
    "rules that a person made are written again as they were, whatever flipop opens and closes",
    async (world) => {
      await routedScene(world, ["n1"]);
      const project = projectOf(world);
      const gre: RuleState = { ...SSH, protocol: "gre", port: null, description: null };
      project.firewallState().rules = [SSH, gre];
      await world.routedIPs.create("vip", {});
      await world.pass();
      await world.routedIPs.setPorts([30443]);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30443 on web", "close tcp/30080 on web"]);
      const opened = { ...SSH, port: "30443", source_ips: ["0.0.0.0/0", "::/0"], description: RULE_MARK };
      expect(project.firewallState().rules).toEqual([SSH, gre, opened]);
    },
  );

  scenario("rules that a person replaces, and a server that one detaches, are put right", async (world) => {
    const project = await served(world);
    project.firewallState().rules = [SSH];
    project.firewallState().servers = [];
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web"]);
    expect(project.firewallState().rules.map(({ port }) => port)).toEqual(["22", "30080"]);
  });

  scenario("a rule without flipop's description is somebody else's: it serves, and is never removed", async (world) => {
    await routedScene(world, ["n1"], { routedIPReclaimPolicy: "Delete" });
    world.cloud.firewall("web", { open: ["tcp/30080"] });
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n1 to web", "create for n1"]);
    await world.routedIPs.delete("vip");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["remove n1 from web", "unassign new1", "delete new1"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 |");
  });

  scenario(
    "a server behind no firewall gets the address and is not put behind its first one; behind another it is",
    async (world) => {
      await routedScene(world, ["n1"]);
      const project = projectOf(world);
      bare(project, "n1");
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "create for n1"]);
      expect(await world.showRouted()).toEqual(["new1 active n1"]);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        "True Ready",
        "True NodeWithoutFirewall",
      ]);
      await passIdly(world);
      project.base.servers = [dropletOf("n1")];
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n1 to web"]);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        "True Ready",
        "False NotStalled",
      ]);
    },
  );

  scenario("a failover to a server behind no firewall is not held up", async (world) => {
    const project = await served(world);
    bare(project, "n2");
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n2", "remove n1 from web"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 |");
    expect(await condition(world, "Stalled")).toBe("True NodeWithoutFirewall");
  });

  for (const [what, change, after] of MEANWHILE)
    scenario(`what a change of the firewall meets is no failure: ${what}`, async (world) => {
      const project = await served(world);
      await world.pods.create("web-n3", { node: "n3", labels: { app: "web" } });
      await world.machines("n3");
      let isOver = false;
      world.before("addMachines", async () => {
        if (!isOver) change(project);
        isOver = true;
      });
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(isOver).toBe(true);
      expect(world.cloudWrites()).toEqual(after);
      expect((await world.routedIPs.status("vip")).retries).toEqual([]);
      expect(await condition(world, "Ready")).toBe("True Ready");
    });

  scenario(
    "a firewall that loses its label before a port is opened there is left alone, and nothing has failed",
    async (world) => {
      const project = await served(world);
      await world.routedIPs.setPorts([30443]);
      world.before("openPorts", async () => {
        project.firewallState().labels = {};
      });
      await world.pass();
      expect(await condition(world, "Stalled")).toBe("True FirewallNotOwned");
      expect((await world.routedIPs.status("vip")).retries).toEqual([]);
      await passIdly(world);
      project.firewallState().labels = { [FIREWALL_LABEL]: "true" };
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30443 on web", "close tcp/30080 on web"]);
    },
  );

  scenario("a server without a public interface is no exception: no firewall can be put there", async (world) => {
    const project = await served(world);
    bare(project, "n2");
    project.server("n2").ipv4 = null;
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign new1 to n2", "remove n1 from web"]);
  });

  scenario(
    "a server whose other firewall is not in force yet is passed over; alone it is waited for",
    async (world) => {
      await routedScene(world, ["n1", "n2", "n3"]);
      await world.routedIPs.create("vip", {});
      await world.pass();
      const project = projectOf(world);
      project.base.failed = [dropletOf("n2")];
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n3 to web", "assign new1 to n3", "remove n1 from web"]);
      await world.pods.setReady("web-n3", false);
      await passIdly(world);
      expect(await message(world, "Reconciling")).toContain("no other firewall is in force there yet");
      project.base.failed = [];
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2", "remove n3 from web"]);
    },
    { onlySingleRuns: "a process that goes on looks again before the minute is over" },
  );

  scenario(
    "the last firewall of a server stays, which a person is told, and goes once there is another",
    async (world) => {
      const project = await served(world);
      bare(project, "n1");
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2"]);
      expect([await condition(world, "Ready"), await condition(world, "Stalled")]).toEqual([
        "True Ready",
        "True LastFirewall",
      ]);
      await passIdly(world);
      project.base.servers.push(dropletOf("n1"));
      await world.pass();
      expect(world.cloudWrites()).toEqual(["remove n1 from web"]);
      expect(await condition(world, "Stalled")).toBe("False NotStalled");
    },
  );

  scenario("a firewall with outgoing rules takes no other node, and serves where it is", async (world) => {
    const project = await served(world);
    project.firewallState().rules.push({ ...SSH, direction: "out", source_ips: [], destination_ips: ["0.0.0.0/0"] });
    await passIdly(world);
    await world.pods.setReady("web-n1", false);
    await passIdly(world);
    expect(await condition(world, "Stalled")).toBe("True FirewallNotOwned");
    expect(await message(world, "Stalled")).toContain("web has rules for outgoing traffic");
    project.firewallState().rules.pop();
    world.advance(MINUTE_MS);
    await world.pass();
    expect(world.cloudWrites()).toEqual(FAILOVER);
  });

  scenario("a server behind five firewalls is passed over for the next one", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    for (const name of ["b", "c", "d", "e"]) world.cloud.firewall(name, { nodes: ["n1"] });
    await world.routedIPs.create("vip", {});
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n2 to web", "create for n2"]);
  });

  scenario(
    "a firewall that something else works on (423) is tried again, and nothing is done twice",
    async (world) => {
      await routedScene(world, ["n1"]);
      const project = projectOf(world);
      project.firewallState().locked = true;
      await world.routedIPs.create("vip", {});
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web"]);
      expect(world.cloud.addresses()).toEqual({});
      delete project.firewallState().locked;
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web", "create for n1"]);
    },
    { onlySingleRuns: "a process that goes on tries again at once" },
  );

  for (const locks of [true, false])
    scenario(
      `changes that take 20 s each are waited for, ${locks ? "one after the other" : "though the firewall takes more"}`,
      async (world) => {
        const project = await served(world);
        project.settings.locks_firewalls = locks;
        project.settings.action_delay_ms = 20_000;
        await world.routedIPs.setPorts([30443]);
        await world.pods.setReady("web-n1", false);
        for (let passes = 0; passes < 8; passes += 1) {
          await world.pass();
          world.advance(MINUTE_MS);
        }
        expect(world.cloud.showFirewall()).toBe("tcp/30443 | n2");
        expect(await world.showRouted()).toEqual(["new1 active n2"]);
        expect(await condition(world, "Ready")).toBe("True Ready");
      },
    );

  scenario(
    "a server where a change ends in an error does not get the address, and its firewall is not believed there",
    async (world) => {
      const project = await served(world);
      project.settings.fail_next_actions = 1;
      await world.pods.setReady("web-n1", false);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["add n2 to web"]);
      expect(await world.showRouted()).toEqual(["new1 no-match n1 (NoCandidate)"]);
      // A later run knows no action any more: the server says that the change is pending.
      world.advance(MINUTE_MS);
      await passIdly(world);
      world.advance(6 * MINUTE_MS);
      await passIdly(world);
      expect(await condition(world, "Stalled")).toBe("True FirewallStuck");
      // A person takes it out and adds it again, as the advice says.
      project.firewallState().failed = [];
      world.advance(MINUTE_MS);
      await world.pass();
      expect(world.cloudWrites()).toEqual(["assign new1 to n2", "remove n1 from web"]);
    },
    { onlySingleRuns: "a process that goes on passes until nothing is in progress any more" },
  );

  scenario("a firewall that is deleted is missed, and one of the same name is filled again", async (world) => {
    const project = await served(world);
    project.removeFirewall();
    await passIdly(world);
    expect(await condition(world, "Stalled")).toBe("True FirewallNotFound");
    world.cloud.firewall("web");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "add n1 to web"]);
  });

  scenario("a server that is deleted leaves the firewall by itself, and the address moves on", async (world) => {
    await served(world);
    world.cloud.removeDroplet("n1");
    await world.nodes.delete("n1");
    await world.pass();
    expect(world.cloudWrites()).toEqual(["add n2 to web", "assign new1 to n2"]);
    expect(world.cloud.showFirewall()).toBe("tcp/30080 | n2");
  });

  scenario(
    "Delete closes the port and takes the node out, while other rules and the other firewall stay",
    async (world) => {
      const project = await served(world, { routedIPReclaimPolicy: "Delete" });
      project.firewallState().rules.unshift(SSH);
      await world.routedIPs.delete("vip");
      await world.pass();
      expect(world.cloudWrites()).toEqual([
        "close tcp/30080 on web",
        "remove n1 from web",
        "unassign new1",
        "delete new1",
      ]);
      expect(project.firewallState().rules).toEqual([SSH]);
      expect(project.base.servers).toEqual([dropletOf("n1"), dropletOf("n2")]);
    },
  );

  scenario("a node that a label selector of the firewall covers is neither added nor taken out", async (world) => {
    await routedScene(world, ["n1", "n2"]);
    world.cloud.firewall("web", { tags: ["edge"] });
    for (const droplet of world.cloud.state.droplets) droplet.tags = ["edge"];
    world.cloud.address(ip(1));
    await world.routedIPs.create("vip", { address: ip(1) });
    await world.pass();
    expect(world.cloudWrites()).toEqual(["open tcp/30080 on web", "assign ip1 to n1"]);
    await world.pods.setReady("web-n1", false);
    await world.pass();
    expect(world.cloudWrites()).toEqual(["assign ip1 to n2"]);
  });
}
