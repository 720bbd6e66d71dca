import type { Command, Option } from "commander";

/**
 * Returns a command line with the flags that stand before the command behind it, since a person who knows kubectl writes them anywhere: `-q -n web plan` means `plan -q -n web`.
 * Flags that no command knows go with it, too: the command tells which one was meant. Flags of the whole program stay. Pure.
 */
export function flagsBehindCommand(program: Command, argv: readonly string[]): readonly string[] {
  for (const [at, word] of argv.entries()) {
    const command = program.commands.find((one) => one.name() === word);
    const split = command && splitFlags(argv.slice(0, at), { program, command });
    if (split !== undefined) return [...split.kept, word, ...split.moved, ...argv.slice(at + 1)];
  }
  return argv;
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
