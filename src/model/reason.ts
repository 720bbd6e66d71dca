import type { ObjectRef } from "./action.ts";
import type { ReasonFacts } from "./reason-facts.ts";

/** The rows of {@link REASONS}: a new reason is a new row, and there is no other place. */
const ROWS = {
  // Why a node does not match.
  NodeDeleting: { text: "The node is being deleted.", wait: "none", phrase: "being deleted" },
  NoProviderID: { text: "The node has no spec.providerID yet.", wait: "none", phrase: "no providerID yet" },
  NodeNotReady: { text: "The node's Ready condition is not True.", wait: "none", phrase: "not ready" },
  NodeLabelMismatch: {
    text: "The node's labels are not selected by spec.match.nodeLabel.",
    wait: "none",
    phrase: "nodeLabel mismatch",
  },
  TaintNotTolerated: {
    text: "The node has a taint that spec.match.tolerations does not tolerate.",
    wait: "none",
    phrase: "taint not tolerated",
    isOfTaint: true,
  },
  NoMatchingPod: { text: "No pod that spec.match asks for runs on the node.", wait: "none", phrase: "no matching pod" },
  PodNotReady: {
    text: "Pods that spec.match asks for are on the node, and none is Running and Ready.",
    wait: "none",
    phrase: "no ready pod",
  },
  // Why a match cannot take an address.
  UnusableProviderID: {
    text: "The node's providerID does not name a machine of the pool's provider.",
    wait: "change",
    phrase: "unusable providerID",
    isNodeError: true,
  },
  NodeHasForeignIP: {
    text: "The machine already carries an address that no object names.",
    wait: "change",
    phrase: "already carrying an address no object names",
    isNodeError: true,
  },
  NodeHasOtherIP: {
    text: "The machine already carries an address of another object.",
    wait: "change",
    phrase: "already carrying another object's address",
  },
  NodePromised: {
    text: "The machine is to get an address of another object.",
    wait: "change",
    phrase: "promised to another object",
  },
  RegionMismatch: {
    text: "The node is in another region than the address.",
    wait: "change",
    phrase: "in another region than the address",
  },
  MachineNotFound: {
    text: "The provider does not know the node's machine.",
    wait: "change",
    phrase: "machine not found at the provider",
  },
  // Why something is done.
  NodeMatched: { text: "A matching node waits for an address.", wait: "none" },
  HolderLost: { text: "The holder no longer matches and a matching node waits.", wait: "none" },
  HolderGone: { text: "The holder is no longer a node and a matching node waits.", wait: "none" },
  TakeOver: { text: "spec.foreignHolder is TakeOver.", wait: "none" },
  BelowDesired: {
    text: "The pool has fewer addresses than desiredIPs.",
    wait: "none",
    routedIP: { text: "It has no address, and spec.address names none." },
  },
  AboveMaxPerNode: { text: "The node has more addresses than spec.maxPerNode, and another node waits.", wait: "none" },
  AboveDesired: {
    text: "The pool has more addresses than desiredIPs.",
    wait: "none",
    routedIP: { text: "It has another address now." },
  },
  NotManaged: { text: "The object does not have the address any more.", wait: "none" },
  DropletNeeded: { text: "The machine is needed for another address.", wait: "none" },
  PoolDeleted: { text: "The pool is deleted.", wait: "none", routedIP: { text: "The object is deleted." } },
  Verified: { text: "The address is verified on the node.", wait: "none" },
  AnnotationDrift: { text: "The node's annotation says something else than what is verified.", wait: "none" },
  ReclaimDelete: {
    text: "spec.reclaimPolicy is Delete: what flipop bought and wrote goes.",
    wait: "none",
    routedIP: { text: "routedIPReclaimPolicy of its issuer is Delete: what flipop bought and wrote goes." },
  },
  NothingToReclaim: {
    text: "Nothing is left that reclaimPolicy Delete would clean.",
    wait: "none",
    routedIP: { text: "Nothing is left that routedIPReclaimPolicy Delete would clean." },
  },
  RecordsDiffer: { text: "The records differ from the addresses that serve now.", wait: "none" },
  TTLDiffers: { text: "The records have another TTL than the spec asks for.", wait: "none" },
  LeavesDNSFirst: { text: "The address is about to leave its machine, so it leaves DNS before.", wait: "none" },
  NameChanged: { text: "The object publishes under another name now, or under none.", wait: "none" },
  ObjectDeleted: { text: "The object is deleted.", wait: "none" },
  WhenEmptyDelete: { text: "There is no address to publish and spec.whenEmpty is Delete.", wait: "none" },
  PortsClosed: { text: "The firewall does not let in what the address is to serve.", wait: "none" },
  PortsUnneeded: { text: "No object needs these ports any more, and flipop opened them.", wait: "none" },
  NodeOutsideFirewall: { text: "The node is to have the address and is not behind the firewall.", wait: "none" },
  NodeUnneeded: {
    text: "No object needs the node behind the firewall any more, and flipop put it there.",
    wait: "none",
  },
  // Why something is not done.
  Grace: {
    text: "The node became unready a moment ago and still counts as a match.",
    wait: "time",
    held: { address: "stays where it is", name: "stays published" },
  },
  DisruptionBudget: { text: "Others go first.", wait: "time", held: { address: "waits its turn" }, tell: "detail" },
  Draining: {
    text: "Resolvers may still hand it out.",
    wait: "time",
    held: { address: "stays where it serves" },
    tell: "detail",
  },
  CoolOff: {
    text: "assignmentCoolOffSeconds since the pool's last assignment are not over.",
    wait: "time",
    tell: "detail",
  },
  Settling: { text: "More nodes may be changing; their records are written together.", wait: "none" },
  JustDeleted: { text: "The object has just been deleted; one of its name would take this over.", wait: "none" },
  Backoff: {
    text: "The last attempt failed and the next one is not due.",
    wait: "time",
    phrase: "last attempt failed, next one not due",
  },
  InProgress: {
    text: "The provider is still working on it.",
    wait: "reading",
    phrase: "provider still at work",
    held: { address: "not there yet", firewall: "not ready yet" },
  },
  OnePerNode: {
    text: "The provider gives a machine one address, so spec.maxPerNode counts as 1.",
    wait: "change",
    held: { object: "no node gets a second address" },
    advice: "Remove spec.maxPerNode, or set it to 1.",
  },
  EmptyTarget: {
    text: "The object's selectors select nothing at all.",
    wait: "change",
    held: { object: "what serves stays" },
    advice: "Correct spec.match, or scale the application up again.",
    routedIP: { advice: "Correct the Service or the issuer, or scale the application up again." },
    tell: "detail",
    hasAddresses: true,
  },
  NoCandidate: {
    text: "No matching node can take the address.",
    wait: "change",
    held: { address: "waits for a node" },
  },
  ForeignHolder: {
    text: "The address is on a machine that never was a node of this cluster.",
    wait: "change",
    held: { address: "not taken" },
    hasAddresses: true,
  },
  IPBlocked: {
    text: "The provider lets nothing through to the address, as after a report of abuse.",
    wait: "change",
    held: { address: "cannot be used" },
    advice: "Ask the provider what it takes to unblock it, or give the object another address.",
    hasAddresses: true,
  },
  IPNotFound: {
    text: "The provider does not know the address.",
    wait: "change",
    held: { address: "cannot be used" },
    advice: "Remove it from spec.ips, or check that the token belongs to the right account.",
    routedIP: { advice: "Correct spec.address, or check that the token belongs to the right account." },
    hasAddresses: true,
  },
  Conflict: {
    text: "Another object owns it.",
    wait: "change",
    held: { address: "not used by this pool", name: "not written for this object" },
    advice: "Remove it from one of the two objects.",
    tell: "owner",
    hasAddresses: true,
  },
  NotGranted: {
    text: "The namespace is not granted what the object asks for.",
    wait: "change",
    held: { address: "not used", name: "not written", firewall: "not changed" },
    tell: "detail",
    hasAddresses: true,
  },
  GrantsUnreadable: { text: "flipop may not list namespaces.", wait: "change", hasAddresses: true },
  DuplicateIP: {
    text: "The address is listed twice.",
    wait: "change",
    held: { address: "used once only" },
    advice: "Remove one of the two entries from spec.ips.",
    hasAddresses: true,
  },
  InvalidIP: {
    text: "The entry is not an address of the object's family: canonical IPv4, or IPv6.",
    wait: "change",
    held: { address: "cannot be used" },
    advice: "Correct or remove the entry in spec.ips.",
    hasAddresses: true,
  },
  InvalidSpec: {
    text: "The object's spec is invalid.",
    wait: "change",
    service: "config",
    advice: "Correct the object's spec.",
    routedIP: { adviceBy: "detail" },
  },
  SelectorRefused: {
    text: "The API server does not list the pods that the object asks for; its nodes are unknown.",
    wait: "change",
    service: "config",
    advice: "Correct podNamespace or podLabel, or ask who runs the API server why it refuses them.",
    routedIP: { advice: "Correct the Service, or ask who runs the API server why it refuses the list." },
    tell: "detail",
  },
  Suspended: {
    text: "The object is suspended.",
    wait: "none",
    service: "idle",
    advice: "To go on, set spec.suspend: false.",
  },
  ProviderUnavailable: {
    text: "The provider cannot be used: no token, or one that is not allowed to read.",
    wait: "change",
    phrase: "provider unavailable",
    service: "permission",
    held: { firewall: "left as it is" },
    tell: "detail",
  },
  Unreadable: {
    text: "It could not be read in this pass.",
    wait: "change",
    phrase: "could not be read",
    service: "temporary",
    held: { address: "left as it is", name: "left as it is", firewall: "left as it is" },
    tell: "detail",
  },
  RateLimited: {
    text: "The provider asked for no calls until a later time, or the calls that are left are kept for what is more urgent.",
    wait: "time",
    phrase: "provider asked for no calls",
    service: "temporary",
    held: { firewall: "left as it is" },
    tell: "detail",
  },
  CreationRate: { text: "At most 12 addresses are acquired a minute.", wait: "time" },
  QuotaExceeded: {
    text: "The account's limit of reserved addresses is reached, or what is left is kept for objects that have none.",
    wait: "change",
    advice: "Ask the provider for a higher limit, or lower desiredIPs.",
    routedIP: { advice: "Ask the provider for a higher limit, or name an address of the account in spec.address." },
    tell: "detail",
    hasAddresses: true,
  },
  NoRegion: {
    text: "No node waits for a new address, and spec.region is not set.",
    wait: "change",
    advice: "Set spec.region.",
    routedIP: {
      text: "No node waits for a new address, and region of the issuer is not set.",
      advice: "Set region of the issuer.",
    },
    hasAddresses: true,
  },
  AmbiguousAcquisition: {
    text: "An earlier acquisition got no answer and several new addresses could be the one.",
    wait: "change",
    advice: "List the right one in spec.ips, or remove the others from the account.",
    routedIP: { advice: "Name the right one in spec.address, or remove the others from the account." },
    hasAddresses: true,
  },
  LostAcquisition: {
    text: "The status was lost while an address was being acquired, and it cannot be told which address that is.",
    wait: "change",
    advice:
      "List it in spec.ips if it is the pool's; if none is, remove the annotation flipop.digitalocean.com/acquired from the pool to acquire another.",
    routedIP: {
      advice:
        "Name it in spec.address if it is this object's; if none is, remove the annotation flipop.digitalocean.com/acquired from the RoutedIP to acquire another.",
    },
    hasAddresses: true,
  },
  AcquisitionUnanswered: {
    text: "An earlier acquisition got no answer; the account is watched before another is made.",
    wait: "reading",
  },
  InvalidDNS: {
    text: "The object's DNS settings cannot be used.",
    wait: "change",
    service: "config",
    advice: "Correct its dnsRecordSet.",
  },
  ZoneNotFound: {
    text: "The account has no such zone.",
    wait: "change",
    service: "config",
    advice: "Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
  },
  NothingToPublish: {
    text: "No address serves now; the records stay as they are.",
    wait: "none",
    held: { name: "left as it is" },
  },
  LeftToOthers: { text: "Nothing serves now; others' records stay.", wait: "none", held: { name: "left to others" } },
  InvalidAddress: {
    text: "What the node shows is no address that a client can reach.",
    wait: "change",
    held: { name: "not published" },
    advice: "Correct or remove the annotation, or let the node report another address.",
  },
  Contested: {
    text: "Somebody else changes the records of the name again and again.",
    wait: "time",
    held: { name: "not put right yet" },
    advice: "Find out who else writes the name: external-dns, another cluster, a person. Let only one of them have it.",
    tell: "detail",
  },
  OwnedByOther: {
    text: "The name belongs to external-dns, as its TXT record says.",
    wait: "change",
    held: { name: "left to its owner" },
    advice:
      "Publish under another name, or let external-dns give this one up and remove its TXT record; to take the name over, write dnsRecordSet.foreignRecords: Adopt.",
    tell: "detail",
  },
  ForeignRecords: {
    text: "Records that flipop did not write stand at the name.",
    wait: "change",
    held: { name: "foreign records stay" },
    advice:
      "Remove them at the provider, or set dnsRecordSet.foreignRecords: Adopt to have them replaced, or Share if another cluster publishes them.",
    tell: "detail",
  },
  NewNameFirst: {
    text: "The records of the old name go once those of the new one are in place.",
    wait: "none",
    held: { formerName: "old records not deleted yet" },
  },
  RecordsRetained: {
    text: "spec.reclaimPolicy is Retain: the records of the old name stay.",
    wait: "none",
    held: { formerName: "old records stay" },
    advice: "Remove them by hand, or set spec.reclaimPolicy: Delete.",
    routedIP: {
      text: "routedIPReclaimPolicy of its issuer is Retain: the records of the old name stay.",
      advice: "Remove them by hand, or set routedIPReclaimPolicy: Delete of the issuer.",
    },
  },
  FirewallNotFound: {
    text: "The account has no such firewall.",
    wait: "change",
    phrase: "no such firewall",
    service: "config",
    held: { firewall: "cannot be used" },
    advice: "Create it, or correct routedIPFirewallName of the issuer.",
  },
  FirewallUnchangeable: {
    text: "flipop changes no firewalls at this provider.",
    wait: "change",
    phrase: "firewall that flipop does not change",
    service: "config",
    held: { firewall: "cannot be used" },
    advice: "Remove routedIPFirewallName of the issuer, and open the ports yourself.",
  },
  FirewallAmbiguous: {
    text: "Several firewalls have that name; their issuer must name one by its id.",
    wait: "change",
    phrase: "several firewalls of that name",
    service: "config",
    held: { firewall: "cannot be used" },
    advice: "Put the id of the right one into routedIPFirewallName of the issuer.",
    tell: "namesake",
  },
  FirewallReserved: {
    text: "Firewalls whose name starts with k8s- belong to DigitalOcean Kubernetes, which overwrites changes.",
    wait: "change",
    phrase: "firewall of DigitalOcean Kubernetes",
    service: "config",
    held: { firewall: "cannot be used" },
    advice:
      "Create a firewall of your own with the cluster's tag k8s:CLUSTER-ID, and put its name into routedIPFirewallName of the issuer.",
  },
  FirewallNotOwned: {
    text: "The provider replaces the rules of a firewall as a whole, so it must be flipop's own: with its label, and without rules for outgoing traffic.",
    wait: "change",
    phrase: "firewall that is not flipop's own",
    service: "config",
    held: { firewall: "cannot be used" },
    advice:
      "Create a firewall with the label flipop.digitalocean.com/owned=true, and put its name into routedIPFirewallName of the issuer. Label one that exists only if nobody else writes its rules.",
  },
  NodeWithoutFirewall: {
    text: "The node is behind no firewall, so all is open there: its first firewall would close what it does not open itself.",
    wait: "change",
    held: { firewall: "not attached" },
    advice: "Put the node behind a firewall of your own that opens what it needs; flipop then adds this one.",
  },
  LastFirewall: {
    text: "No other firewall is in force at the node: without this one everything would be open there.",
    wait: "change",
    held: { firewall: "stays attached" },
    advice: "Put the node behind another firewall, or take it out of this one by hand.",
  },
  FirewallFull: {
    text: "The firewall can take no more rules or machines.",
    wait: "change",
    phrase: "firewall without room",
    held: { firewall: "has no room" },
  },
  FirewallPending: { text: "The firewall does not let everything in yet.", wait: "change" },
  FirewallStuck: {
    text: "The provider has been carrying out a change of the firewall for five minutes or longer.",
    wait: "change",
    phrase: "change of its firewall pending for long",
    held: { firewall: "not in force everywhere" },
    advice:
      "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  },
  FirewallFailed: {
    text: "The provider gave up a change of the firewall at the machine.",
    wait: "change",
    phrase: "change of its firewall failed",
    held: { firewall: "not in force everywhere" },
    advice:
      "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  },
  UnusablePort: {
    text: "No cloud firewall can open the port.",
    wait: "change",
    held: { firewall: "one port stays closed" },
    advice: "Leave it out with spec.ports, or open it by other means.",
  },
  LastServing: { text: "It is a name's last address that serves, and leaves once another one is in.", wait: "change" },
  OtherShard: { text: "It waits for another shard.", wait: "reading", tell: "detail" },
  Limited: {
    text: "A limit of the run holds it.",
    wait: "run",
    isGuard: true,
    held: { address: "stays where it is", name: "stays published" },
    advice: "Run flipop reconcile again, or with a higher limit.",
  },
  AwaitsApproval: {
    text: "spec.approval is Voluntary, and a person has to approve it.",
    wait: "change",
    isGuard: true,
    held: { address: "stays where it is", name: "stays published" },
    routedIP: { text: "approval of its issuer is Voluntary, and a person has to approve it." },
  },
  NotConfirmed: {
    text: "It cannot be undone, and nobody has confirmed it.",
    wait: "change",
    isGuard: true,
    held: { address: "stays where it is", name: "stays published" },
    advice: "Run flipop reconcile on a terminal and answer y, or pass --yes.",
  },
  StillPublished: { text: "The address could not be taken out of DNS first.", wait: "change" },
  PermissionMissing: { text: "flipop is not permitted to do it.", wait: "change", service: "permission" },
  AdmissionRefused: { text: "A rule of the cluster refuses it.", wait: "change" },
  CRDTooOld: {
    text: "The cluster's CRD is older than this flipop and drops status fields.",
    wait: "change",
    service: "config",
    advice: "Apply the CRDs of this version.",
  },
  Stale: { text: "The world changed between plan and action.", wait: "change" },
  Failed: { text: "The attempt failed.", wait: "change" },
  PrerequisiteFailed: { text: "Something that must come first did not succeed.", wait: "change" },
  LockLost: { text: "The Lease was lost.", wait: "change" },
  Deadline: { text: "The run's time was over.", wait: "change" },
  // Summaries on conditions.
  Ready: { text: "All is as desired.", wait: "none", hasAddresses: true },
  NoActiveIP: { text: "No address is active.", wait: "none", hasAddresses: true },
  DNSPending: { text: "The records are not yet as desired.", wait: "none", hasAddresses: true },
  WaitingForAssignment: {
    text: "An address and a node that could take it wait for each other.",
    wait: "none",
    hasAddresses: true,
  },
  Deleting: { text: "The object is being deleted.", wait: "none", hasAddresses: true },
  Stable: { text: "Nothing is in progress.", wait: "none" },
  NotStalled: { text: "Nothing waits for a person.", wait: "none" },
} as const;

/** The closed vocabulary of reasons: the same word in plan, JSON, Events, conditions, metrics and the manual. A reason explains; what is done is told by typed fields. */
export const REASONS: Readonly<Record<Reason, ReasonFacts>> = ROWS;

/** One word of the closed list. */
export type Reason = keyof typeof ROWS;

/** Returns the sentence that explains a reason for an object of that kind. Ends with a full stop. */
export function reasonText(reason: Reason, kind: ObjectRef["kind"]): string {
  const { text, routedIP } = REASONS[reason];
  return (kind === "routedip" ? routedIP?.text : undefined) ?? text;
}
