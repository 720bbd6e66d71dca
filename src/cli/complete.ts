import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { CHECK_CODES, CHECK_GROUPS, CHECKS } from "../model/check.ts";
import { FINDING_CODES, FINDINGS } from "../model/finding.ts";
import { REASONS } from "../model/reason.ts";
import { plain } from "../model/text.ts";
import { EDIT_FORMS } from "../rehearse/edit.ts";
import { EXIT } from "../report/exit-code.ts";
import { type Config, resolveConfig } from "./config.ts";
import { given } from "./environment.ts";
import { parseDuration } from "./flag-values.ts";
import { applyFlagEnvironment, type ClusterFlags } from "./flags.ts";
import { TOPIC_NAMES } from "./help-topics.ts";
import { MANIFEST_PARTS } from "./manifests.ts";
import { KnownSecrets } from "./output.ts";
import { buildProgram, type CommandName, isCommandName, isNoDirectory, separateSandbox } from "./program.ts";
import type { Invocation } from "./session.ts";
import { type Ask, type Candidate, NAMES, readOnce } from "./world-names.ts";

// What the shells ask while a person types. The answer has the form of Cobra's completions, which kubectl asks of its plugins, too (kubectl 1.32,
// tried 2026-11-23): a candidate, a tab and a word about it on each line, then `:` and a number whose bits say how to go on.
//
//   words before the cursor -> Place: which command, which flag waits for a value, what is typed of the word
//     -> the Sources of that place -> candidates that begin with what is typed

/** Time for everything that has to be read, milliseconds: a person waits for it at every press of a key. FLIPOP_COMPLETION_TIMEOUT says otherwise, as for a slow exec plugin. */
const PATIENCE_MS = 300;

function patienceMs({ env }: Invocation): number {
  return parseDuration(env["FLIPOP_COMPLETION_TIMEOUT"] ?? "") ?? PATIENCE_MS;
}

/** No space follows what is inserted. */
const NO_SPACE = 2;
/** The shell does not offer files. */
const NO_FILES = 4;

/** Writes the candidates for the last of some words to stdout; none where anything fails. Returns 0. @throws never */
export async function runComplete(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { candidates, directive } = await complete(invocation, words.length === 0 ? [""] : words).catch(() => NOTHING);
  const lines = candidates.map(({ text, about }) => `${text}\t${plain(about)}\n`);
  invocation.streams.stdout.write(`${lines.join("")}:${directive}\n`);
  return EXIT.done;
}

/** What a shell may offer. */
interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

const NOTHING: Completion = { candidates: [], directive: NO_FILES };

async function complete(invocation: Invocation, words: readonly string[]): Promise<Completion> {
  const program = buildProgram({ invocation, open: async () => Promise.reject(), onExit: () => undefined });
  const place = placeOf(program, words);
  if (place === undefined) return NOTHING;
  const offers = place.sources.map((source) => OFFERS[source](place));
  const asks = offers.flatMap(({ ask }) => ask ?? []);
  const asked = asks.length === 0 ? [] : await askWorld(invocation, place, asks);
  const contexts = place.sources.includes("context") ? await contextsOf(place, invocation) : [];
  const found = [...offers.flatMap(({ now }) => now), ...asked, ...contexts];
  const candidates = found
    .filter(({ text }) => text.startsWith(place.typed) && isSafe(text))
    .map(({ text, about }) => ({ text: place.prefix + text, about }));
  const isUnfinished = candidates.length > 0 && candidates.every(({ text }) => /[/=]$/.test(text));
  const hasFiles = candidates.length === 0 && place.sources.includes("file");
  return { candidates, directive: (isUnfinished ? NO_SPACE : 0) + (hasFiles ? 0 : NO_FILES) };
}

/** A shell inserts it as it is: nothing in it may mean something to a shell. */
function isSafe(text: string): boolean {
  return /^[\w.@:/=+,%-]+$/.test(text);
}

/** Where candidates come from. */
type Source =
  | "command"
  | "flag"
  | "choice"
  | "topic"
  | "reason"
  | "check"
  | "group"
  | "finding"
  | "part"
  | "edit"
  | "object"
  | "node"
  | "address"
  | "name"
  | "namespace"
  | "context"
  | "file";

