import type { Hold } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";

type Advice = Readonly<Partial<Record<Reason, string>>>;

/** What a person can do about it, where there is something. */
const ADVICE: Advice = {
  QuotaExceeded: "Ask DigitalOcean for a higher limit, or lower desiredIPs.",
  InvalidSpec: "Correct the object's spec.",
  SelectorRefused: "Correct podNamespace or podLabel, or ask who runs the API server why it refuses them.",
  InvalidIP: "Correct or remove the entry in spec.ips.",
  DuplicateIP: "Remove one of the two entries from spec.ips.",
  Conflict: "Remove it from one of the two objects.",
  IPNotFound: "Remove it from spec.ips, or check that the token belongs to the right account.",
  NoRegion: "Set spec.region.",
  AmbiguousAcquisition: "List the right one in spec.ips, or remove the others from the account.",
  LostAcquisition:
    "List it in spec.ips if it is the pool's; if none is, remove the annotation flipop.digitalocean.com/acquired from the pool to acquire another.",
  Suspended: "To go on, set spec.suspend: false.",
  InvalidDNS: "Correct its dnsRecordSet.",
  ZoneNotFound: "Create the zone, correct dnsRecordSet.zone, or use a token that may see it.",
  InvalidAddress: "Correct or remove the annotation.",
  RecordsRetained: "Remove them by hand, or set spec.reclaimPolicy: Delete.",
  FirewallNotFound: "Create it, or correct routedIPFirewallName of the issuer.",
  FirewallAmbiguous: "Put the id of the right one into routedIPFirewallName of the issuer.",
  FirewallReserved:
    "Create a firewall of your own with the cluster's tag k8s:CLUSTER-ID, and put its name into routedIPFirewallName of the issuer.",
  FirewallStuck:
    "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  FirewallFailed:
    "Look at the machine and the firewall at the provider; taking the machine out of the firewall and adding it again makes the provider try anew.",
  UnusablePort: "Leave it out with spec.ports, or open it by other means.",
  CRDTooOld: "Apply the CRDs of this version.",
};

/** The same for a RoutedIP, where its fields or those of its issuer are meant. */
const OF_ROUTED_IPS: Advice = {
  QuotaExceeded: "Ask DigitalOcean for a higher limit, or name an address of the account in spec.address.",
  SelectorRefused: "Correct the Service, or ask who runs the API server why it refuses the list.",
  IPNotFound: "Correct spec.address, or check that the token belongs to the right account.",
  NoRegion: "Set region of the issuer.",
  AmbiguousAcquisition: "Name the right one in spec.address, or remove the others from the account.",
  LostAcquisition:
    "Name it in spec.address if it is this object's; if none is, remove the annotation flipop.digitalocean.com/acquired from the RoutedIP to acquire another.",
  RecordsRetained: "Remove them by hand, or set routedIPReclaimPolicy: Delete of the issuer.",
};

/** What of a RoutedIP, or of what it refers to, is invalid: the beginning of the text, and what to do. */
const INVALID: readonly (readonly [RegExp, string])[] = [
  [/^issuer ".*" not found/, "Create it, or correct spec.issuer."],
  [/^issuer ".*" is invalid/, "Correct the issuer."],
  [/^(unknown provider|provider) "/, "Correct provider of the issuer."],
  [/^Service ".*" not found/, "Create it, or correct spec.serviceName."],
  [/^Service ".*" is an ExternalName/, "Name a Service that pods serve."],
  [/^Error parsing node selector/, "Correct nodeLabel of the issuer."],
];

/** Returns what a person can do about a hold; undefined where there is nothing, or nothing needs to be done. */
export function adviceFor({ reason, object, detail }: Hold): string | undefined {
  if (object.kind !== "routedip") return ADVICE[reason];
  const invalid = reason === "InvalidSpec" ? INVALID.find(([text]) => text.test(detail))?.[1] : undefined;
  return invalid ?? OF_ROUTED_IPS[reason] ?? ADVICE[reason];
}
