import { type ParseArgsConfig, parseArgs } from "node:util";
import { plantBug } from "./plant-bug.ts";
import { SHARED_NAME_BUGS } from "./shared-name-bugs.ts";

// Plays seeded histories of a name that two clusters share, until a promise is broken; --help says how.

const OPTIONS = {
  seeds: { type: "string", default: "1000", help: "N: how many histories to play" },
  from: { type: "string", default: "1", help: "N: the seed of the first one" },
  bug: { type: "string", help: "TEXT: with the planted bug of that name" },
  help: { type: "boolean", default: false, help: "show this" },
} as const satisfies ParseArgsConfig["options"] & Record<string, { help: string }>;

const { values } = parseArgs({ options: OPTIONS });
if (values.help) for (const [name, { help }] of Object.entries(OPTIONS)) print(`  --${name.padEnd(7)}${help}`);
else process.exitCode = (await play()) ? 0 : 1;

/** Returns true when all promises held. */
async function play(): Promise<boolean> {
  const bug = SHARED_NAME_BUGS.find(({ name }) => name === values.bug);
  if (values.bug !== undefined && bug === undefined) throw new Error(`no bug "${values.bug}"`);
  if (bug !== undefined) plantBug(bug);
  // Loaded only now, with the bug.
  const { playSharedName } = await import("./shared-names.ts");
  const [first, count] = [Number(values.from), Number(values.seeds)];
  for (let seed = first; seed < first + count; seed += 1) {
    const [broken] = await playSharedName(seed);
    if (broken === undefined) continue;
    print(`seed ${seed}: ${broken}`);
    return false;
  }
  print(`${count} histories, no promise broken`);
  return true;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
