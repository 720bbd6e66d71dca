/** What `flipop validate` says of one place in a file. */
export interface Finding {
  readonly code: FindingCode;
  /** Usually that of its code; a mere suspicion is a warning. */
  readonly severity: Severity;
  /** As it was given, or found in a folder; `stdin` for standard input. */
  readonly file: string;
  /** Counted from 1; the column in UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  /** `pool/ingress/web`; `""` where the document is no object. */
  readonly object: string;
  /** `spec.match.podLabel`; `""` for the document as a whole. */
  readonly path: string;
  /** What is wrong, without the path. */
  readonly message: string;
}

/** A code of {@link FINDINGS}. */
export type FindingCode =
  | "FLP200"
  | "FLP201"
  | "FLP202"
  | "FLP203"
  | "FLP204"
  | "FLP205"
  | "FLP211"
  | "FLP212"
  | "FLP213"
  | "FLP214"
  | "FLP215"
  | "FLP216"
  | "FLP217"
  | "FLP218"
  | "FLP219"
  | "FLP220"
  | "FLP221"
  | "FLP222"
  | "FLP223"
  | "FLP224"
  | "FLP225"
  | "FLP226"
  | "FLP227"
  | "FLP228"
  | "FLP240"
  | "FLP241";

/** An error is refused by the API server, or leaves something undone until a person acts. A warning works, and may not be meant. */
export type Severity = "error" | "warning";

interface FindingFacts {
  readonly severity: Severity;
  /** What the code means, for the manual and for tools. */
  readonly text: string;
}

/** Every finding of `flipop validate`, by its code. Codes stay: people suppress them in their pipelines. */
export const FINDINGS: Readonly<Record<FindingCode, FindingFacts>> = {
  FLP200: { severity: "error", text: "The text is no YAML or JSON, or a key stands twice in an object." },
  FLP201: { severity: "error", text: "A value has the wrong type." },
  FLP202: { severity: "error", text: "A value is none of those that are allowed, or out of its bounds." },
  FLP203: { severity: "error", text: "A required field is missing." },
  FLP204: { severity: "error", text: "There is no such field; the API server drops it silently." },
  FLP205: { severity: "error", text: "The group has no such kind, or no such version of it." },
  FLP211: { severity: "error", text: "The provider is unknown, or has no addresses or no DNS." },
  FLP212: { severity: "error", text: "A pool has neither ips nor desiredIPs." },
  FLP213: { severity: "error", text: "A label selector or its namespace cannot be read." },
  FLP214: { severity: "error", text: "An address is not one of the object's family: canonical IPv4, or IPv6." },
  FLP215: { severity: "error", text: "An address stands twice in one object." },
  FLP216: { severity: "error", text: "An address is asked for by two objects." },
  FLP217: { severity: "warning", text: "A pool has more ips than desiredIPs: the rest are spares." },
  FLP218: { severity: "warning", text: "A pool without a region acquires missing addresses only for nodes that wait." },
  FLP219: { severity: "error", text: "A dnsRecordSet lacks its zone or its recordName." },
  FLP220: {
    severity: "error",
    text: "A zone or a record name is no DNS name, or seems to be the name of another zone.",
  },
  FLP221: { severity: "warning", text: "The provider accepts no such TTL: another one is used." },
  FLP222: { severity: "error", text: "A name is asked for by two objects." },
  FLP223: { severity: "warning", text: "Pods are looked for in all namespaces, since podNamespace is not set." },
  FLP224: { severity: "warning", text: "A cool-off of a minute or more holds up failovers for as long." },
  FLP225: { severity: "warning", text: "The issuer of a RoutedIP does not stand in the files." },
  FLP226: { severity: "error", text: "A port is neither a port, nor a range of ports, nor all." },
  FLP227: { severity: "warning", text: "A pool asks for more addresses on a node than its provider gives a machine." },
  FLP228: {
    severity: "warning",
    text: "hostAddress is Managed at a provider whose machines need no address of their own.",
  },
  FLP240: { severity: "error", text: "With --cluster: a person would have to mend something after it is applied." },
  FLP241: { severity: "error", text: "With --cluster: the API server refuses the object in a dry run." },
};

/** All codes, ascending. */
export const FINDING_CODES: readonly FindingCode[] = Object.keys(FINDINGS) as FindingCode[];

/** What `flipop validate` found in all files. */
export interface Findings {
  /** By file, in the order in which they were read, then by line and column. */
  readonly findings: readonly Finding[];
  /** How many objects of flipop were checked. */
  readonly objects: number;
  /** How many objects of other groups were passed over. */
  readonly others: number;
  readonly files: number;
  /** How many findings were suppressed. */
  readonly suppressed: number;
}

/** How many findings are of this severity. Pure. */
export function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter((finding) => finding.severity === severity).length;
}
