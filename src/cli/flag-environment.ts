import { type Command, InvalidArgumentError, type Option } from "commander";
import { ConfigError } from "../model/errors.ts";
import type { Environment } from "./environment.ts";

/**
 * Gives every flag that is not on the command line the value of its `FLIPOP_…` variable, where that is set and not empty.
 * (commander's own `.env()` reads the process's environment, takes `false` for true, and cannot be given another one.)
 * @throws ConfigError `usage` naming the variable and what it may be.
 */
export function applyFlagEnvironment(command: Command, env: Environment): void {
  const shared = (command.parent?.options ?? []).filter((option) => option.long !== "--version");
  for (const [owner, options] of [
    [command, command.options],
    [command.parent, shared],
  ] as const) {
    for (const option of options) if (owner !== null) applyOne(owner, option, env);
  }
}

function applyOne(owner: Command, option: Option, env: Environment): void {
  const variable = variableOf(option);
  const text = env[variable];
  const name = option.attributeName();
  if (!text || owner.getOptionValueSource(name) === "cli") return;
  const value = LISTS.has(option.long ?? "") ? text.split(",") : readValue(option, variable, text);
  owner.setOptionValueWithSource(name, value, "env");
}

/** Flags that may be given several times; their variables take a list. */
const LISTS: ReadonlySet<string> = new Set(["--as-group", "--push-grouping"]);

/** Returns the variable of a flag: `FLIPOP_REQUEST_TIMEOUT` for `--request-timeout`. */
function variableOf(option: Option): string {
  return `FLIPOP_${(option.long ?? "").slice(2).replaceAll("-", "_").toUpperCase()}`;
}

function readValue(option: Option, variable: string, text: string): unknown {
  if (option.long === "--verbose" && /^[012]$/.test(text)) return Number(text);
  if (option.isBoolean() || option.negate) return readSwitch(variable, text) !== option.negate;
  if (option.optional && (text === "true" || text === "1")) return true;
  if (option.parseArg === undefined) return text;
  try {
    return option.parseArg(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new ConfigError("usage", `The environment variable ${variable} is '${text}'. ${error.message}`);
  }
}

function readSwitch(variable: string, text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new ConfigError("usage", `The environment variable ${variable} is '${text}'. It takes true or false.`);
}
