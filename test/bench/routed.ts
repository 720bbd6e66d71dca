import { callFigure, type Figure, timeFigure } from "./figure.ts";
import { type RoutedRun, type RoutedScene, withRoutedScene } from "./routed-scene.ts";
import type { Section } from "./table.ts";
import type { World } from "./world.ts";

const COUNTS = [1, 10, 100] as const;
const RUNS = 3;

/** What is measured: what changes before the run, and the most calls and writes that it may take. */
interface Step {
  readonly name: string;
  readonly before: (scene: RoutedScene) => Promise<void>;
  readonly most: (count: number) => number;
  readonly mostWrites: (count: number) => number;
}

const STEPS: readonly Step[] = [
  {
    name: "brought up",
    before: async () => undefined,
    // Firewalls, droplets by tag and addresses are listed, one port is opened and seen, each address is assigned; then they are seen together, as many as are under way at once.
    most: (count) => Math.ceil(1.25 * count) + 12,
    mostWrites: (count) => count + 1,
  },
  { name: "unchanged", before: async () => undefined, most: () => 3, mostWrites: () => 0 },
  { name: "another node port", before: (scene) => scene.setPort(30_443), most: () => 9, mostWrites: () => 2 },
  { name: "one failover", before: (scene) => scene.failFirstNode(), most: () => 10, mostWrites: () => 1 },
];

/** RoutedIPs that share one firewall: brought up, left alone, with another port, and one moved. */
export async function benchRouted(world: World): Promise<Section> {
  const figures: Figure[] = [];
  for (const count of COUNTS) {
    const histories: (readonly RoutedRun[])[] = [];
    for (let at = 0; at < RUNS; at += 1) histories.push(await withRoutedScene(world, count, history));
    figures.push(
      ...STEPS.flatMap((step, at) =>
        stepFigures(
          step,
          count,
          histories.flatMap((runs) => runs[at] ?? []),
        ),
      ),
    );
  }
  return { title: "RoutedIPs on one firewall, which covers their nodes by a tag", figures };
}

async function history(scene: RoutedScene): Promise<readonly RoutedRun[]> {
  const runs: RoutedRun[] = [];
  for (const { before } of STEPS) {
    await before(scene);
    runs.push(await scene.run());
  }
  return runs;
}

function stepFigures({ name, most, mostWrites }: Step, count: number, runs: readonly RoutedRun[]): readonly Figure[] {
  const what = `${count === 1 ? "1 RoutedIP" : `${count} RoutedIPs`}, ${name}`;
  const calls = runs.map((run) => run.calls);
  const writes = runs.map((run) => run.writes);
  const wall = runs.map(({ wallMs }) => wallMs);
  return [
    callFigure(`${what}: provider calls`, calls, { most: most(count) }),
    callFigure(`${what}: of these writes`, writes, { most: mostWrites(count) }),
    ...(count === COUNTS.at(-1) ? [timeFigure(`${what}: whole run`, wall)] : []),
  ];
}
