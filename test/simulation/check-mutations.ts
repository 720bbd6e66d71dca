// Plants each bug of mutations.ts in a copy of the sources and lets the simulator look for it; --help says how.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { MUTATIONS, type Mutation } from "./mutations.ts";

const OPTIONS = {
  seeds: { type: "string", default: "400", help: "N: how many histories each bug may hide from" },
  from: { type: "string", default: "1", help: "N: the seed of the first one" },
  only: { type: "string", default: "", help: "TEXT: only bugs with this in their name or file" },
  help: { type: "boolean", default: false, help: "show this" },
} as const satisfies ParseArgsConfig["options"] & Record<string, { help: string }>;

/** A bug that makes a history last so long is caught, too, milliseconds. */
const LONGEST_MS = 300_000;
/** The stories by themselves last minutes. */
const LONGEST_STORIES_MS = 1_800_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

const { values } = parseArgs({ options: OPTIONS });
if (values.help) help();
else check();

function help(): void {
  print("npm run mutations -- [options]\n");
  for (const [name, option] of Object.entries(OPTIONS)) print(`  --${name.padEnd(9)}${option.help}`);
}

function check(): void {
  const chosen = MUTATIONS.filter(({ name, file }) => `${name} ${file}`.includes(values.only));
  const copy = mkdtempSync(join(tmpdir(), "flipop-mutations-"));
  let survived = 0;
  try {
    for (const folder of ["src", "test/simulation", "test/fake"])
      cpSync(join(root, folder), join(copy, folder), { recursive: true });
    for (const name of ["node_modules", "cronjob", "package.json"]) symlinkSync(join(root, name), join(copy, name));
    for (const mutation of chosen) {
      const { isCaught, how } = hunt(copy, mutation);
      if (!isCaught) survived += 1;
      print(`${isCaught ? "caught  " : "SURVIVED"} ${how.padEnd(28)} ${mutation.name}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  print(`${chosen.length} bugs planted, ${chosen.length - survived} caught, ${survived} survived`);
  if (survived > 0) process.exitCode = 1;
}

/** Plants one bug, plays histories until it is found, and takes it out again. */
function hunt(copy: string, mutation: Mutation): { readonly isCaught: boolean; readonly how: string } {
  const path = join(copy, mutation.file);
  const source = readFileSync(path, "utf8");
  if (source.split(mutation.find).length !== 2) return { isCaught: false, how: "its place is gone" };
  writeFileSync(
    path,
    source.replace(mutation.find, () => mutation.replace),
  );
  try {
    const bySeed = simulate(copy, ["--seeds", values.seeds, "--from", values.from]);
    return bySeed.isCaught ? bySeed : simulate(copy, ["--stories"]);
  } finally {
    writeFileSync(path, source);
  }
}

function simulate(copy: string, args: readonly string[]): { readonly isCaught: boolean; readonly how: string } {
  const { stdout, stderr, error } = spawnSync(process.execPath, ["test/simulation/run.ts", "--brief", ...args], {
    cwd: copy,
    encoding: "utf8",
    timeout: args.includes("--stories") ? LONGEST_STORIES_MS : LONGEST_MS,
  });
  const [, where, invariant] = /^((?:seed|story) [^:]+): ([^:]+):/m.exec(stdout) ?? [];
  if (where !== undefined) return { isCaught: true, how: `${invariant}, ${where}` };
  if (error !== undefined) return { isCaught: true, how: "hangs" };
  return { isCaught: false, how: stderr === "" ? "" : `does not run: ${stderr.split("\n")[4] ?? ""}` };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
