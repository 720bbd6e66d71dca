import type { Command, Option } from "commander";

// A person who knows kubectl writes flags anywhere, and values as `-o=json`. Commander takes flags of a command behind it only, and `=` in long ones only.

/**
 * Returns a command line with the flags that stand before the command behind it: `-q -n web plan` means `plan -q -n web`. Flags that no command knows go with it, too: the
 * command tells which one was meant. Flags of the whole program stay. `-o=json` becomes `-o json`. Pure.
 */
export function flagsBehindCommand(program: Command, argv: readonly string[]): readonly string[] {
  for (const [at, word] of argv.entries()) {
    const command = program.commands.find((one) => one.name() === word);
    const split = command && splitFlags(argv.slice(0, at), { program, command });
    if (split === undefined) continue;
    const behind = withoutEqualsSigns([...split.moved, ...argv.slice(at + 1)], command);
    return [...split.kept, word, ...behind];
  }
  return argv;
}

/** `-o=json` as two words, as far as the flag takes a value. */
function withoutEqualsSigns(words: readonly string[], command: Command | undefined): readonly string[] {
  const end = words.indexOf("--");
  return words.flatMap((word, at) => {
    const [, flag = "", value = ""] = /^(-[a-z])=(.*)$/is.exec(word) ?? [];
    const isWritten = flag !== "" && command !== undefined && optionOf(command, flag)?.required === true;
    return isWritten && (end === -1 || at < end) ? [flag, value] : [word];
  });
}

/**
 * Returns the flag that is refused because it is a switch and has a value, as in `--watch=maybe` and `-qA=true`; commander calls it unknown then. Undefined for another flag.
 * Pure.
 * @param refusal - commander's error, with the flag as commander has it: of `-qA=true` it is `-=true`
 */
export function filledSwitch(program: Command, argv: readonly string[], refusal: string): string | undefined {
  const command = argv.flatMap((word) => program.commands.find((one) => one.name() === word) ?? [])[0];
  const owners = command === undefined ? [program] : [program, command];
  return argv
    .map((word) => /^(?<before>--?)(?<name>[^=]*?(?<letter>[a-z]))(?<value>=.*)$/is.exec(word)?.groups ?? {})
    .filter(({ before, name, value }) => refusal.includes(`'${before}${before === "-" ? "" : name}${value}'`))
    .map(({ before, name, letter }) => (before === "-" ? `-${letter}` : `--${name}`))
    .find((flag) => flag === "--help" || flag === "-h" || owners.some((owner) => isSwitch(owner, flag)));
}

function isSwitch(command: Command, flag: string): boolean {
  const option = optionOf(command, flag);
  return option !== undefined && !option.required && !option.optional;
}

/** What a command line without a command has in the place of one. */
type Missing =
  | { readonly kind: "missing"; readonly command: string }
  | { readonly kind: "unknown"; readonly word: string };

/**
 * Returns what stands where the command should: a word that is none, or nothing behind flags that a command knows, with the first such command. Undefined where there is a
 * command, or a flag that no command knows. Pure.
 */
export function missingCommand(program: Command, argv: readonly string[]): Missing | undefined {
  const found = program.commands.flatMap((command) => behindFlags(argv, { program, command }) ?? []);
  return found.find(({ kind }) => kind === "unknown") ?? found[0];
}

/** Undefined where the command does not know a flag. */
function behindFlags(words: readonly string[], { program, command }: Knowing): Missing | undefined {
  const [word, next] = words;
  if (word === undefined) return { kind: "missing", command: command.name() };
  if (!word.startsWith("-")) return { kind: "unknown", word };
  const owner = [program, command].find((one) => isFlagOf(one, word));
  if (owner === undefined) return undefined;
  return behindFlags(words.slice(doesTakeNext(owner, word, next) ? 2 : 1), { program, command });
}

interface Knowing {
  readonly program: Command;
  readonly command: Command;
}

interface Split {
  readonly kept: readonly string[];
  readonly moved: readonly string[];
}

/** Returns undefined where the words are not flags alone: then what follows is no command. */
function splitFlags(words: readonly string[], { program, command }: Knowing): Split | undefined {
  const [word, next] = words;
  if (word === undefined) return { kept: [], moved: [] };
  if (!/^--?[a-z]/i.test(word)) return undefined;
  const isOwn = isFlagOf(program, word);
  const length = doesTakeNext(isOwn ? program : command, word, next) ? 2 : 1;
  if (length > words.length) return undefined;
  const rest = splitFlags(words.slice(length), { program, command });
  if (rest === undefined) return undefined;
  const flag = words.slice(0, length);
  return isOwn ? { ...rest, kept: [...flag, ...rest.kept] } : { ...rest, moved: [...flag, ...rest.moved] };
}

function isFlagOf(command: Command, word: string): boolean {
  return optionOf(command, word.startsWith("--") ? word : word.slice(0, 2)) !== undefined;
}

function optionOf({ options }: Command, flag: string): Option | undefined {
  const [name] = flag.split("=");
  return options.find(({ long, short }) => name === long || name === short);
}

/** True where the value of a flag is the next word. In `-qn web` the last letter has it. */
function doesTakeNext(command: Command, word: string, next: string | undefined): boolean {
  if (word.startsWith("--")) {
    const option = word.includes("=") ? undefined : optionOf(command, word);
    return option?.required === true || (option?.optional === true && next !== undefined && !next.startsWith("-"));
  }
  const letters = [...word.slice(1)];
  const at = letters.findIndex((letter) => optionOf(command, `-${letter}`)?.required === true);
  return at >= 0 && at === letters.length - 1;
}