/** The sources of a command's arguments. */
const ARGUMENTS: Readonly<Record<CommandName, readonly Source[]>> = {
  plan: ["object", "node", "address", "name"],
  explain: ["object", "node", "address", "name", "reason", "check", "finding"],
  simulate: [],
  reconcile: ["object", "name"],
  status: ["object", "name"],
  history: ["object", "node", "address", "name"],
  suspend: ["object", "name"],
  resume: ["object", "name"],
  approve: ["object", "name"],
  validate: ["file"],
  snapshot: ["file"],
  doctor: [],
  host: [],
  sandbox: ["file"],
  manifests: [],
  completion: ["choice"],
  version: [],
  help: ["command", "topic", "check", "finding", "reason"],
};

/** The sources of a flag's value, by what help writes in its place. Beside these a flag has choices, or a value that only a person knows. */
export const VALUES: ReadonlyMap<string, Source> = new Map([
  ["DIR", "file"],
  ["FILE", "file"],
  ["CONTEXT", "context"],
  ["NAMESPACE", "namespace"],
  ["OBJECT", "object"],
  ["NODE", "node"],
  ["EDIT", "edit"],
  ["CODE", "finding"],
  ["CODES", "check"],
  ["GROUPS", "group"],
  ["PARTS", "part"],
]);

/** The place in a command line where a word is completed. */
interface Place {
  readonly command: Command;
  /** The words before, without the program, and without the flag whose value is completed. */
  readonly before: readonly string[];
  /** The flags among them. */
  readonly given: ReadonlySet<Option>;
  /** What stands in the word before the part that is completed: `--output=`, or `crds,` of a list. */
  readonly prefix: string;
  /** The part that is completed. */
  readonly typed: string;
  readonly sources: readonly Source[];
  readonly choices: readonly string[];
}

/** Returns undefined where nobody can say what is meant: behind a command or a flag that does not exist. */
function placeOf(program: Command, words: readonly string[]): Place | undefined {
  const before = words.slice(0, -1);
  const word = words.at(-1) ?? "";
  const line = new Line(program);
  if (!before.every((one, at) => line.add(one, before[at + 1]))) return undefined;
  const { command, awaiting, given } = line;
  const place = { command, before, given, prefix: "", typed: word, choices: [] };
  if (awaiting !== undefined) return valuePlace({ ...place, before: before.slice(0, -1) }, awaiting);
  if (line.isBehindDashes || !word.startsWith("-")) return argumentPlace(place, line.optional);
  const [flag = "", ...value] = word.split("=");
  if (value.length === 0 || !flag.startsWith("--")) return { ...place, sources: ["flag"] };
  const option = optionOf(command, flag);
  return option && valuePlace({ ...place, prefix: `${flag}=`, typed: value.join("=") }, option);
}

/** A command, or an argument of it; behind `--sandbox` the word may be a folder as well. */
function argumentPlace(place: Omit<Place, "sources">, optional: Option | undefined): Place {
  const { command } = place;
  const name = command.name();
  const source = optional && VALUES.get(placeholderOf(optional));
  const own = command.parent === null ? (["command"] as const) : isCommandName(name) ? ARGUMENTS[name] : [];
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return { ...place, choices, sources: source === undefined ? own : [...own, source] };
}

/** Of a list with commas its last part is completed. */
function valuePlace(place: Omit<Place, "sources">, option: Option): Place {
  const source = VALUES.get(placeholderOf(option));
  if (option.argChoices !== undefined) return { ...place, choices: option.argChoices, sources: ["choice"] };
  if (source === undefined) return { ...place, sources: [] };
  const isList = source === "finding" || source === "check" || source === "group" || source === "part";
  const listed = isList ? place.typed.slice(0, place.typed.lastIndexOf(",") + 1) : "";
  return { ...place, prefix: place.prefix + listed, typed: place.typed.slice(listed.length), sources: [source] };
}

/** Returns what help writes in the place of a flag's value: `FILE` of `--from <FILE>`; `""` for a switch. */
export function placeholderOf({ flags }: Option): string {
  const [, needed, optional] = / (?:<(.+)>|\[(.+)\])$/.exec(flags) ?? [];
  return needed ?? optional ?? "";
}

/** The words before the one that is completed, one after the other. */
class Line {
  readonly given = new Set<Option>();
  command: Command;
  /** The flag whose value comes next. */
  awaiting: Option | undefined;
  /** The flag whose value the next word may be. */
  optional: Option | undefined;
  isBehindDashes = false;

  constructor(program: Command) {
    this.command = program;
  }

