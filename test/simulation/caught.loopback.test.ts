import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { argsOf, CAUGHT_BY } from "./caught-by.ts";
import { MUTATIONS } from "./mutations.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Every bug is planted in a process of its own; what they have in common is compiled once. */
const cache = mkdtempSync(join(tmpdir(), "flipop-bugs-"));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

test.for(MUTATIONS)("the simulator catches: $name", ({ name }) => {
  const proof = CAUGHT_BY.get(name);
  if (proof === undefined) expect.fail("nothing is known to catch it: npm run mutations -- --record looks for it");
  const args = ["test/simulation/run.ts", "--brief", "--bug", name, ...argsOf(proof)];
  const options = { cwd: root, encoding: "utf8", env: { NODE_COMPILE_CACHE: cache } } as const;
  const { stdout, stderr, status } = spawnSync(process.execPath, args, options);
  expect(stderr).toBe("");
  expect(stdout, "its history no longer catches it: npm run mutations -- --record").toMatch(/^(seed|story) .+: .+: /m);
  expect(status).toBe(1);
});
