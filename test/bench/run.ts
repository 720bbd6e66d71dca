// Measures flipop on a real kube-apiserver and emulated clouds without latency, and prints every figure beside the Go
// operator's. Times are never judged; a bound on calls that is broken makes the exit code 1.
import { availableParallelism } from "node:os";
import { benchDNS } from "./dns.ts";
import { benchFailover } from "./failover.ts";
import { benchFirstFill } from "./first-fill.ts";
import { benchGrants } from "./grants.ts";
import { benchHetzner } from "./hetzner.ts";
import { benchPlanner } from "./planner.ts";
import { benchRouted } from "./routed.ts";
import { benchHuge, benchScale } from "./scale.ts";
import { benchStart } from "./start.ts";
import { benchSteadyState } from "./steady-state.ts";
import { renderTable, type Section } from "./table.ts";
import { benchTools } from "./tools.ts";
import { benchWatch } from "./watch.ts";
import { openWorld, type World } from "./world.ts";

const benches: Readonly<Record<string, (world: World) => Promise<Section>>> = {
  planner: benchPlanner,
  tools: benchTools,
  grants: benchGrants,
  start: benchStart,
  fill: benchFirstFill,
  steady: benchSteadyState,
  failover: benchFailover,
  dns: benchDNS,
  hetzner: benchHetzner,
  routed: benchRouted,
  watch: benchWatch,
  scale: benchScale,
  huge: benchHuge,
};
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(benches, name));

/** Measures what is named, and prints it. Returns false when a bound on calls is broken. */
async function measure(): Promise<boolean> {
  const world = await openWorld();
  try {
    const sections: Section[] = [];
    for (const [name, bench] of Object.entries(benches)) {
      if (named.length > 0 && !named.includes(name)) continue;
      process.stderr.write(`measuring: ${name}\n`);
      sections.push(await bench(world));
    }
    process.stdout.write(`\nNode ${process.version}, ${availableParallelism()} processors\n\n${renderTable(sections)}`);
    return !sections.some(({ figures }) => figures.some((figure) => figure.isBroken));
  } finally {
    await world.close();
  }
}

if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(" ")}. Use: npm run bench [${Object.keys(benches).join("|")}]...\n`);
  process.exitCode = 64;
} else if (!(await measure())) {
  process.exitCode = 1;
}