  /** Takes one word more; `next` is the word behind it, absent where that is the one to complete. Returns false for a command or a flag that does not exist. */
  add(word: string, next: string | undefined): boolean {
    this.optional = undefined;
    if (this.awaiting !== undefined) {
      this.awaiting = undefined;
      return true;
    }
    if (this.isBehindDashes || !word.startsWith("-") || word === "-") return this.#addArgument(word);
    if (word === "--") {
      this.isBehindDashes = true;
      return true;
    }
    return word.startsWith("--") ? this.#addLong(word, next) : this.#addShort(word.slice(1));
  }

  #addArgument(word: string): boolean {
    if (this.command.parent !== null) return true;
    const command = this.command.commands.find((one) => one.name() === word);
    this.command = command ?? this.command;
    return command !== undefined;
  }

  /** Before the command a flag of any of them may stand. */
  #optionOf(flag: string): Option | undefined {
    const { parent, commands } = this.command;
    const all = parent === null ? [this.command, ...commands] : [this.command];
    return all.map((command) => optionOf(command, flag)).find((option) => option !== undefined);
  }

  #addLong(word: string, next: string | undefined): boolean {
    const [flag = "", value] = word.split("=", 2);
    const option = this.#optionOf(flag);
    if (option === undefined) return false;
    this.given.add(option);
    if (value !== undefined) return true;
    if (option.optional && next === undefined) this.optional = option;
    // `--sandbox plan` means the command, and `--sandbox node/n1` a target: see separateSandbox.
    const isValue = next !== undefined && !next.startsWith("-") && !isNoDirectory(next);
    if (option.required || (option.optional && isValue)) this.awaiting = option;
    return true;
  }

  /** `-qn web`: switches, and at the end a flag whose value follows or stands behind it. */
  #addShort(letters: string): boolean {
    const [letter = "", ...rest] = letters;
    const option = this.#optionOf(`-${letter}`);
    if (option === undefined) return false;
    this.given.add(option);
    if (option.required && rest.length === 0) this.awaiting = option;
    return option.required || rest.length === 0 || this.#addShort(rest.join(""));
  }
}

function optionsOf(command: Command): readonly Option[] {
  const shared = command.parent?.options.filter(({ long }) => long !== "--version") ?? [];
  return [...command.createHelp().visibleOptions(command), ...shared];
}

function optionOf(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find(({ long, short }) => flag === long || flag === short);
}

/** What a source offers at once, and what it offers once the cluster was asked. */
interface Offer {
  readonly now: readonly Candidate[];
  readonly ask?: Ask;
}

