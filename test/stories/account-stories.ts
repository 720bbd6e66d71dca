import type { Story } from "./story.ts";
import { failing, object, ready, replaced } from "./story-edits.ts";

const MINUTE_MS = 60_000;
const FORBIDDEN = { status: 403, times: 0, body: { id: "forbidden", message: "not allowed" } };

/** What accounts, tokens and permissions lack. */
export const ACCOUNT_STORIES: readonly Story[] = [
  {
    title: "01 first install",
    play: async (world) => {
      await world.elsewhere("plan", { HOME: "/nonexistent" });
      world.edit(
        "There is a cluster. Its administrator gave nothing away, and the token is narrow.",
        "faults.yaml",
        failing(
          {
            server: "kubernetes",
            path: "customresourcedefinitions/routedips\\.",
            status: 404,
            times: 0,
            body: NOT_FOUND,
          },
          { server: "kubernetes", path: "selfsubjectaccessreviews$", status: 201, times: 0, body: DENIED },
          { server: "digitalocean", method: "GET", path: "^/v2/domains", ...FORBIDDEN },
          { server: "digitalocean", method: "GET", path: "^/v2/droplets", ...FORBIDDEN },
        ),
      );
      await world.run("doctor --pre");
      await world.run("doctor --only crds,permissions,providers");
    },
    told: {
      "what is missing without a cluster, and how to try without one": /--sandbox/,
      "that nothing can be installed, and who can help":
        /! FLP125 you may not create .*clusterroles[\s\S]*Let somebody install it who may\./,
      "which definition is missing": /! FLP111 .*routedips/,
      "which permission is missing, and what follows":
        /! FLP122 you may not patch nodes\n +Annotations are not written/,
      "which scopes will be missing, before anything is installed":
        /doctor --pre\n[\s\S]*! FLP143 .*scope droplet:read; .*scope domain:read \(only for names/,
      "which scopes are missing, all at once": /scope droplet:read; .*scope domain:read/,
    },
  },
  {
    title: "04 quota exceeded",
    play: async (world) => {
      world.edit(
        "The account may have four addresses, and has them.",
        "digitalocean.yaml",
        replaced("reserved_ip_limit: 5", "reserved_ip_limit: 4"),
      );
      world.edit("The pool is to have five.", "pools.yaml", desired(5));
      await world.quietly("reconcile");
      await world.run("status --check");
    },
    told: {
      "that status is not all right": "(exit code 6)",
      "the problem beside Ready": /^POOL +READY +PROBLEM[\s\S]*^ingress\/web +True +QuotaExceeded +3\/5 /m,
      "what is missing, why, and what to do":
        "! pool/ingress/web: 2 of 5 addresses are missing: the account's limit of 4 reserved addresses is reached. Ask the provider for a higher limit, or lower desiredIPs.",
    },
  },
  {
    title: "09 provider down",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit(
        "DigitalOcean answers nothing but errors.",
        "faults.yaml",
        failing({ server: "digitalocean", status: 503, times: 0 }),
      );
      await world.run("plan");
    },
    told: {
      "that nobody knows": "3 addresses, not readable now (active when last seen)",
      "one cause for all addresses":
        /^ {2}\. 203\.0\.113\.10, 203\.0\.113\.11 and 203\.0\.113\.12: left as they are\n/m,
    },
    untold: { "what nobody could read": "3 of 3 addresses active" },
  },
  {
    title: "10 token too narrow",
    play: async (world) => {
      world.pass(MINUTE_MS);
      world.edit(
        "Somebody replaces the token by one that may only read.",
        "faults.yaml",
        failing(...["POST", "PUT", "DELETE"].map((method) => ({ server: "digitalocean", method, ...FORBIDDEN }))),
      );
      world.edit("worker-1 dies.", "nodes.yaml", ready("worker-1", false, world.nowMs()));
      world.edit("Somebody deletes a record of www.example.com.", "digitalocean.yaml", replaced(RECORD_OF_12, ""));
      await world.quietly("reconcile");
      await world.run("status");
      await world.run("doctor --only providers");
    },
    told: {
      "the scope for addresses, in status":
        /! pool\/ingress\/web: 203\.0\.113\.10: .*scope reserved_ip:update\. Waits until 08:02:00 UTC \(in 1m\)\.\n +waiting for a person since 08:01:00 UTC \(0s ago\)/,
      "the scope for names, in status":
        /! pool\/ingress\/web: www\.example\.com: .*scope domain:create\. Waits until 08:02:00 UTC \(in 1m\)\.\n/,
      "all scopes in one check": /FLP144 .*domain:create\n +! FLP144 .*reserved_ip:update/,
    },
  },
  {
    title: "13 desiredIPs lowered, with reclaimPolicy Delete",
    play: async (world) => {
      world.edit(
        "The pool is to have four addresses, and to give back what it buys.",
        "pools.yaml",
        desired(4, "Delete"),
      );
      await world.quietly("reconcile --settle");
      world.pass(10 * MINUTE_MS);
      world.edit("Ten minutes later it is to have three.", "pools.yaml", desired(3, "Delete"));
      await world.run("plan");
      await world.run("reconcile");
      world.pass(MINUTE_MS + 1000);
      world.say("A minute later no resolver hands it out any more.");
      await world.run("reconcile --confirm");
      await world.run("reconcile --yes");
    },
    told: {
      "that it waits until resolvers have forgotten it":
        /\. 198\.51\.100\.1: not deleted\n +Resolvers may still hand it out\. Waits until 08:11:00 UTC/,
      "whom it hurts": "Impact: reduction. 198.51.100.1 still serves, and leaves www.example.com.",
      "that somebody has to say yes": /It cannot be undone, and nobody has confirmed it\.[\s\S]*\(exit code 4\)/,
      "that it is gone": "- deleted 198.51.100.1 (given back to digitalocean for good)",
    },
  },
];

const NOT_FOUND = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", message: "no", code: 404 };
const DENIED = {
  kind: "SelfSubjectAccessReview",
  apiVersion: "authorization.k8s.io/v1",
  spec: {},
  status: { allowed: false },
};
const RECORD_OF_12 = / {6}- id: \d+\n {8}type: A\n {8}name: www\n {8}data: 203\.0\.113\.12\n {8}ttl: 60\n/;

function desired(count: number, reclaimPolicy?: string): (text: string) => string {
  return object("web", (pool) => {
    pool.setIn(["spec", "desiredIPs"], count);
    if (reclaimPolicy !== undefined) pool.setIn(["spec", "reclaimPolicy"], reclaimPolicy);
  });
}
