import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import type { ReleasedIP } from "../../src/model/address.ts";
import { KubeError, ProviderError } from "../../src/model/errors.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import { invoke, type Scene } from "../cli/invoke.ts";
import { afterFailureWithDNS, beforePurchase } from "../report/dns-world.ts";
import { eventsTold } from "../history/told.ts";
import { HARM_WORLDS } from "../report/harm-worlds.ts";
import { aQuietRun, aRun, applied, failed, steady } from "../report/runs.ts";
import { afterRoutedFailure, ROUTED_FACTS } from "../report/routed-world.ts";
import { aLease, afterFailure, beyondLimit, notGranted, reconciled, unreadable } from "../report/world.ts";
import { transcriptText } from "./transcript.ts";

const unreachable = new KubeError({
  failure: "unavailable",
  operation: "list floatingippools.flipop.digitalocean.com",
  subject: "",
  status: 0,
  message: "Could not list floatingippools at https://kubernetes.example:6443: connection refused. Check the address.",
});

const forbidden = new KubeError({
  failure: "forbidden",
  operation: "get leases.coordination.k8s.io",
  subject: "flipop/flipop",
  status: 403,
  message: "Cannot get leases.coordination.k8s.io flipop/flipop: not permitted. Grant the verb get.",
});

const noEvents = new KubeError({
  failure: "forbidden",
  operation: "list events.events.k8s.io",
  subject: "",
  status: 403,
  message: "Cannot list events.events.k8s.io: not permitted. Grant the verb list.",
});

const failure: Scene = { observation: afterFailure(), lease: aLease() };
const quiet: Scene = { observation: steady(), answer: async () => ({ kind: "done", value: aQuietRun() }) };
const moved: Scene = {
  observation: afterFailure(),
  answer: async () => ({ kind: "done", value: aRun(afterFailure(), reconciled(), applied) }),
};
const named: Scene = { observation: afterFailureWithDNS(), lease: aLease() };
const renamed: Scene = {
  observation: afterFailureWithDNS(),
  answer: async () => ({ kind: "done", value: aRun(afterFailureWithDNS(), afterFailureWithDNS(), applied) }),
};
/** What was released at noon less ten minutes, and 20 s ago. */
const RELEASED: readonly ReleasedIP[] = [
  { ip: "203.0.113.20", nodeName: "worker-3", providerID: "digitalocean://1003", releasedAt: "2026-08-01T11:50:00Z" },
  {
    ip: "203.0.113.21",
    nodeName: "worker-4",
    providerID: "digitalocean://1004",
    acquired: true,
    releasedAt: "2026-08-01T11:59:40Z",
    drainingUntil: "2026-08-01T12:00:40Z",
  },
];

/** The first pool has given an address up a while ago, and another one just now. */
const released: Scene = {
  ...failure,
  observation: {
    ...afterFailure(),
    pools: afterFailure().pools.map((pool, at) =>
      at > 0 ? pool : { ...pool, status: { ...pool.status, released: RELEASED } },
    ),
  },
};
const buying: Scene = { observation: beforePurchase() };
const lacking: Scene = { observation: beyondLimit(), lease: aLease() };
const ungranted: Scene = { observation: notGranted(), lease: { ...aLease(), annotations: { ...aLease().annotations, "flipop.digitalocean.com/grants": "require" } } };
const routed: Scene = { observation: afterRoutedFailure(), routedIPs: ROUTED_FACTS.routedIPs, lease: aLease() };
const followed: Scene = {
  ...routed,
  answer: async () => ({ kind: "done", value: aRun(afterRoutedFailure(), afterRoutedFailure(), applied) }),
};
const unfollowed: Scene = {
  ...routed,
  answer: async () => ({
    kind: "done",
    value: aRun(afterRoutedFailure(), afterRoutedFailure(), notOpened),
  }),
};
function notOpened(action: Action): Outcome {
  if (action.kind !== "open-ports")
    return { action, outcome: "skipped", reason: "PrerequisiteFailed", detail: "", ms: 0 };
  const error = new ProviderError({
    provider: "digitalocean",
    failure: "forbidden",
    operation: "open ports",
    subject: "firewall edge",
    status: 403,
    message: "Could not open tcp/30587 on firewall edge: the token lacks the scope firewall:update. Give it that scope.",
  });
  return { action, outcome: "failed", ms: 250, error };
}

const refused: Scene = {
  observation: afterFailure(),
  answer: async () => ({
    kind: "done",
    value: aRun(afterFailure(), afterFailure(), (action) => failed(action)),
  }),
};
const locked: Scene = {
  observation: steady(),
  answer: async () => ({ kind: "locked", holder: "flipop-29384756-x2x9k_1_aa" }),
};
const unread: Scene = { error: unreachable };
const past: Scene = { ...failure, events: eventsTold(aRun(afterFailure(), reconciled(), applied)) };