const OFFERS: Readonly<Record<Source, (place: Place) => Offer>> = {
  command: ({ command }) =>
    atOnce((command.parent ?? command).commands.map((one) => [one.name(), one.description()] as const)),
  flag: ({ command, given, typed }) => {
    // A flag before the command is one of several commands: it is told by its name.
    const names = new Set([...given].map(({ long }) => long));
    const options = optionsOf(command).filter((option) => !names.has(option.long) || isRepeatable(option));
    const long = options.flatMap(({ long: name, description }) => (name == null ? [] : [[name, description] as const]));
    const short = options.flatMap(({ short: name, description }) =>
      name == null ? [] : [[name, description] as const],
    );
    return atOnce(typed === "-" ? [...long, ...short] : long);
  },
  choice: ({ choices }) => atOnce(choices.map((choice) => [choice, ""] as const)),
  topic: () => atOnce(TOPIC_NAMES.map((name) => [name, "topic"] as const)),
  // There are some hundred: only for somebody who has begun to write one.
  reason: ({ typed }) =>
    atOnce(typed === "" ? [] : Object.entries(REASONS).map(([reason, { text }]) => [reason, text] as const)),
  check: ({ typed, command }) =>
    atOnce(
      typed === "" && command.name() === "help" ? [] : CHECK_CODES.map((code) => [code, CHECKS[code].text] as const),
    ),
  group: () => atOnce(CHECK_GROUPS.map((group) => [group, ""] as const)),
  finding: () => atOnce(FINDING_CODES.map((code) => [code, FINDINGS[code].text] as const)),
  part: () => atOnce(MANIFEST_PARTS.map((part) => [part, ""] as const)),
  edit: ({ typed }) => editOffer(typed),
  // Names of objects have no capitals: it is a reason then.
  object: ({ typed }) => (/[A-Z]|^(node|ip)\//.test(typed) ? atOnce([]) : { now: [], ask: NAMES.object }),
  node: ({ typed }) => behind("node/", "a node", typed, NAMES.node),
  address: ({ typed }) => behind("ip/", "an address", typed, NAMES.address),
  name: ({ typed }) => (typed.includes(".") ? { now: [], ask: NAMES.name } : atOnce([])),
  namespace: () => ({ now: [], ask: NAMES.namespace }),
  context: () => atOnce([]),
  file: () => atOnce([]),
};

function atOnce(pairs: readonly (readonly [text: string, about: string])[]): Offer {
  return { now: pairs.map(([text, about]) => ({ text, about })) };
}

/** There may be thousands: they are offered behind their kind only. */
function behind(kind: string, about: string, typed: string, ask: Ask): Offer {
  return typed.startsWith(kind) ? { now: [], ask } : atOnce([[kind, about]]);
}

/** The kinds of edits, then the names of nodes and addresses, then what can be said of them. */
function editOffer(typed: string): Offer {
  const [subject = "", kind = ""] = /^(node|ip)\/[^=]+=/.exec(typed) ?? [];
  if (subject !== "") {
    const form = EDIT_FORMS.find((one) => one.startsWith(`${kind}/`)) ?? "";
    // Words in capitals stand for what a person knows: `on:machine/ID`.
    const values = form
      .slice(form.indexOf("=") + 1)
      .split("|")
      .map((value) => value.replace(/[A-Z]{2,}$/, ""));
    return atOnce(values.map((value) => [subject + value, ""] as const));
  }
  if (/^(node|ip)\//.test(typed)) return { now: [], ask: NAMES.edited };
  return atOnce([
    ["node/", "a node"],
    ["ip/", "an address"],
  ]);
}

function isRepeatable({ defaultValue, long }: Option): boolean {
  return Array.isArray(defaultValue) || long === "--verbose";
}

/** Asks the cluster that the words before mean, each list once. What cannot be read in time is left out, without a word. */
async function askWorld(invocation: Invocation, place: Place, asks: readonly Ask[]): Promise<readonly Candidate[]> {
  const config = configOf(place, invocation);
  if (config === undefined) return [];
  const { clock, withReader } = await invocation.loadWiring();
  const { typed, namespace } = { ...place, ...config };
  const ending = new AbortController();
  // The time does not count while an embedded world is set up: that is no cluster that keeps somebody waiting.
  const opening = Promise.withResolvers<void>();
  if (config.config.sandboxDir === undefined) opening.resolve();
  const work = withReader(config.config, async (cluster) => {
    opening.resolve();
    const lists = readOnce(cluster);
    const answers = await Promise.allSettled(asks.map((ask) => ask(lists, { typed, ...given({ namespace }) })));
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  });
  const end = async (): Promise<[]> => {
    await opening.promise;
    await clock.sleep(patienceMs(invocation), ending.signal);
    return [];
  };
  try {
    return await Promise.race([work, end()]).catch(() => []);
  } finally {
    ending.abort();
    invocation.abandon?.();
  }
}

/** Returns undefined for a command that asks no cluster, and where asking would have an effect: it would read standard input, or make a world. */
function configOf(
  { command, before }: Place,
  invocation: Invocation,
): { readonly config: Config; readonly namespace?: string } | undefined {
  if (optionOf(command, "--kubeconfig") === undefined) return undefined;
  const words = separateSandbox(before);
  command.parent?.parseOptions(words);
  command.parseOptions(words);
  const { env } = invocation;
  applyFlagEnvironment(command, env);
  const flags = command.optsWithGlobals<ClusterFlags & { readonly allNamespaces?: boolean; readonly from?: string }>();
  const { allNamespaces, namespace, from } = flags;
  const outlets = { warn: () => undefined, secrets: new KnownSecrets() };
  const config = resolveConfig({ ...flags, requestTimeout: patienceMs(invocation) }, env, outlets);
  const { sandboxDir } = config;
  if (from === "-" || (sandboxDir !== undefined && !existsSync(join(sandboxDir, "cluster.yaml")))) return undefined;
  return { config, ...given({ namespace: allNamespaces ? undefined : namespace }) };
}

async function contextsOf(place: Place, invocation: Invocation): Promise<readonly Candidate[]> {
  const found = configOf(place, invocation);
  if (found === undefined) return [];
  const { listContexts } = await import("../adapters/kube/config.ts");
  return (await listContexts(found.config.kube)).map((text) => ({ text, about: "" }));
}
