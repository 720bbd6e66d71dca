import { importsOf, type Source } from "./sources.ts";

/** Higher ranks know lower ones, never the other way round. */
const RANKS: Readonly<Record<string, number>> = {
  model: 0,
  plan: 1,
  report: 1,
  ports: 1,
  observe: 2,
  rehearse: 2,
  saved: 2,
  snapshot: 2,
  history: 2,
  apply: 2,
  host: 2,
  adapters: 2,
  "(top)": 3,
  validate: 3,
  doctor: 3,
  watch: 3,
  cli: 4,
  sandbox: 4,
};
/** Folders that only the command line may import. */
const CLI_ONLY: readonly string[] = ["adapters", "sandbox"];
/** Parts that know less than their rank allows, and what they know. */
const KNOWS_ONLY: Readonly<Record<string, readonly string[]>> = {
  sandbox: ["model"],
  rehearse: ["model", "plan"],
  saved: ["model", "plan", "report"],
  snapshot: ["model"],
  history: ["model"],
  host: ["model", "ports"],
  validate: ["model", "plan", "rehearse"],
  doctor: ["model", "ports", "report"],
  "adapters/http": ["model", "ports"],
  "adapters/dns": ["adapters", "model", "ports"],
};
/** What adapters have in common, and which may import it. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  http: ["cloudflare", "digitalocean", "dns", "hetzner", "host", "kube", "notify", "pushgateway", "webhook"],
  dns: ["cloudflare", "digitalocean", "hetzner", "webhook"],
  files: ["kube"],
};

/** The subjects of the planner. They know nothing of each other: what stands beside `plan.ts` joins them. */
const SUBJECTS: readonly string[] = ["addresses", "firewalls", "names", "nodes", "status"];
/** Subjects that still know another one. This list only ever gets shorter. */
const STILL_KNOWN: readonly string[] = ["status knows firewalls", "status knows names"];

/** Imports between subjects of the planner, and entries of {@link STILL_KNOWN} that are not needed any more, one sentence each. */
export function joinedSubjects(
  sources: readonly Source[],
  stillKnown: readonly string[] = STILL_KNOWN,
): readonly string[] {
  const found = sources.flatMap(importsOf).flatMap(({ from, target }) => {
    const [own, other] = [subjectOf(from), subjectOf(target)];
    const isJoined = own !== undefined && other !== undefined && own !== other;
    return isJoined
      ? [{ edge: `${own} knows ${other}`, text: `${from} imports ${target}: ${own} knows ${other}` }]
      : [];
  });
  const known = new Set(found.map(({ edge }) => edge));
  return [
    ...found.filter(({ edge }) => !stillKnown.includes(edge)).map(({ text }) => text),
    ...stillKnown.filter((edge) => !known.has(edge)).map((edge) => `${edge} no longer: take it from STILL_KNOWN`),
  ];
}

function subjectOf(path: string): string | undefined {
  return SUBJECTS.find((subject) => path.startsWith(`src/plan/${subject}/`));
}

/** Imports that point the wrong way, one sentence each. */
export function wrongDirections(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((one) => !one.isPackage)
      .flatMap((one) => complaint(one.from, one.target) ?? []),
  );
}

function complaint(from: string, target: string): string | undefined {
  const [own, other] = [folderOf(from), folderOf(target)];
  const [ownRank, otherRank] = [RANKS[own], RANKS[other]];
  if (ownRank === undefined) return `${from}: no rank for ${own}`;
  if (otherRank === undefined) return `${from} imports ${target}: no rank for ${other}`;
  if (own === other) return withinFolder(from, target);
  const part = Object.keys(KNOWS_ONLY).find((name) => from.startsWith(`src/${name}/`)) ?? "";
  const known = KNOWS_ONLY[part] ?? [other];
  if (!known.includes(other)) return `${from} imports ${target}: ${part} knows only ${known.join(" and ")}`;
  if (own !== "cli" && CLI_ONLY.includes(other)) return `${from} imports ${target}: only cli imports ${other}`;
  return own === "cli" || otherRank < ownRank ? undefined : `${from} imports ${target}: ${other} is not below ${own}`;
}

function withinFolder(from: string, target: string): string | undefined {
  if (from === target) return `${from} imports itself`;
  return folderOf(from) === "adapters" ? betweenAdapters(from, target) : undefined;
}

/** The one file that knows every adapter. */
const REGISTRY = "src/adapters/registry.ts";

/** Adapters know nothing of each other, except what they have in common. */
function betweenAdapters(from: string, target: string): string | undefined {
  const [own, other] = [adapterOf(from), adapterOf(target)];
  if (from === REGISTRY) return undefined;
  const isShared = SHARED[other]?.includes(own) ?? false;
  return own === other || isShared ? undefined : `${from} imports ${target}: an adapter imports another`;
}

/** The folder below src/adapters/. */
function adapterOf(path: string): string {
  return path.split("/")[2] ?? path;
}

/** The folder below src/; the files of src/ itself, reconcile.ts and its like, count as one. */
function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length === 2 ? "(top)" : (parts[1] ?? path);
}
