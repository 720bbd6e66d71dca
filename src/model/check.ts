/** A group of checks of `flipop doctor`; also what `--only` takes. */
export type CheckGroup =
  | "cluster"
  | "crds"
  | "permissions"
  | "runs"
  | "providers"
  | "addresses"
  | "names"
  | "firewalls"
  | "metrics"
  | "others";

/** All groups, in the order in which they are shown. */
export const CHECK_GROUPS: readonly CheckGroup[] = [
  "cluster",
  "crds",
  "permissions",
  "runs",
  "providers",
  "addresses",
  "names",
  "firewalls",
  "metrics",
  "others",
];

/** A code of {@link CHECKS}. */
export type CheckCode =
  | "FLP101"
  | "FLP102"
  | "FLP103"
  | "FLP104"
  | "FLP105"
  | "FLP111"
  | "FLP112"
  | "FLP113"
  | "FLP121"
  | "FLP122"
  | "FLP123"
  | "FLP124"
  | "FLP125"
  | "FLP131"
  | "FLP132"
  | "FLP133"
  | "FLP134"
  | "FLP135"
  | "FLP136"
  | "FLP137"
  | "FLP141"
  | "FLP142"
  | "FLP143"
  | "FLP144"
  | "FLP145"
  | "FLP146"
  | "FLP148"
  | "FLP151"
  | "FLP152"
  | "FLP153"
  | "FLP154"
  | "FLP155"
  | "FLP161"
  | "FLP162"
  | "FLP163"
  | "FLP164"
  | "FLP165"
  | "FLP166"
  | "FLP171"
  | "FLP172"
  | "FLP181"
  | "FLP182"
  | "FLP191";

/** How a check came out. `unknown`: it could not be looked at. `skipped`: there is nothing to look at. */
export type CheckResult = "success" | "warning" | "error" | "unknown" | "skipped";

/** What is known of a check before it is made. */
export interface CheckFacts {
  readonly group: CheckGroup;
  /** What is looked at, and how it should be. */
  readonly text: string;
  /** What follows when it is not so. */
  readonly consequence: string;
  /** What a person does then. */
  readonly hint: string;
  /** A command that does it, or shows more. */
  readonly command?: string;
  /** Checks without which this one says nothing. If one of them fails, this one is not made. If it fails for one provider, this one is made for the others. */
  readonly after: readonly CheckCode[];
  /** When it is made: also before flipop is installed, only then, or only after. */
  readonly when: "always" | "before" | "installed";
}

const READS_CLUSTER: readonly CheckCode[] = ["FLP101", "FLP102"];
const READS_OBJECTS: readonly CheckCode[] = [...READS_CLUSTER, "FLP111"];
const READS_ACCOUNT: readonly CheckCode[] = [...READS_OBJECTS, "FLP141", "FLP142", "FLP143"];
const INSTALL_CRDS = "flipop manifests --only crds | kubectl apply --server-side -f -";
const INSTALL_RBAC = "flipop manifests --only rbac | kubectl apply -f -";

