/**
 * The closed vocabulary of reasons: the same word in plan, JSON, Events, conditions, metrics and the manual. The value is the
 * sentence that explains it. A reason explains; only an action's `kind` steers.
 */
export const REASONS = {
  // Why a node does not match.
  NodeDeleting: "The node is being deleted.",
  NoProviderID: "The node has no spec.providerID yet.",
  NodeNotReady: "The node's Ready condition is not True.",
  NodeLabelMismatch: "The node's labels are not selected by spec.match.nodeLabel.",
  TaintNotTolerated: "The node has a taint that spec.match.tolerations does not tolerate.",
  NoMatchingPod: "No pod that spec.match asks for runs on the node.",
  PodNotReady: "Pods that spec.match asks for are on the node, and none is Running and Ready.",
  // Why a match cannot take an address.
  UnusableProviderID: "The node's providerID does not name a machine of the pool's provider.",
  NodeHasForeignIP: "The machine already carries an address that no object names.",
  NodeHasOtherIP: "The machine already carries an address of another object.",
  RegionMismatch: "The node is in another region than the address.",
  MachineNotFound: "The provider does not know the node's machine.",
  // Why something is done.
  NodeMatched: "A matching node waits for an address.",
  HolderLost: "The holder no longer matches and a matching node waits.",
  HolderGone: "The holder is no longer a node and a matching node waits.",
  TakeOver: "spec.foreignHolder is TakeOver.",
  BelowDesired: "The pool has fewer addresses than desiredIPs.",
  AboveDesired: "The pool has more addresses than desiredIPs.",
  NotManaged: "The address was removed from the spec.",
  DropletNeeded: "The machine is needed for another address.",
  PoolDeleted: "The pool is deleted.",
  Verified: "The address is verified on the node.",
  AnnotationDrift: "The node's annotation says something else than what is verified.",
  ReclaimDelete: "spec.reclaimPolicy is Delete and flipop acquired the address.",
  NothingToReclaim: "Nothing is left that reclaimPolicy Delete would clean.",
  // Why something is not done.
  Grace: "The node became unready a moment ago and still counts as a match.",
  CoolOff: "assignmentCoolOffSeconds since the pool's last assignment are not over.",
  Backoff: "The last attempt failed and the next one is not due.",
  InProgress: "The provider is still working on it.",
  NoCandidate: "No matching node can take the address.",
  ForeignHolder: "The address is on a machine that never was a node of this cluster.",
  IPNotFound: "The provider does not know the address.",
  Conflict: "Another object owns it.",
  DuplicateIP: "The address is listed twice.",
  InvalidIP: "The entry is not a canonical IPv4 address.",
  InvalidSpec: "The object's spec is invalid.",
  Suspended: "spec.suspend is true.",
  ProviderUnavailable: "The provider cannot be used: no token, or one that is not allowed to read.",
  Unreadable: "It could not be read in this pass.",
  RateLimited: "The provider asked for no calls until a later time.",
  CreationRate: "At most 12 addresses are acquired a minute.",
  QuotaExceeded: "The account's limit of reserved addresses is reached.",
  NoRegion: "An address can be acquired only for a node or in spec.region.",
  AmbiguousAcquisition: "An earlier acquisition got no answer and several new addresses could be the one.",
  AcquisitionUnanswered: "An earlier acquisition got no answer; the account is watched before another is made.",
  DNSNotSupported: "This version of flipop does not write DNS records.",
  PermissionMissing: "flipop is not permitted to do it.",
  CRDTooOld: "The cluster's CRD is older than this flipop and drops status fields.",
  Stale: "The world changed between plan and action.",
  Failed: "The attempt failed.",
  PrerequisiteFailed: "Something that must come first did not succeed.",
  LockLost: "The Lease was lost.",
  Deadline: "The run's time was over.",
  // Summaries on conditions.
  Ready: "All is as desired.",
  NoActiveIP: "No address is active.",
  WaitingForAssignment: "An address and a node that could take it wait for each other.",
  Stable: "Nothing is in progress.",
  NotStalled: "Nothing waits for a person.",
} as const;

/** One word of the closed list. */
export type Reason = keyof typeof REASONS;
