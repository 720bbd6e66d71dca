import { describe, expect, test } from "vitest";
import type { Action } from "../../src/model/action.ts";
import { KubeError, ProviderError } from "../../src/model/errors.ts";
import type { Outcome } from "../../src/model/run.ts";
import { invoke, type Scene } from "../cli/invoke.ts";
import { afterFailureWithDNS, beforePurchase } from "../report/dns-world.ts";
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
  ["reconcile refused", "reconcile -v", refused],
  ["reconcile refused as JSON lines", "reconcile --log-format json", refused],
  ["reconcile locked", "reconcile", locked],
  ["reconcile locked and skipped", "reconcile --on-locked skip -o json", locked],
  ["status to a pipe", "status", failure],
  ["status on a narrow terminal", "status", { ...failure, terminal: 60, env: { NO_COLOR: "1" } }],
  ["status with colour into a pipe", "status --color always", failure],
  ["status wide", "status -o wide", failure],
  ["status json", "status -o json", failure],
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
