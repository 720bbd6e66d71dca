// Plants each bug of mutations.ts and lets the simulator look for it; --help says how.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { argsOf, CAUGHT_BY, PROOF_KINDS, PROOFS_FILE, type Proof, type ProofKind } from "./caught-by.ts";
import { FIREWALL_BUGS } from "./firewall-bugs.ts";
import { LASTING_BUGS } from "./lasting-bugs.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import { SHARD_BUGS } from "./shard-bugs.ts";

const OPTIONS = {
  seeds: { type: "string", default: "300", help: "N: how many histories each bug may hide from, before the stories" },
  from: { type: "string", default: "1", help: "N: the seed of the first one" },
  only: { type: "string", default: "", help: "TEXT: only bugs with this in their name or file" },
  missing: { type: "boolean", default: false, help: "only bugs that no recorded history finds" },
  "no-stories": { type: "boolean", default: false, help: "leave the stories out, which take minutes" },
  afresh: { type: "boolean", default: false, help: "look for every bug anew, also where a recorded history finds it" },
  record: { type: "boolean", default: false, help: "write down what finds each bug, for the tests" },
  help: { type: "boolean", default: false, help: "show this" },
} as const satisfies ParseArgsConfig["options"] & Record<string, { help: string }>;

/** A bug that makes a history last so long is caught, too, milliseconds. */
const LONGEST_MS = 300_000;
/** The stories by themselves last minutes. */
const LONGEST_STORIES_MS = 1_800_000;
/** A change of the product moves the calls of a story by so many at most. */
const NEAR_CALLS = 15;
const root = fileURLToPath(new URL("../..", import.meta.url));

const { values } = parseArgs({ options: OPTIONS });
if (values.help) help();
else check();

function help(): void {
  print("npm run mutations -- [options]\n");
  for (const [name, option] of Object.entries(OPTIONS)) print(`  --${name.padEnd(12)}${option.help}`);
}

function check(): void {
  const chosen = MUTATIONS.filter(({ name, file }) => `${name} ${file}`.includes(values.only)).filter(
    ({ name }) => !values.missing || !CAUGHT_BY.has(name),
  );
  const proofs = new Map(CAUGHT_BY);
  let survived = 0;
  for (const mutation of chosen) {
    const { proof, how } = hunt(mutation, proofs.get(mutation.name));
    if (how === undefined) survived += 1;
    if (proof !== undefined) proofs.set(mutation.name, proof);
    print(`${how === undefined ? "SURVIVED" : "caught  "} ${(how ?? "").padEnd(44)} ${mutation.name}`);
    if (values.record) record(proofs);
  }
  print(`${chosen.length} bugs planted, ${chosen.length - survived} caught, ${survived} survived`);
  if (survived > 0) process.exitCode = 1;
}

interface Hunt {
  readonly proof?: Proof;
  /** What finds it; absent = nothing does. */
  readonly how?: string;
}

/** Plays what found the bug before, then the same story struck a little earlier or later, then new histories, then the stories struck at every call, until it is found. */
function hunt({ name }: Mutation, known: Proof | undefined): Hunt {
  const again = known === undefined || values.afresh ? {} : huntAgain(name, known);
  if (again.how !== undefined) return again;
  const isLasting = LASTING_BUGS.some((bug) => bug.name === name);
  const isOfShards = SHARD_BUGS.some((bug) => bug.name === name);
  const kind = isLasting ? ["--lasting"] : FIREWALL_BUGS.some((bug) => bug.name === name) ? ["--routed"] : [];
  const bySeed = isOfShards ? huntAmongShards(name) : huntBySeed(name, kind);
  return bySeed.how === undefined && !values["no-stories"] && !isLasting && !isOfShards
    ? playWith(name, [...kind, "--stories"])
    : bySeed;
}

/** Plays new histories of shards: of single runs, then of processes that watch. */
function huntAmongShards(bug: string): Hunt {
  const single = huntBySeed(bug, ["--shards"]);
  return single.how === undefined ? huntBySeed(bug, ["--shards", "--watch"]) : single;
}

/** Plays what found the bug before; of a story also the same strike at the calls around it. */
function huntAgain(bug: string, known: Proof): Hunt {
  const { how: same } = isSound(known) ? playWith(bug, argsOf(known)) : {};
  if (same !== undefined) return { how: same, proof: known };
  if (!("story" in known)) return {};
  const { call, ...how } = JSON.parse(known.strike) as { readonly call: number };
  const calls = Array.from({ length: NEAR_CALLS }, (_, at) => [call + at + 1, call - at - 1]).flat();
  for (const other of calls.filter((number) => number > 0)) {
    const proof = { story: known.story, strike: JSON.stringify({ call: other, ...how }) };
    const found = playWith(bug, argsOf(proof));
    if (found.how !== undefined && isSound(proof)) return { how: found.how, proof };
  }
  return {};
}

/** Plays new histories, and passes over those that break a promise without the bug, too. */
function huntBySeed(bug: string, kind: readonly string[]): Hunt {
  const end = Number(values.from) + Number(values.seeds);
  for (let from = Number(values.from); from < end; ) {
    const found = playWith(bug, [...kind, "--seeds", `${end - from}`, "--from", `${from}`]);
    if (found.proof === undefined || !("seed" in found.proof) || isSound(found.proof)) return found;
    from = found.proof.seed + 1;
  }
  return {};
}

/** True if a history breaks no promise by itself: only then it shows that a bug does. */
function isSound(proof: Proof): boolean {
  return playWith(undefined, argsOf(proof)).how === undefined;
}

function playWith(bug: string | undefined, args: readonly string[]): Hunt {
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    ["test/simulation/run.ts", ...(bug === undefined ? [] : ["--bug", bug]), "--brief", ...args],
    { cwd: root, encoding: "utf8", timeout: args.includes("--stories") ? LONGEST_STORIES_MS : LONGEST_MS },
  );
  const [, where, invariant] = /^((?:seed|story) [^:]+): ([^:]+):/m.exec(stdout) ?? [];
  if (where === undefined && error === undefined && stderr !== "") throw new Error(stderr);
  if (where === undefined) return error === undefined ? {} : { how: "hangs" };
  const how = `${invariant}, ${where}`;
  const chosen = PROOF_KINDS.filter((kind) => args.includes(`--${kind}`));
  const proof = proofIn(stdout, where, Object.fromEntries(chosen.map((kind) => [kind, true])));
  return proof === undefined ? { how } : { how, proof };
}

function proofIn(stdout: string, where: string, kinds: ProofKind): Proof | undefined {
  const [, seed] = /^seed (\d+)$/.exec(where) ?? [];
  const [, story, strike] = /--story ("[^"]+") --strike '([^']+)'/.exec(stdout) ?? [];
  if (seed !== undefined) return { seed: Number(seed), ...kinds };
  return story === undefined || strike === undefined ? undefined : { story: JSON.parse(story), strike };
}

function record(proofs: ReadonlyMap<string, Proof>): void {
  const names = new Set(MUTATIONS.map(({ name }) => name));
  const kept = [...proofs].filter(([name]) => names.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(PROOFS_FILE, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