/** What the servers of the zones say: one of them is late, one does not answer. */
const ANSWERS: NonNullable<Scene["answers"]> = {
  "www.example.com": {
    servers: [
      { server: "ns1.digitalocean.com", addresses: ["203.0.113.10", "203.0.113.11"], ttlSeconds: 60 },
      { server: "ns2.digitalocean.com", addresses: ["203.0.113.10"], ttlSeconds: 60 },
      { server: "ns3.digitalocean.com", error: "queryA ETIMEOUT" },
    ],
  },
  "nodes.example.net": { error: "DNS names no server for example.net" },
};

/** Name of the golden file, command line, scene. */
const ROWS: readonly (readonly [string, string, Scene])[] = [
  ["plan to a pipe", "plan", failure],
  ["plan on a terminal", "plan", { ...failure, terminal: 100, env: { TERM: "xterm" } }],
  ["plan on a narrow terminal with NO_COLOR", "plan", { ...failure, terminal: 60, env: { NO_COLOR: "1" } }],
  ["plan all", "plan --all", failure],
  ["plan wide", "plan -o wide", failure],
  ["plan json", "plan -o json", failure],
  ["plan yaml", "plan -o yaml pool/ingress/web", failure],
  ["plan name", "plan -o name", failure],
  ["plan as Markdown", "plan -o markdown --detailed-exitcode", failure],
  ["plan as Markdown without a cluster", "plan -o markdown", unread],
  ["plan as Markdown with nothing to do", "plan -o markdown", quiet],
  ["plan as Markdown of what cannot be read", "plan -o markdown", { observation: unreadable() }],
  ["plan as Markdown wide and all", "plan -o markdown --all pool/ingress/web", routed],
  ["plan of a node", "plan node/worker-1", failure],
  ["plan detailed", "plan --detailed-exitcode ingress/web", failure],
  ["plan with nothing to do", "plan", quiet],
  ["plan without a cluster", "plan", unread],
  ["plan json without a cluster", "plan -o json", unread],
  ["reconcile with nothing to do", "reconcile", quiet],
  ["reconcile with nothing to do as JSON lines", "reconcile --log-format json", quiet],
  ["reconcile in a pod", "reconcile", { ...moved, env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } }],
  ["reconcile to a pipe", "reconcile", moved],
  ["reconcile on a terminal", "reconcile", { ...moved, terminal: 100, env: { TERM: "xterm" } }],
  ["reconcile json", "reconcile -o json", moved],
  ["reconcile as JSON lines on stdout", "reconcile -o jsonl", refused],
  ["reconcile refused", "reconcile -v", refused],
  ["reconcile refused as JSON lines", "reconcile --log-format json", refused],
  ["reconcile locked", "reconcile", locked],
  ["reconcile locked and waited for", "reconcile --on-locked wait", locked],
  ["reconcile locked and skipped", "reconcile --on-locked skip -o json", locked],
  ["status to a pipe", "status", failure],
  ["status on a narrow terminal", "status", { ...failure, terminal: 60, env: { NO_COLOR: "1" } }],
  ["status with colour into a pipe", "status --color always", failure],
  ["status wide", "status -o wide", failure],
  ["status json", "status -o json", failure],
  ["status as Markdown", "status -o markdown --check", routed],
  ["status as JSON lines", "status -o jsonl", failure],
  ["status with released addresses", "status", released],
  ["status with released addresses wide", "status -o wide", released],
  ["status with released addresses on a narrow terminal", "status", { ...released, terminal: 60, env: { NO_COLOR: "1" } }],
  ["status with released addresses json", "status -o json", released],
  ["status name", "status -o name -l app=web", failure],
  ["status check", "status --check", failure],
  ["status never reconciled", "status --check", { observation: afterFailure() }],
  ["status while a run works", "status", { ...quiet, lease: aLease({ holder: "flipop-29384756-x2x9k_1_aa" }) }],
  ["status without the right to read the Lease", "status --check", { ...quiet, leaseError: forbidden }],
  ["plan with DNS", "plan", named],
  ["plan with DNS on a narrow terminal", "plan", { ...named, terminal: 60, env: { TERM: "xterm" } }],
  ["plan with DNS wide and all", "plan --all -o wide", named],
  ["plan with DNS json", "plan -o json dns/nodes", named],
  ["plan with DNS of a node", "plan node/worker-1", named],
  ["reconcile with DNS", "reconcile", renamed],
  ["reconcile with DNS as JSON lines", "reconcile --log-format json", renamed],
  ["status with DNS", "status --check", named],
  ["status with DNS wide", "status -o wide", named],
  ["status with DNS json", "status -o json dns/ingress/nodes", named],
  ["status with DNS name", "status -o name", named],
  ["status live", "status --live --check", { ...named, answers: ANSWERS }],
  ["status live on a narrow terminal", "status --live web", { ...named, answers: ANSWERS, terminal: 60, env: { TERM: "xterm" } }],
  ["status live json", "status --live -o json", { ...named, answers: ANSWERS }],
  ["status live with routed IPs", "status --live", routed],
  ["status live of what cannot be read", "status --live --check", { observation: unreadable() }],
  ["plan of a purchase", "plan", buying],
  ["plan of a purchase for one node", "plan node/worker-3", buying],
  ["plan of a purchase json", "plan -o json", buying],
  ["plan beyond the limit", "plan", lacking],
  ["status beyond the limit", "status --check", { ...lacking, terminal: 80, env: { NO_COLOR: "1" } }],
  ["status beyond the limit json", "status -o json", lacking],
  ["status with grants", "status", { ...ungranted, terminal: 100, env: { NO_COLOR: "1" } }],
  ["status with grants json", "status -o json pool/ingress/web", ungranted],
  ["plan of what cannot be read", "plan", { observation: unreadable() }],
  ["plan of what cannot be read json", "plan -o json pool/ingress/web", { observation: unreadable() }],
  ["plan with routed IPs", "plan", routed],
  ["plan with routed IPs wide and all", "plan --all -o wide", routed],
  ["plan with routed IPs on a narrow terminal", "plan", { ...routed, terminal: 60, env: { TERM: "xterm" } }],
  ["plan with routed IPs json", "plan -o json routedip/mail", routed],
  ["plan with routed IPs of a node", "plan node/worker-3", routed],
  ["plan with routed IPs of an address", "plan ip/203.0.113.40", routed],
  ["reconcile with routed IPs", "reconcile", followed],
  ["reconcile with routed IPs as JSON lines", "reconcile --log-format json", followed],
  ["reconcile with routed IPs refused", "reconcile", unfollowed],
  ["status with routed IPs", "status --check", routed],
  ["status with routed IPs wide", "status -o wide", routed],
  ["status with routed IPs json", "status -o json routedip/mail web", routed],
  ["status with routed IPs name", "status -o name", routed],
  ["history", "history --since 48h", past],
  ["history on a narrow terminal", "history", { ...past, terminal: 60, env: { NO_COLOR: "1" } }],
  ["history on a terminal", "history", { ...past, terminal: 120, env: { TERM: "xterm" } }],
  ["history wide", "history -o wide pool/ingress/web", past],
  ["history json", "history -o json ip/203.0.113.10", past],
  ["history without the right to read Events and the Lease", "history", { ...past, eventsError: noEvents, leaseError: forbidden }],
  ["simulate", "simulate", named],
  ["simulate wide on a narrow terminal", "simulate -o wide", { ...named, terminal: 60, env: { NO_COLOR: "1" } }],
  ["simulate json", "simulate -o json --if node/worker-2=NotReady --expect no-outage", named],
  ["simulate a purchase", "simulate --assume assign=4s,dns=500ms --detailed-exitcode", buying],
  ["simulate when nothing is to do", "simulate", quiet],
  ["simulate an outage", "simulate --if node/worker-1=NotReady --if node/worker-2=Gone --if node/worker-3=NotReady --expect no-outage=30s", named],
  ["simulate what cannot be read", "simulate --expect no-outage", { observation: unreadable() }],
  ["simulate the loss of each node", "simulate --n-1 --expect no-outage", named],
  ["simulate the loss of each node json", "simulate --n-1 -o json", named],
  ["simulate the loss of a region", "simulate --n-1=region", { ...named, terminal: 80, env: { NO_COLOR: "1" } }],
  ["simulate a drain", "simulate --drain worker-2 --drain-time 1m", named],
  ["simulate a rolling upgrade", "simulate --rolling-upgrade role=edge --unavailable 1", named],
  ["version", "version", {}],
  ["help", "--help", {}],
  ["help of reconcile", "reconcile --help", {}],
  ["help of manifests", "manifests --help", {}],
];

/** What plans on these worlds hurt: at the width of a small terminal. */
const HARM_ROWS: typeof ROWS = Object.entries(HARM_WORLDS).map(([name, world]) => [
  `plan when ${name}`,
  "plan",
  { observation: world(), terminal: 80, env: { NO_COLOR: "1" } },
]);

describe("golden transcripts", () => {
  test.for([...ROWS, ...HARM_ROWS])("%s prints what its file holds", async ([name, line, scene]) => {
    const argv = line.split(" ");
    await expect(transcriptText(argv, await invoke(argv, scene))).toMatchFileSnapshot(`${name}.md`);
  });
});
