import { judgeGrants } from "../../src/plan/grants.ts";
import { aWorld, readGrants } from "./grants.ts";
const world = aWorld();
let cached = readGrants();
for (let k = 0; k < 600; k++) { if (process.argv[2] === "parse") cached = readGrants(); else judgeGrants({ ...world, grants: { mode: "require", namespaces: cached } }).told(() => true); }
