import { type ParseArgsConfig, parseArgs } from "node:util";
import { CONTESTED_NAME_BUGS } from "./contested-name-bugs.ts";
import { FAMILY_BUGS, HETZNER_FAMILY_BUGS } from "./family-bugs.ts";
import { HETZNER_BUGS } from "./hetzner-bugs.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";
import { plantBug } from "./plant-bug.ts";
import { SHARED_NAME_BUGS } from "./shared-name-bugs.ts";

// Plays seeded histories of the simulator; --help says how.

const OPTIONS = {
  seeds: { type: "string", default: "1000", help: "N: how many histories to play" },
  from: { type: "string", default: "1", help: "N: the seed of the first one" },
  seed: { type: "string", help: "N: play this one only, and tell it when it breaks a promise" },
  routed: {
    type: "boolean",
    default: false,
    help: "histories of RoutedIPs and firewalls: seeds, and --stories, of their own",
  },
  names: { type: "string", help: "PROVIDER: webhook or hetzner stands in the place of Cloudflare" },
  ipv6: { type: "boolean", default: false, help: "histories of record sets with AAAA records" },
  families: {
    type: "boolean",
    default: false,
    help: "histories of pools of IPv4 and of IPv6 with one match and one name; also with --shards or --hetzner",
  },
  lasting: {
    type: "boolean",
    default: false,
    help: "histories in which processes watch, and something stays wrong for ever, or never rests: seeds of their own",
  },
  shards: {
    type: "boolean",
    default: false,
    help: "histories in which three shards work at the same time: seeds of their own; also with --lasting",
  },
  watch: { type: "boolean", default: false, help: "processes watch in the place of single runs" },
  shared: {
    type: "boolean",
    default: false,
    help: "histories of two clusters that publish under one name: seeds of their own",
  },
  contested: {
    type: "boolean",
    default: false,
    help: "histories of a name that another controller wants, too: seeds of their own",
  },
  hetzner: {
    type: "boolean",
    default: false,
    help: "histories of pools at Hetzner, with several addresses on a node: seeds of their own",
  },
  stories: { type: "boolean", default: false, help: "play the main stories instead, struck at every single call" },
  story: { type: "string", help: "NAME: tell one of them, as --strike says" },
  strike: { type: "string", default: "{}", help: "JSON: what happens at which call of --story" },
  lines: { type: "string", default: "120", help: "N: how many lines a broken history is told in, at most" },
  full: { type: "boolean", default: false, help: "tell a broken history as it was, not shrunk" },
  brief: { type: "boolean", default: false, help: "only name the broken promise, and stop" },
  "keep-going": { type: "boolean", default: false, help: "play on after a broken promise, and count" },
  bug: { type: "string", help: "TEXT: with the planted bug of that name" },
  help: { type: "boolean", default: false, help: "show this" },
} as const satisfies ParseArgsConfig["options"] & Record<string, { help: string }>;

const { values } = parseArgs({ options: OPTIONS });
if (values.help) help();
else {
  if (values.bug !== undefined) plantBug(bugNamed(values.bug));
  // Loaded only now, with the bug.
  const haveHeld =
    values.shared || values.contested || values.hetzner
      ? (await import("./play-names.ts")).playNames(values)
      : (await import("./play.ts")).play(values);
  process.exitCode = (await haveHeld) ? 0 : 1;
}

function help(): void {
  print("npm run play -- [options]\n");
  for (const [name, option] of Object.entries(OPTIONS)) {
    const preset = "default" in option && option.default !== false ? ` (${option.default})` : "";
    print(`  --${name.padEnd(13)}${option.help}${preset}`);
  }
}

function bugNamed(name: string): Mutation {
  const others = [SHARED_NAME_BUGS, CONTESTED_NAME_BUGS, HETZNER_BUGS, FAMILY_BUGS, HETZNER_FAMILY_BUGS].flat();
  const bug = [...MUTATIONS, ...others].find((candidate) => candidate.name === name);
  if (bug === undefined)
    throw new Error(`no bug "${name}"; npm run mutations, and the files of bugs beside this one, name them`);
  return bug;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
