import type { Story } from "./story.ts";
import { added, cordoned, object, ready, replaced, uncordoned } from "./story-edits.ts";

const MINUTE_MS = 60_000;

/** What happens to nodes, and where addresses go then. */
export const NODE_STORIES: readonly Story[] = [
  {
    title: "02 a node dies",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit("20 seconds ago worker-1 died.", "nodes.yaml", ready("worker-1", false, world.nowMs() - 20_000));
      await world.run("status");
      await world.run("simulate");
      await world.run("reconcile");
      world.pass(MINUTE_MS);
      world.say("A minute later:");
      await world.run("history ip/203.0.113.10");
    },
    told: {
      "since when it is dead, before any run has seen it": /203\.0\.113\.10 .* worker-1 \(not ready 20s\)/,
      "that no run has seen it, and who says what the next one does":
        /! 203\.0\.113\.10 is active by status on a node that cannot serve: worker-1 \(not ready 20s\)\.\n +The last run was 1m ago\. flipop plan shows/,
      "that clients suffer now, and how long": "www.example.com: 1 of 3 addresses answers nobody for 10 s in all.",
      "that they are served all the same": "nodes.example.net and www.example.com always have service.",
      "what was done": "> moved 203.0.113.10 from worker-1 to worker-5 (0.0 s)",
      "what was done, later": /08:01:00 .* > moved 203\.0\.113\.10 from worker-1 to worker-5/,
    },
  },
  {
    title: "03 nobody can take it",
    play: async (world) => {
      world.pass(MINUTE_MS);
      const hourAgoMs = world.nowMs() - 60 * MINUTE_MS;
      for (const node of ["worker-4", "worker-5"])
        world.edit(`An hour ago ${node} died.`, "nodes.yaml", ready(node, false, hourAgoMs));
      world.edit("Now worker-1 dies, too.", "nodes.yaml", ready("worker-1", false, world.nowMs()));
      await world.run("plan pool/ingress/web");
      await world.run("explain ip/203.0.113.10");
      world.edit("So somebody does: kubectl uncordon worker-6", "nodes.yaml", uncordoned("worker-6"));
      await world.run("reconcile pool/ingress/web");
    },
    told: {
      "that it waits": ". 203.0.113.10: waits for a node",
      "which single change would end it": "Smallest change: 1 fact (6 plans tried)\n  1 kubectl uncordon worker-6\n",
      "that it did": "> moved 203.0.113.10 from worker-1 to worker-6",
    },
  },
  {
    title: "07 taint, cordon",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit("kubectl cordon worker-1", "nodes.yaml", cordoned("worker-1", world.nowMs()));
      await world.run("plan pool/ingress/web");
      await world.run("explain node/worker-1 --in pool/ingress/web");
    },
    told: {
      "the word cordoned": "2 cordoned (worker-1 and worker-6)",
      "since when": /! taints +cordoned since 08:01:00 UTC/,
      "that the node still serves": ". 203.0.113.10: stays where it serves",
      "whom it hurts": /^Impact: relocation\. .*still serves?/m,
      "what would end it": "  1 kubectl uncordon worker-1\n",
    },
    untold: { "that an uncordon takes others out of the name": "(-203.0.113.11 -203.0.113.12" },
  },
  {
    title: "08 grace, cool-off",
    play: async (world) => {
      world.edit("The pool has 50 minutes between assignments, and 2 minutes of grace.", "pools.yaml", (text) =>
        object("web", (pool) => {
          pool.setIn(["spec", "assignmentCoolOffSeconds"], 3000);
          pool.setIn(["spec", "gracePeriodSeconds"], 120);
        })(text),
      );
      world.pass(MINUTE_MS);
      world.edit("worker-1 dies.", "nodes.yaml", ready("worker-1", false, world.nowMs()));
      await world.quietly("reconcile");
      await world.run("status pool/ingress/web");
      world.pass(3 * MINUTE_MS);
      world.say("Three minutes later:");
      await world.quietly("reconcile");
      await world.run("status pool/ingress/web");
    },
    told: {
      "that it has grace, and until when": /203\.0\.113\.10 .*Grace.* until 08:03:00 UTC \(in 2m\)/,
      "that it cools off, until when, and what follows then":
        "CoolOff until 08:50:00 UTC (in 46m): worker-5 gets 203.0.113.10 then.",
    },
  },
  {
    title: "11 two pools, one node",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit("A younger pool asks for 203.0.113.99, which is free.", "pools.yaml", added(API_POOL));
      world.edit("", "digitalocean.yaml", replaced(/(ip: 203\.0\.113\.99\n.*\n\s+droplet_id: )1004/, "$1null"));
      world.edit("worker-4 dies.", "nodes.yaml", ready("worker-4", false, world.nowMs()));
      world.edit("worker-1 dies. Only worker-5 is free now.", "nodes.yaml", ready("worker-1", false, world.nowMs()));
      await world.run("plan pool/ingress/api pool/ingress/web");
    },
    told: {
      "who gets the node": "> move 203.0.113.10 from worker-1 to worker-5",
      "that it is promised only": "1 promised to another object (worker-5)",
    },
  },
  {
    title: "16 why is X not on Y",
    play: async (world) => {
      await world.run("plan ip/203.0.113.10 node/worker-6");
      await world.run("explain ip/203.0.113.10 node/worker-6");
      await world.run("plan ip/203.0.113.99");
      await world.run("explain ip/203.0.113.99");
    },
    told: {
      "who answers the question":
        "flipop explain ip/203.0.113.10 node/worker-6 says why the address is on the node, or is not.",
      "each gate": /! stays +worker-1 matches, and an address never leaves a node that matches/,
      "since when a gate is shut": /! taints +cordoned since 2026-01-06 09:30:00 UTC/,
      "whose turn it is": /! turn +worker-5 comes first/,
      "the smallest change": "Smallest change: 2 facts",
      "that nobody asks for the other one": "No object has to do with ip/203.0.113.99.",
      "where the other one is": "digitalocean has 203.0.113.99 on worker-4 (machine 1004).",
    },
    untold: { "to create what is there": "Create a FloatingIPPool" },
  },
];

const API_POOL = {
  metadata: { name: "api", namespace: "ingress", creationTimestamp: "2026-02-03T08:00:30Z" },
  spec: {
    provider: "digitalocean",
    ips: ["203.0.113.99"],
    match: { podNamespace: "ingress", podLabel: "app=web" },
  },
};