/** Every check of `flipop doctor`, by its code, ascending. Codes stay: people skip them in their pipelines. */
export const CHECKS: Readonly<Record<CheckCode, CheckFacts>> = {
  FLP101: {
    group: "cluster",
    text: "A cluster is configured.",
    consequence: "No command that needs the cluster works.",
    hint: "Name a kubeconfig with --kubeconfig or KUBECONFIG, and a context with --context.",
    after: [],
    when: "always",
  },
  FLP102: {
    group: "cluster",
    text: "The API server answers.",
    consequence: "Nothing can be read or written: addresses and names stay as they are.",
    hint: "Check the network, the address in the kubeconfig and its credentials.",
    command: "kubectl version",
    after: ["FLP101"],
    when: "always",
  },
  FLP103: {
    group: "cluster",
    text: "The API server is Kubernetes 1.27 or later; from 1.31 on the CronJob uses all its settings.",
    consequence: "Below 1.27 flipop is not tested. Below 1.31 exit codes may not fail the Job at once.",
    hint: "Upgrade the cluster.",
    after: READS_CLUSTER,
    when: "always",
  },
  FLP104: {
    group: "cluster",
    text: "The clock of this machine and that of the API server differ by less than 5 s.",
    consequence: "flipop uses the time of the API server, but compares times of providers with the local one.",
    hint: "Set the clock of this machine, with NTP for example.",
    after: READS_CLUSTER,
    when: "always",
  },
  FLP105: {
    group: "cluster",
    text: "The namespace of the Lease exists.",
    consequence: "No run can take the Lease, so none changes anything.",
    hint: "Create it, or name the right one with --lease-namespace.",
    command: "kubectl create namespace NAMESPACE",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP111: {
    group: "crds",
    text: "The four definitions of flipop's objects are there and established.",
    consequence: "Objects of a kind that is not defined cannot be made, read or served.",
    hint: "Install the definitions.",
    command: INSTALL_CRDS,
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP112: {
    group: "crds",
    text: "The installed definitions keep every status field of this version.",
    consequence:
      "The API server drops what flipop must remember: what needs such a field is not done, and it may acquire no address.",
    hint: "Install the definitions of this version.",
    command: INSTALL_CRDS,
    after: READS_OBJECTS,
    when: "installed",
  },
  FLP113: {
    group: "crds",
    text: "No object is invalid that its definition accepts, and no address or name that it asks for.",
    consequence: "flipop leaves what is invalid as it is: a whole object, one address, or a name.",
    hint: "Correct the spec. flipop validate FILE says what is wrong before it is applied.",
    after: READS_OBJECTS,
    when: "installed",
  },
  FLP121: {
    group: "permissions",
    text: "Everything may be read that a run reads.",
    consequence: "The runs lack what they would read.",
    hint: "Apply the roles of this version.",
    command: INSTALL_RBAC,
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP122: {
    group: "permissions",
    text: "Everything may be written that a run writes, the Lease aside.",
    consequence: "The runs leave something undone.",
    hint: "Apply the roles of this version.",
    command: INSTALL_RBAC,
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP123: {
    group: "permissions",
    text: "The Lease may be created, read and updated.",
    consequence: "No run changes anything.",
    hint: "Apply the roles of this version.",
    command: INSTALL_RBAC,
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP124: {
    group: "permissions",
    text: "Everything may be watched that reconcile --watch watches; looked at where a Deployment runs it.",
    consequence: "The watcher ends with exit code 77.",
    hint: "Apply the roles of the watcher.",
    command: "flipop manifests --mode watch | kubectl apply -f -",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP125: {
    group: "permissions",
    text: "You may create what flipop manifests prints; looked at with --pre.",
    consequence: "flipop manifests | kubectl apply -f - fails.",
    hint: "Let somebody install it who may.",
    after: READS_CLUSTER,
    when: "before",
  },
  FLP131: {
    group: "runs",
    text: "The Lease is free, or its holder renews it.",
    consequence: "Runs wait until the Lease has expired.",
    hint: "Look who holds it, and whether that still runs.",
    command: "kubectl -n NAMESPACE get lease LEASE -o yaml",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP132: {
    group: "runs",
    text: "The last successful run ended less than three intervals ago.",
    consequence: "Failed nodes keep their addresses, and names keep addresses that do not answer.",
    hint: "Look at the logs of the last Job or of the watcher. See the alert FlipopNotSucceeding in the manual.",
    command: "kubectl -n NAMESPACE logs -l app.kubernetes.io/part-of=flipop --tail=50",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP133: {
    group: "runs",
    text: "A CronJob or a Deployment runs this version of flipop, and is not suspended.",
    consequence: "Nothing runs by itself, or another version than this one does.",
    hint: "Install it, let it go on, or use the version that runs.",
    command: "kubectl -n NAMESPACE get cronjobs,deployments -l app.kubernetes.io/part-of=flipop",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP134: {
    group: "runs",
    text: "No other namespace has a Lease of this name.",
    consequence: "Two installations do not exclude each other: both change the same addresses and names.",
    hint: "Remove one installation, or delete the Lease that was left behind.",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP135: {
    group: "runs",
    text: "No object is suspended.",
    consequence: "Nothing is changed for a suspended object: a failed node keeps its address.",
    hint: "Let it go on when the work is over.",
    after: READS_OBJECTS,
    when: "installed",
  },
  FLP136: {
    group: "runs",
    text: "Every object has a process that works for it; looked at where shards are used.",
    consequence: "Its addresses and names stay as they are, also when a node fails.",
    hint: "Run that shard, or change the label of the object.",
    command: "kubectl -n NAMESPACE get cronjobs,deployments -l app.kubernetes.io/part-of=flipop",
    after: READS_OBJECTS,
    when: "installed",
  },
  FLP137: {
    group: "runs",
    text: "No two processes that run work for the same objects; looked at where shards are used.",
    consequence:
      "While one is at work the other one is refused with exit code 5: changes wait, and objects change hands.",
    hint: "Delete the CronJob or Deployment of one of them.",
    command: "kubectl -n NAMESPACE get cronjobs,deployments -l app.kubernetes.io/part-of=flipop",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP141: {
    group: "providers",
    text: "There is a token for each provider that an object names.",
    consequence: "Nothing of that provider is read or changed.",
    hint: "Set the token.",
    after: READS_CLUSTER,
    when: "always",
  },
  FLP142: {
    group: "providers",
    text: "Each provider accepts its token, and goes on to for two weeks where it tells when the token ends.",
    consequence: "Nothing of that provider is read or changed.",
    hint: "Check the token, and whether it has expired.",
    after: READS_CLUSTER,
    when: "always",
  },
  FLP143: {
    group: "providers",
    text: "Each provider answers, and its token may read what a run reads.",
    consequence: "What cannot be read is left as it is.",
    hint: "Give the token the scopes that are missing.",
    after: READS_CLUSTER,
    when: "always",
  },
  FLP144: {
    group: "providers",
    text: "No write was refused because a token lacks the permission.",
    consequence: "What the token may not write stays as it is.",
    hint: "Give the token the scope that the message names.",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP145: {
    group: "providers",
    text: "The account may have as many reserved addresses as all objects still want.",
    consequence: "QuotaExceeded will come: some objects stay without an address.",
    hint: "Ask the provider for a higher limit, or lower desiredIPs.",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP146: {
    group: "providers",
    text: "The rate limit has room for all runs of an hour.",
    consequence: "Runs are put off until the limit is reset, and failovers take longer.",
    hint: "Give flipop a token of its own, or a longer schedule.",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP148: {
    group: "providers",
    text: "No node belongs to a managed cluster whose provider supports no movable addresses there.",
    consequence: "The provider documents reserved addresses on such nodes as not supported.",
    hint: "Use machines of your own for what must be reached by a fixed address.",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP151: {
    group: "addresses",
    text: "Every address that an object lists exists.",
    consequence: "An address that does not exist serves nobody.",
    hint: "Correct the address, or create it at the provider.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP152: {
    group: "addresses",
    text: "No address that an object lists is on a machine that never was a node of this cluster.",
    consequence: "flipop leaves such an address where it is.",
    hint: "Take it off that machine, or set spec.foreignHolder to TakeOver.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP153: {
    group: "addresses",
    text: "No address is asked for by two objects.",
    consequence: "The older object owns it; the other one goes without.",
    hint: "Take it out of one of them.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP154: {
    group: "addresses",
    text: "The provider knows the machine of each matching node.",
    consequence: "Such a node gets no address.",
    hint: "Check spec.providerID of the node, and whether the token belongs to its account.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP155: {
    group: "addresses",
    text: "flipop host is ready on every node that is to put addresses on its host.",
    consequence: "Such an address is active at its provider, and may answer nobody.",
    hint: "Install the DaemonSet of this version, or look why its pods are not ready.",
    command: "flipop manifests --only host --image IMAGE | kubectl apply -f -",
    after: READS_CLUSTER,
    when: "installed",
  },
  FLP161: {
    group: "names",
    text: "The account has the zone of every name.",
    consequence: "The name is not published.",
    hint: "Correct the zone, create it, or use a token that may see it.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP162: {
    group: "names",
    text: "No name is asked for by two objects.",
    consequence: "The older object owns it; the other one publishes nothing.",
    hint: "Give one of them another name.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP163: {
    group: "names",
    text: "Clients keep every answer for as long as its object writes.",
    consequence:
      "Resolvers hand out addresses for longer or shorter than the object says, so a failover takes another time.",
    hint: "Write a TTL that the provider accepts, and let it not proxy the name.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP164: {
    group: "names",
    text: "external-dns claims no name that an object publishes.",
    consequence: "Both write the name in turn, or flipop does not take it.",
    hint: "Take the name out of the sources of external-dns, and delete the TXT record if it stays behind.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP165: {
    group: "names",
    text: "No name that an object publishes is a CNAME.",
    consequence: "No A record can stand beside a CNAME: the provider refuses to publish the name.",
    hint: "Delete the CNAME, or publish under another name.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP166: {
    group: "names",
    text: "DNS answers with the records that the provider has.",
    consequence:
      "Clients reach other addresses than those that are kept serving, until resolvers ask anew or for ever.",
    hint: "Wait as long as the TTL. Then check that the zone is delegated to this provider, and ask another server with --resolver.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP171: {
    group: "firewalls",
    text: "Every firewall that an issuer names exists, is the only one of its name, and may be changed.",
    consequence: "Its ports stay closed, and its machines stay outside.",
    hint: "Name a firewall of your own by its id, not one that the provider overwrites.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP172: {
    group: "firewalls",
    text: "Every firewall has room for the rules and the machines it still needs.",
    consequence: "What finds no room stays closed.",
    hint: "Use ranges of ports, or let a tag name the machines.",
    after: READS_ACCOUNT,
    when: "installed",
  },
  FLP181: {
    group: "metrics",
    text: "The Pushgateway of PUSHGATEWAY_URL answers.",
    consequence: "The metrics of runs are lost, and alerts on them say nothing.",
    hint: "Check PUSHGATEWAY_URL, and that a NetworkPolicy allows port 9091.",
    after: [],
    when: "installed",
  },
  FLP182: {
    group: "metrics",
    text: "The Pushgateway got metrics within three intervals.",
    consequence: "Alerts speak of an old state.",
    hint: "Check that the runs have PUSHGATEWAY_URL, too, and that a NetworkPolicy allows port 9091.",
    after: ["FLP181", ...READS_CLUSTER],
    when: "installed",
  },
  FLP191: {
    group: "others",
    text: "The Go operator of the same name does not run here, and its Deployment is deleted.",
    consequence: "Two controllers move the same addresses in turn.",
    hint: "Scale the operator to zero. Then delete its Deployment, Role and RoleBinding, before flipop is applied.",
    command: "kubectl -n NAMESPACE scale deployment flipop --replicas=0",
    after: READS_CLUSTER,
    when: "always",
  },
};

/** All codes, ascending. */
export const CHECK_CODES: readonly CheckCode[] = Object.keys(CHECKS) as CheckCode[];

/** What one check says. A check may say several things, such as one for each object. */
export interface CheckFinding {
  readonly code: CheckCode;
  readonly result: CheckResult;
  /** What was found, without a full stop. */
  readonly message: string;
  /** Of what is not fine; absent where the table of checks says it well enough. */
  readonly consequence?: string;
  readonly hint?: string;
  readonly command?: string;
  /** How long the reading took, milliseconds. */
  readonly ms: number;
  /** True where it says that one provider of several was not looked at. */
  readonly isOfPart?: true;
}

/** Everything that `flipop doctor` found: by group, in the order of the codes. */
export interface CheckReport {
  readonly findings: readonly CheckFinding[];
}

/** How many findings came out so. Pure. */
export function countResults({ findings }: CheckReport, result: CheckResult): number {
  return findings.filter((finding) => finding.result === result).length;
}
