/** One thing that flipop keeps between runs. */
export interface Remembered {
  /** Fields of `status` of any kind as schema paths, annotations or fields of the Lease by their keys; a trailing `*` stands for everything below. */
  readonly paths: readonly string[];
  readonly where:
    | "pool, routed IP status"
    | "routed IP status"
    | "record set status"
    | "status"
    | "node"
    | "pool, routed IP"
    | "object"
    | "Lease"
    | "Event";
  /** When it is written; always by a mutating run of flipop that holds the Lease. */
  readonly written: string;
  /** What happens once it is gone, by hand or because an old CRD prunes it. */
  readonly lost: string;
  /** What happens where it says something else than was written: an earlier value, garbage, or another valid value. */
  readonly wrong: string;
}

/** Everything flipop keeps outside itself: the manual's table. A status field, annotation or field of the Lease without a row fails a test. */
export const REMEMBERED: readonly Remembered[] = [
  {
    paths: ["observedGeneration", "conditions", "conditions[].*", "error", "state"],
    where: "status",
    written: "when they change",
    lost: "written again",
    wrong: "written again; a transition time in the future is now",
  },
  {
    paths: ["assignableNodes", "nodeErrors"],
    where: "pool, routed IP status",
    written: "when they change",
    lost: "written again",
    wrong: "written again",
  },
  {
    paths: ["summary", "summary.addresses", "summary.nodes"],
    where: "pool, routed IP status",
    written: "when it changes",
    lost: "written again; `kubectl get` shows no count until then",
    wrong: "written again",
  },
  {
    paths: ["summary", "summary.addresses"],
    where: "record set status",
    written: "when it changes",
    lost: "written again; `kubectl get` shows no count until then",
    wrong: "written again",
  },
  {
    paths: ["ips", "ips{}.state", "ips{}.nodeName", "ips{}.providerID", "ips{}.error", "ips{}.reason"],
    where: "pool, routed IP status",
    written: "when they change",
    lost: "read again from the provider; an address whose holder left the cluster meanwhile looks foreign, and is held",
    wrong: "read again from the provider; which addresses are in use may be chosen anew",
  },
  {
    paths: ["ips{}.previousProviderID"],
    where: "pool, routed IP status",
    written: "while a move is under way, and while nothing is selected and the address is on no machine",
    lost: "a move that fails may leave the address looking foreign, and held; `EmptyTarget` may be told no more",
    wrong: "the same",
  },
  {
    paths: ["ips{}.notMatchingSince"],
    where: "pool, routed IP status",
    written: "while a holder does not match",
    lost: "grace counts from what the cluster shows, else from now",
    wrong: "a time in the future is now; an earlier one ends grace earlier",
  },
  {
    paths: ["ips{}.drainingUntil", "released[].drainingUntil"],
    where: "pool, routed IP status",
    written:
      "before an address leaves DNS while its node still serves; removed once the address has moved and the names of its node show it again",
    lost: "the address goes at once, or its machine to another one",
    wrong: "the address goes earlier or later, at most ten minutes after the TTL from now",
  },
  {
    paths: ["ips{}.drainsForSeconds", "released[].drainsForSeconds"],
    where: "pool, routed IP status",
    written: "before an address leaves DNS, with `drainingUntil`; removed once it has left",
    lost: "`drainingUntil` counts: where a run died after the address had left DNS, it may go earlier",
    wrong:
      "where a run died after the address had left DNS, it goes earlier or later, at most ten minutes after the TTL from now",
  },
  {
    paths: ["ips{}.inherited"],
    where: "pool, routed IP status",
    written: "while an address that never served its object stays where another one left it",
    lost: "the address goes at once, and takes the machine of one that drains",
    wrong:
      "an address that cannot serve its object waits until no name of another one shows it, and no resolver has it; so long it takes no machine of one that drains",
  },
  {
    paths: ["acquired", ...["ip", "acquiredAt", "adopted"].map((field) => `acquired[].${field}`)],
    where: "pool, routed IP status",
    written: "with each acquisition",
    lost: "known again by the pool's annotation, with all of the status lost, too; where that is lost as well, by `ips` or by the nodes' annotations. Such addresses are never deleted",
    wrong:
      "believed, if the account has the address; what is no address is dropped. With `reclaimPolicy: Delete` an address written here by hand is given back like the others",
  },
  {
    paths: [
      "pendingAcquisitions",
      ...["startedAt", "region", "providerID", "nodeName", "knownIPs", "restored", "candidates"].map(
        (field) => `pendingAcquisitions[].${field}`,
      ),
    ],
    where: "pool, routed IP status",
    written: "before each acquisition, removed with its answer",
    lost: "known again by the pool's annotation, with all of the status lost, too, but not what the account had before: an address on the machine it was for is taken, any other that may be the one is held (`LostAcquisition`), and another is bought only where there is none",
    wrong:
      "with other known addresses or another machine the wrong one is looked for: held (`AmbiguousAcquisition`) where several could be the one; an unreadable or future time is now",
  },
  {
    paths: ["acquired[].provider", "pendingAcquisitions[].provider"],
    where: "pool, routed IP status",
    written: "with each acquisition",
    lost: "known again by the pool's annotation; where that is lost as well, it is the provider that the object names",
    wrong:
      "the object is invalid, and says which provider it would have to name; nothing is bought or given back until one of both is put right",
  },
  {
    paths: ["released", ...["ip", "providerID", "nodeName", "acquired"].map((field) => `released[].${field}`)],
    where: "pool, routed IP status",
    written: "when an address leaves the spec",
    lost: "the address stays attached, and nobody detaches it",
    wrong:
      "forgotten once the account does not have it, it is attached nowhere, or an object manages it and no resolver has it from a name of this one",
  },
  {
    paths: ["released[].releasedAt"],
    where: "pool, routed IP status",
    written: "with the entry",
    lost: "`flipop status` does not say when",
    wrong: "`flipop status` says another time",
  },
  {
    paths: ["lastAssignmentTime"],
    where: "pool, routed IP status",
    written: "with each assignment",
    lost: "the cool-off is over",
    wrong: "the cool-off ends earlier or later, never later than its full length from now",
  },
  {
    paths: ["assignments"],
    where: "pool, routed IP status",
    written: "with each assignment",
    lost: "counts from 0",
    wrong: "counts on from there",
  },
  {
    paths: ["publishedDNS", "publishedDNS.*"],
    where: "status",
    written: "when the records are right",
    lost: "written again from the records; a name that changes at that moment is not cleaned up; a rival may take the name",
    wrong:
      "the name written there counts as a former one: with `reclaimPolicy: Delete` its records go, as far as they show the addresses written there",
  },
  {
    paths: ["formerDNS", "formerDNS[].*"],
    where: "status",
    written: "when the name changes",
    lost: "the records of the former name stay; where a definition forgets it, the name counts as not changed, and each run says so",
    wrong: "as for `publishedDNS`",
  },
  {
    paths: ["leftDNS", "leftDNS[].*"],
    where: "status",
    written:
      "before an address leaves the name that no object has on record any more, and before the TTL of a name is lowered",
    lost: "whoever takes the address moves it at once; what leaves the name drains by its new TTL",
    wrong: "the address moves earlier or later, at most a day from now",
  },
  {
    paths: ["fight", "fight.*"],
    where: "status",
    written: "right before records are put right that somebody else changed",
    lost: "the fight begins anew: three repairs are made at once",
    wrong:
      "no repair waits longer than ten minutes from now, and none of a name that is empty; unreadable or old times mean that the fight is over",
  },
  {
    paths: ["ipv6", "ipv6.*"],
    where: "record set status",
    written: "the same for AAAA records, when the A records' would be",
    lost: "as for the A records",
    wrong: "as for the A records",
  },
  {
    paths: ["retries", "retries[].*"],
    where: "status",
    written: "after a failed attempt",
    lost: "the next attempt is made at once",
    wrong: "dropped where nothing is left to do; no attempt waits longer than ten minutes from now",
  },
  {
    paths: ["unreadyNodes", "unreadyNodes[].*"],
    where: "record set status",
    written: "while a node is in grace",
    lost: "grace counts from what the cluster shows, else from now",
    wrong: "a time in the future is now; an earlier one ends grace earlier",
  },
  {
    paths: ["address", "nodeName"],
    where: "routed IP status",
    written: "when they change",
    lost: "written again",
    wrong: "written again; nothing is decided by them",
  },
  {
    paths: ["firewalls", "firewalls[].*"],
    where: "routed IP status",
    written: "before a port is opened, or a node put behind a firewall; removed once it is closed, or out, again",
    lost: "what was added stays at the firewall for good, as if somebody else had put it there",
    wrong:
      "a port or a node written there counts as flipop's: it is taken away once no object needs it, if the firewall has it just so; what the firewall does not show is dropped",
  },
  {
    paths: ["pendingFirewalls", "pendingFirewalls[].*"],
    where: "routed IP status",
    written: "while a change of its firewall is pending where the address is or could go",
    lost: "the five minutes until `Stalled` count from now",
    wrong: "a time in the future, or that cannot be read, is now; an earlier one makes it `Stalled` earlier",
  },
  {
    paths: ["issuer", "issuer.*"],
    where: "routed IP status",
    written: "when the issuer changes; its provider only while nothing is acquired",
    lost: "written again; a deletion while there is no such issuer waits for one",
    wrong: "counts only for a deletion while there is no such issuer",
  },
  {
    paths: [
      "flipop.digitalocean.com/ipv4-reserved-ip",
      "flipop.digitalocean.com/pool",
      "flipop.digitalocean.com/ipv6-reserved-ip",
      "flipop.digitalocean.com/ipv6-pool",
    ],
    where: "node",
    written: "once an address is verified on the node; removed when it is no longer there",
    lost: "written again",
    wrong: "written again; without the pool's one only an address that some object names is touched",
  },
  {
    paths: ["flipop.digitalocean.com/host-addresses", "flipop.digitalocean.com/host-ipv6-addresses"],
    where: "node",
    written: "in the same write, of objects with `hostAddress: Managed`",
    lost: "written again; until then `flipop host` takes the addresses from the host",
    wrong: "written again; an address that no object names stays, and `flipop host` puts it on the host",
  },
  {
    paths: ["flipop.digitalocean.com/acquired"],
    where: "pool, routed IP",
    written:
      "right after `acquired` and `pendingAcquisitions`, before an address is bought; removed when both are empty",
    lost: "written again; nothing is bought while it cannot be",
    wrong:
      "what status does not have is added to it, if it is an address of the account or a place where one was bought; the pool's uid must be its first word, so a copied manifest changes nothing. With it removed an acquisition that status had lost is given up",
  },
  {
    paths: ["flipop.digitalocean.com/cleanup"],
    where: "object",
    written: "a finalizer, while `reclaimPolicy: Delete` has work",
    lost: "set again; on an object being deleted nothing holds it any more, and what it had stays",
    wrong: "–",
  },
  {
    paths: ["holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions"],
    where: "Lease",
    written: "by every mutating run, before it reads anything, every few seconds, and at its end",
    lost: "made anew; the run that held it notices and writes nothing more",
    wrong: "the Lease is free once it has not changed for its duration, at most an hour",
  },
  {
    paths: ["flipop.digitalocean.com/shards"],
    where: "Lease",
    written: "by a run with --shard, once it holds its own Lease and then every lease duration, if it is not there",
    lost: "each shard that runs enters it again within a lease duration, and gives up for one that began meanwhile and overlaps",
    wrong: "what is no shard is passed over; one that holds no Lease keeps nobody away",
  },
  {
    paths: ["flipop.digitalocean.com/acquisitions"],
    where: "Lease",
    written: "before each acquisition",
    lost: "the limit of 12 a minute counts from 0",
    wrong: "unreadable times are dropped, future ones are now",
  },
  {
    paths: ["flipop.digitalocean.com/acquisitions-ipv6"],
    where: "Lease",
    written: "before each acquisition of an IPv6 address",
    lost: "the limit of 12 a minute counts from 0",
    wrong: "unreadable times are dropped, future ones are now",
  },
  {
    paths: ["flipop.digitalocean.com/not-before-"],
    where: "Lease",
    written: "when a provider asks for no calls until a time; removed when it is over",
    lost: "the next run calls, and is told again",
    wrong: "believed for an hour at most; unreadable times are dropped",
  },
  {
    paths: ["flipop.digitalocean.com/grants"],
    where: "Lease",
    written: "at the end of a pass in which grants counted, or no longer did",
    lost: "`plan` and `status` without `--grants` tell nothing of grants",
    wrong: "another word than `warn` and `require` is none; a run goes by its own flag",
  },
  {
    paths: ["flipop.digitalocean.com/put-off-"],
    where: "Lease",
    written: "when calls were not left to look at every name; removed when all were looked at",
    lost: "the next look begins with the first name",
    wrong: "shown as it is; only the order of looks is decided by it",
  },
  {
    paths: [
      "flipop.digitalocean.com/last-run",
      "flipop.digitalocean.com/last-success",
      "flipop.digitalocean.com/last-result",
    ],
    where: "Lease",
    written: "at the end of each run",
    lost: "`status` and metrics do not know of earlier runs",
    wrong: "shown as it is until the next run; nothing is decided by it",
  },
  {
    paths: ["flipop.digitalocean.com/totals"],
    where: "Lease",
    written: "at the end of each run",
    lost: "metrics count from 0",
    wrong:
      "metrics count on from there; what cannot be read counts from 0; a change of a name by somebody else may be missed, or one counted that was none",
  },
  {
    paths: ["Events"],
    where: "Event",
    written:
      "after each change made, accepted or refused, with its reason; when the object begins to wait for a person",
    lost: "never read",
    wrong: "never read",
  },
];

/** The table of the manual. Pure. */
export function rememberedTable(): string {
  const rows = REMEMBERED.map(({ paths, where, written, lost, wrong }) => {
    const own = paths.filter((path) => !path.endsWith(".*"));
    return `| ${own.map((path) => `\`${path}\``).join(", ")} | ${where} | ${written} | ${lost} | ${wrong} |`;
  });
  const head = "| what | kept in | written | lost, or pruned by an old CRD | stale, or edited by hand |";
  return [head, "|---|---|---|---|---|", ...rows].join("\n");
}
