import { watchPromises } from "./promises.ts";
import { isWrite, type Strike, type WireCall } from "./wire.ts";
import { populate, type WireStory } from "./wire-story.ts";
import { wrongs } from "./wire-truth.ts";
import { type Snapshot, type WireRun, WireWorld } from "./wire-world.ts";

/** What a struck run left behind, and what the runs after it made of that; one sentence per thing that is wrong. */
export interface Played {
  readonly isStruck: boolean;
  readonly problems: readonly string[];
  /** The struck run. */
  readonly run: WireRun;
  /** Its requests. */
  readonly calls: readonly WireCall[];
}

/** How the struck run differs from the usual one, and what is done before the clean ones. */
export interface StruckRun {
  readonly args?: readonly string[];
  /** Its `--timeout`. */
  readonly timeoutMs?: number;
  readonly callTimeoutMs?: number;
  readonly afterwards?: (world: WireWorld) => unknown;
}

/** Both worlds in which a story may begin. */
export interface Beginnings {
  readonly empty: Snapshot;
  readonly filled: Snapshot;
}

/** The `--timeout` of a struck run where nothing else is said. */
const TIMEOUT_MS = 20_000;
/** How much longer it may take to end, on a busy machine. Whoever waits for a server that says nothing takes longer. */
const ENDING_MS = 15_000;
/** For runs without a fault, which no busy machine may bring to a bad end. */
const PATIENT = ["--lease-duration", "50s", "--renew-deadline", "40s", "--timeout", "60s", "--on-locked", "wait"];
const PATIENT_CALL_MS = 20_000;
const GROUP = "/apis/coordination.k8s.io/v1";
const LEASES = `${GROUP}/leases`;
/** Longer than every retry schedule. */
const LATER_MS = 900_000;

/** Makes the worlds in which the stories begin. */
export async function beginnings(): Promise<Beginnings> {
  const world = await WireWorld.open();
  try {
    await populate(world);
    const empty = await world.snapshot();
    // The first run of a process loads the SDKs, which takes its time.
    const { code, text } = await world.reconcile(PATIENT, PATIENT_CALL_MS);
    if (code !== 0) throw new Error(`the first fill without a fault ended with ${code}:\n${text}`);
    return { empty, filled: await world.snapshot() };
  } finally {
    await world.close();
  }
}

/** The keys of all requests of a story in which nothing goes wrong, in order. */
export async function callsOf(story: WireStory, begin: Beginnings): Promise<readonly WireCall[]> {
  const { calls, problems } = await play(story, begin, () => undefined, { callTimeoutMs: PATIENT_CALL_MS });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return calls;
}

/**
 * Plays a story with a run whose requests are struck as told, then with a clean run a quarter of an hour later, and one more,
 * which has nothing to write.
 */
export async function play(
  story: WireStory,
  begin: Beginnings,
  strike: (call: WireCall, world: WireWorld) => Strike | undefined,
  { args = [], timeoutMs = TIMEOUT_MS, callTimeoutMs, afterwards = () => undefined }: StruckRun = {},
): Promise<Played> {
  const world = await WireWorld.open(story.isFilled ? begin.filled : begin.empty);
  try {
    await story.change(world);
    const broken = watchPromises(world, story);
    let isStruck = false;
    world.wire.begin((call) => {
      const struck = strike(call, world);
      isStruck ||= struck !== undefined;
      return struck;
    });
    const run = await world.reconcile(["--timeout", `${timeoutMs}ms`, ...args], callTimeoutMs);
    const calls = world.wire.calls();
    await afterwards(world);
    const problems = [
      ...badEnd(run, timeoutMs + ENDING_MS),
      ...(await repair(world, story)),
      ...broken,
      ...world.wire.strays(),
    ];
    return { isStruck, problems: problems.map((problem) => problem.slice(0, 1500)), run, calls };
  } finally {
    await world.close();
  }
}

function badEnd({ code, text, ms }: WireRun, longestMs: number): readonly string[] {
  return [
    ...([0, 3, 75, 77].includes(code) ? [] : [`the struck run ended with ${code}:\n${text}`]),
    ...(code !== 0 && text.trim() === "" ? [`the struck run ended with ${code} and said nothing`] : []),
    ...(/^\s+at .+:\d+/m.test(text) ? [`the struck run printed a stack:\n${text}`] : []),
    ...(ms > longestMs ? [`the struck run took ${Math.round(ms)} ms`] : []),
  ];
}

/** Lets time pass, and makes two clean runs. Returns what is wrong after the first, or what the second still writes. */
export async function repair(world: WireWorld, story: WireStory): Promise<readonly string[]> {
  world.advance(LATER_MS);
  await shortenLeases(world);
  world.wire.begin();
  const clean = await world.reconcile(PATIENT, PATIENT_CALL_MS);
  const left = await wrongs(world, story);
  if (clean.code !== 0 || left.length > 0)
    return [`after the clean run, which ended with ${clean.code}:`, ...left, clean.text];
  world.wire.begin();
  const silent = await world.reconcile(PATIENT, PATIENT_CALL_MS);
  const writes = world.wire.calls().filter((call) => isWrite(call) && !call.path.includes("/leases"));
  if (silent.code !== 0 || writes.length > 0)
    return [`the second clean run ended with ${silent.code} and wrote ${writes.map(({ key }) => key).join(", ")}`];
  return [];
}

/** Whoever meets a Lease that was not given back watches it for its whole duration before taking it. Here a second will do. */
async function shortenLeases(world: WireWorld): Promise<void> {
  const { items } = (await world.rest("GET", LEASES)) as { readonly items: readonly LeaseOnWire[] };
  for (const { metadata } of items) {
    const path = `${GROUP}/namespaces/${metadata.namespace}/leases/${metadata.name}`;
    await world.rest("PATCH", path, { spec: { leaseDurationSeconds: 1 } });
  }
}

interface LeaseOnWire {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

/** Does the work for every item, several at a time; results in the order of the items. */
export async function several<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
