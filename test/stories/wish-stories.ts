import type { Story } from "./story.ts";
import { added, cordoned, object, replaced } from "./story-edits.ts";
import type { StoryWorld } from "./story-world.ts";

const MINUTE_MS = 60_000;

/** What people ask for, and what they are about to do. */
export const WISH_STORIES: readonly Story[] = [
  {
    title: "05 one name, two objects",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit("Somebody makes a record set that asks for www.example.com, too.", "dns.yaml", added(SITE));
      await world.run("plan");
      await world.run("explain dns/shop/site");
    },
    told: {
      "which of the two was there first, by which rule, and what to do":
        "It is owned by pool ingress/web, which is older. Remove it from one of the two objects.",
      "the same in explain": /! name-owner +Another object owns it: owned by pool ingress\/web, which is older\./,
      "what the name shows all the same": "www.example.com shows 203.0.113.10, 203.0.113.11, 203.0.113.12.",
    },
  },
  {
    title: "06 wrong label selector",
    play: async (world) => {
      world.edit(
        "Somebody writes app=wbe for app=web.",
        "pools.yaml",
        replaced("podLabel: app=web", "podLabel: app=wbe"),
      );
      await world.run("plan pool/ingress/web");
      await world.run("reconcile pool/ingress/web");
      await world.run("explain pool/ingress/web --no-history");
      expectRecords(world, ["203.0.113.10", "203.0.113.11", "203.0.113.12"]);
    },
    told: {
      "that it selects no pod at all": "podLabel app=wbe selects no pod that runs in namespace ingress.",
      "that nothing is taken away for it": "! what serves stays",
      "that a person is waited for": "(exit code 3)",
      "which one selects, and how many": "app=web selects 7 pods, 6 of them ready",
      "how to correct it": `-p '{"spec":{"match":{"podLabel":"app=web"}}}'`,
    },
    untold: { "that annotations go": /clear(ed)? the annotation|annotations? (to clear|cleared)/ },
  },
  {
    title: "12 RoutedIP and firewall",
    play: async (world) => {
      world.edit("A Service gets an address of its own, and a name.", "routed-ips.yaml", (text) =>
        object("web", (routedIP) =>
          routedIP.setIn(["spec", "dnsRecordSet"], {
            provider: "digitalocean",
            zone: "example.com",
            recordName: "mail",
          }),
        )(text.replace(/\n#\n# metadata:[\s\S]*$/, (example) => example.replaceAll(/\n# ?/g, "\n"))),
      );
      const plan = await world.run("plan");
      const reconcile = await world.run("reconcile");
      const [planned, done] = [changesIn(plan.stdout), changesIn(reconcile.stdout)];
      if (planned.length !== 3 || planned.join("\n") !== done.join("\n"))
        throw new Error(`planned: ${planned.join("; ")}, done: ${done.join("; ")}`);
    },
    told: {
      "what is opened": "+ open tcp/30443 on firewall web",
      "that the name follows in the same run": "+ update DNS mail.example.com at digitalocean\n      + 203.0.113.99",
      "that it did": "+ updated DNS mail.example.com at digitalocean (0.0 s)\n      + 203.0.113.99",
    },
    untold: { "that nothing is published": "No address serves now" },
  },
  {
    title: "14 planned maintenance",
    play: async (world) => {
      await world.run("simulate --drain worker-1 --expect no-outage");
      const { exitCode } = await world.quietly("plan --detailed-exitcode");
      if (exitCode !== 0) throw new Error("to simulate has changed something");
    },
    told: {
      "what would move, where to, and when": /t\+00:30 {2}\+ assign 203\.0\.113\.10 to worker-5/,
      "what clients get meanwhile": "www.example.com: 1 of 3 addresses answers nobody for 10 s in all.",
      "whether a spare node is left": "pool/ingress/web has no spare node in the end.",
      "that no name is without service": "Expected no outage: so it is.",
    },
  },
  {
    title: "15 upgrade of all nodes",
    play: async (world) => {
      await world.run("simulate --rolling-upgrade topology.kubernetes.io/region=nyc3 --surge 1");
      for (const node of ["worker-1", "worker-2", "worker-3"])
        world.edit(`kubectl cordon ${node}`, "nodes.yaml", cordoned(node, world.nowMs()));
      await world.run("plan pool/ingress/web");
      await world.quietly("reconcile");
      expectRecords(world, ["203.0.113.11", "203.0.113.12"]);
    },
    told: {
      "that every name keeps service": "nodes.example.net and www.example.com always have service.",
      "that all of them are cordoned": "4 cordoned (worker-1, worker-2, worker-3 and 1 more)",
      "that one address leaves the name, and two stay": "      - 203.0.113.10\n      = 203.0.113.11 and 203.0.113.12\n",
      "that cordoned nodes still serve": ". 203.0.113.10: stays where it serves",
      "whom it hurts": /^Impact: relocation\. .*still serves?/m,
    },
    untold: { "that addresses leave at once": /^ {2}(> move|- unassign)/m },
  },
];

const SITE = {
  metadata: { name: "site", namespace: "shop", creationTimestamp: "2026-02-03T08:00:30Z" },
  spec: {
    provider: "digitalocean",
    addressType: "ExternalIP",
    dnsRecordSet: { zone: "example.com", recordName: "www" },
    match: { podNamespace: "ingress", podLabel: "app=web" },
  },
};

/** @throws Error when www.example.com shows other addresses */
function expectRecords(world: StoryWorld, wanted: readonly string[]): void {
  const records = world.read("digitalocean.yaml").matchAll(/name: www\n\s+data: (\S+)/g);
  const shown = [...records].map(([, ip = ""]) => ip).toSorted();
  if (shown.join(" ") !== wanted.join(" ")) throw new Error(`www.example.com shows ${shown.join(" ")}`);
}

/** What was opened, added and published, in order: the same of a plan and of the run that carries it out. */
function changesIn(text: string): readonly string[] {
  const lines = text.matchAll(/^ {2}[+~>-] (?:open|opened|add|added|update|updated) (.*?)(?: \(\d+\.\d s\))?$/gm);
  return [...lines].map(([, what = ""]) => what);
}
