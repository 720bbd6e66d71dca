import { type DNSRun, withDNSScene } from "./dns-scene.ts";
import { DNS_ZONES, OTHER_RECORDS } from "./dns-zone.ts";
import { callFigure, type Figure, timeFigure } from "./figure.ts";
import type { Section } from "./table.ts";
import type { World } from "./world.ts";

const COUNTS = [1, 10, 100] as const;
const NAMES = 100;
/** As many names as one page of DigitalOcean's could not hold by far. */
const MANY_NAMES = 400;
/** Of each name; that is what a first fill writes. */
const ADDRESSES = 3;
const RUNS = 3;

/** Names of the nodes' own addresses at every DNS provider: filled, changed, and left alone. */
export async function benchDNS(world: World): Promise<Section> {
  const figures: Figure[] = [];
  for (const provider of Object.keys(DNS_ZONES)) {
    for (const names of COUNTS) {
      const fills = await repeat(() => withDNSScene(world, { provider, names }, ({ run }) => run()));
      figures.push(...fillFigures(provider, names, fills));
    }
    figures.push(...(await ofHundredNames(world, provider)));
    figures.push(...(await ofManyNames(world, provider)));
  }
  return { title: `DNS: names of ${ADDRESSES} addresses in a zone with ${OTHER_RECORDS} other records`, figures };
}

async function ofHundredNames(world: World, provider: string): Promise<readonly Figure[]> {
  return await withDNSScene(world, { provider, names: NAMES }, async ({ run, setLastNode }) => {
    await run();
    const figures: Figure[] = [];
    for (const count of COUNTS) {
      const changes = await repeat(async () => {
        await setLastNode("out", count);
        const change = await run();
        await setLastNode("in", count);
        await run();
        return change;
      });
      figures.push(...changeFigures(provider, count, changes));
    }
    return [...figures, ...idleFigures(provider, NAMES, await repeat(() => run({ isMetered: true })))];
  });
}

async function ofManyNames(world: World, provider: string): Promise<readonly Figure[]> {
  return await withDNSScene(world, { provider, names: MANY_NAMES }, async ({ run }) => {
    await run();
    return idleFigures(provider, MANY_NAMES, await repeat(() => run({ isMetered: true })));
  });
}

function fillFigures(provider: string, names: number, runs: readonly DNSRun[]): readonly Figure[] {
  checkChanges(runs, names * ADDRESSES);
  const what = `${provider}, first fill of ${many(names)}`;
  const records = Array.from({ length: names }, (_, index) => OTHER_RECORDS + index * ADDRESSES);
  return [
    readFigure(what, runs, {
      most: mostReads(provider, 2 + textPages(provider), names),
      goOperator: `≥ ${goReads(provider, records)}`,
    }),
    writeFigure(what, runs, { most: mostWrites(provider, names, runs), goOperator: `≥ ${names * ADDRESSES}` }),
    ...wallFigures(what, names, runs),
  ];
}

function changeFigures(provider: string, names: number, runs: readonly DNSRun[]): readonly Figure[] {
  checkChanges(runs, names);
  const what = `${provider}, one address leaves ${names} of ${NAMES} names`;
  const records = Array.from({ length: names }, (_, index) => OTHER_RECORDS + NAMES * ADDRESSES - index);
  return [
    readFigure(what, runs, {
      most: mostReads(provider, 1 + pages(provider, NAMES), names),
      goOperator: goReads(provider, records),
    }),
    writeFigure(what, runs, { most: mostWrites(provider, names, runs), goOperator: `${names}` }),
    ...wallFigures(what, names, runs),
  ];
}

function idleFigures(provider: string, names: number, runs: readonly DNSRun[]): readonly Figure[] {
  checkChanges(runs, 0);
  const what = `${provider}, ${many(names)}, nothing to do`;
  const kubeWrites = runs.map((run) => run.kubeWrites);
  return [
    readFigure(what, runs, {
      most: mostReads(provider, 1 + pages(provider, names), 0),
      goOperator: "never looks again",
    }),
    writeFigure(what, runs, { most: 0 }),
    callFigure(`${what}: Kubernetes writes, the Lease aside`, kubeWrites, { most: 0 }),
    ...wallFigures(`${what} (through the counting proxy)`, names, runs),
  ];
}

/** One write per record that ends up different, or one per name where the provider changes a set at once. */
function mostWrites(provider: string, names: number, runs: readonly DNSRun[]): number {
  return provider !== "digitalocean" ? names : Math.min(...runs.map(({ changedRecords }) => changedRecords));
}

/**
 * A webhook shows everything at once, so a run reads it when it begins, before its changes, and after them; of many names not all are ready to be changed at the same time. It is
 * asked for its TTLs once, and how it would store each set that is to be changed.
 */
function mostReads(provider: string, first: number, names: number): number {
  // What Hetzner has accepted is read once more.
  if (provider === "hetzner") return first + 2 * names;
  if (provider !== "webhook") return first + names;
  return first + 1 + (names > 0 ? 4 + names + Math.ceil(names / 4) : 0);
}

/** How many pages the TXT records have that say whose a name is, where the list of names in {@link mostReads} is not all. Hetzner lists 100 on a page. */
function textPages(provider: string): number {
  return provider === "hetzner" ? Math.ceil(OTHER_RECORDS / 100) : 0;
}

/** How many pages the list of the zone's A records has, once the names are filled. Hetzner lists names. */
function pages(provider: string, names: number): number {
  if (provider === "hetzner") return Math.ceil(names / 100);
  return provider !== "digitalocean" ? 1 : Math.ceil((names * ADDRESSES) / 200);
}

/**
 * What the Go operator reads by its code, not measured: for each name and node event one list, at DigitalOcean of the whole zone in pages of 200.
 * @param records - how many stand in the zone when each of the names is listed
 * @see https://github.com/digitalocean/flipop/blob/main/pkg/provider/digitalocean.go EnsureDNSARecordSet
 */
function goReads(provider: string, records: readonly number[]): string {
  if (provider === "webhook") return "has none";
  if (provider === "cloudflare") return `${records.length}`;
  const pages = records.reduce((sum, count) => sum + Math.ceil(count / 200), 0);
  return `${pages} pages of the zone`;
}

/** @throws Error when a run did something else than what is measured */
function checkChanges(runs: readonly DNSRun[], expected: number): void {
  const other = runs.find(({ changedRecords }) => changedRecords !== expected);
  if (other !== undefined) throw new Error(`${other.changedRecords} records changed instead of ${expected}`);
}

function readFigure(what: string, runs: readonly DNSRun[], beside: Parameters<typeof callFigure>[2]): Figure {
  const reads = runs.map((run) => run.reads);
  return callFigure(`${what}: reads`, reads, beside);
}

function writeFigure(what: string, runs: readonly DNSRun[], beside: Parameters<typeof callFigure>[2]): Figure {
  const writes = runs.map((run) => run.writes);
  return callFigure(`${what}: writes`, writes, beside);
}

/** The time of runs that concern all names. */
function wallFigures(what: string, names: number, runs: readonly DNSRun[]): readonly Figure[] {
  if (names < NAMES) return [];
  const wall = runs.map(({ wallMs }) => wallMs);
  return [timeFigure(`${what}: whole run`, wall)];
}

function many(names: number): string {
  return names === 1 ? "1 name" : `${names} names`;
}

async function repeat<T>(work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let run = 0; run < RUNS; run += 1) results.push(await work());
  return results;
}
