import { judgeGrants } from "../../src/plan/grants.ts";
import { plan } from "../../src/plan/plan.ts";
import { aWorld, readGrants } from "./grants.ts";
const world = aWorld();
const cached = readGrants();
const parts: Record<string, () => unknown> = {
  parse: () => readGrants(),
  judge: () => judgeGrants({ ...world, grants: { mode: "require", namespaces: cached } }).told(() => true),
  off: () => plan(world, {}),
  on: () => plan({ ...world, grants: { mode: "require", namespaces: readGrants() } }, {}),
};
const all: Record<string, number[]> = { parse: [], judge: [], off: [], on: [] };
for (let i = 0; i < Number(process.argv[2] ?? 30); i++)
  for (const [name, f] of Object.entries(parts)) {
    const times = name.length > 3 ? 5 : 1;
    const b = process.cpuUsage();
    for (let k = 0; k < times; k++) f();
    const { user, system } = process.cpuUsage(b);
    if (i > 4) all[name]?.push((user + system) / 1000 / times);
  }
for (const [name, list] of Object.entries(all)) { list.sort((a, b) => a - b); console.log(name, "min", list[0]?.toFixed(2), "q1", list[list.length >> 2]?.toFixed(2), "med", list[list.length >> 1]?.toFixed(2)); }
