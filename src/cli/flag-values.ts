import { InvalidArgumentError } from "commander";
import { ConfigError } from "../model/errors.ts";
import { parseLabelSelector, podSelectorProblem } from "../model/label-selector.ts";
import type { PodSelector } from "../model/node.ts";
import { shownText } from "../model/resource.ts";
import { LONGEST_SUSPENSION_MS } from "../model/suspension.ts";
import { MANIFEST_PARTS, type ManifestPart } from "./manifests.ts";

/** The value of a flag that is a text, or of a switch. */
export function anyText(text: string): string {
  return text;
}

/** Returns a reader that takes a valid text as it is; the hint says what is wrong with another one. */
export function valid(isValid: (text: string) => boolean, hint: string): (text: string) => string {
  return (text) => {
    if (!isValid(text)) throw new InvalidArgumentError(hint);
    return text;
  };
}

/** True for the URI references that the source of an event may be: neither empty nor with characters that a URI escapes. */
export function isURIReference(text: string): boolean {
  return /^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(text) && URL.canParse(text, "https://flipop.invalid");
}

/** A label selector as it was given. @throws ConfigError `usage` for one that cannot be read, before anything else is. */
export function labelSelector(text: string): string {
  const parsed = parseLabelSelector(text);
  if ("selector" in parsed) return text;
  throw new ConfigError("usage", `Cannot read the label selector '${shownText(text)}' of -l: ${parsed.error}.`);
}

/** A value of a flag that may be given several times. */
export function addToList(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

/**
 * A selector of pods, `NAMESPACE/LABELS`, after those that were given before. Without a namespace it is of all of them, without labels it is of all pods of the namespace.
 * @throws InvalidArgumentError for a text that is none
 */
export function podSelectors(text: string, before: readonly PodSelector[]): readonly PodSelector[] {
  const [, namespace, label] = /^([^/]*)\/(.*)$/s.exec(text) ?? [];
  if (namespace === undefined || label === undefined || text === "/")
    throw new InvalidArgumentError("Write it like ingress/app=web.");
  const problem = podSelectorProblem({ namespace, label });
  if (problem !== undefined) throw new InvalidArgumentError(`It selects no pods: ${problem.error}.`);
  return [...before, { namespace, label }];
}

/** How often a flag was given. */
export function countUp(_: string, before: number): number {
  return before + 1;
}

/** Milliseconds of a time. @throws InvalidArgumentError for a text that is none */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError("Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h.");
  return ms;
}

/** The shortest time between two looks at the providers, milliseconds: `1ms` for `1m` would ask them without a pause. */
const SHORTEST_LOOK_MS = 1000;

/** Milliseconds between two looks. @throws InvalidArgumentError for a text that is none, or too short */
export function lookInterval(text: string): number {
  const ms = parseDuration(text) ?? 0;
  if (ms < SHORTEST_LOOK_MS) throw new InvalidArgumentError("Write it like 30s, 5m or 1h; at least 1s, at most 24h.");
  return ms;
}

const MOST = 1_000_000;

/** A whole number. @throws InvalidArgumentError for a text that is none */
export function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) > MOST)
    throw new InvalidArgumentError(`Write a whole number from 0 to ${MOST}.`);
  return Number(text);
}

/** Milliseconds of a time that a suspension may last. @throws InvalidArgumentError for a text that is none */
export function suspensionTime(text: string): number {
  const ms = parseDuration(text, LONGEST_SUSPENSION_MS);
  if (ms === undefined) throw new InvalidArgumentError("Write it like 30m, 2h or 3d: more than 0s, at most 7d.");
  return ms;
}

/** The longest that history reaches back, milliseconds. */
const LONGEST_PAST_MS = 366 * 86_400_000;

/** Milliseconds of a time in the past that is asked for. @throws InvalidArgumentError for a text that is none */
export function pastTime(text: string): number {
  const ms = parseDuration(text, LONGEST_PAST_MS);
  if (ms === undefined) throw new InvalidArgumentError("Write it like 30m, 24h or 7d: more than 0s, at most 366d.");
  return ms;
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const LONGEST_MS = 24 * 3_600_000;

/**
 * Returns the milliseconds of `500ms`, `30s`, `5m`, `1h`, `1d` or `1m30s`; undefined for anything else, for nothing (`0s`), and for
 * more than `longestMs`, a day unless it is given.
 */
export function parseDuration(text: string, longestMs: number = LONGEST_MS): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) {
    sum += Number(number) * (UNIT_MS.get(unit ?? "") ?? 0);
  }
  return sum > 0 && sum <= longestMs ? sum : undefined;
}

/** @throws InvalidArgumentError for a text that names no parts of manifests */
export function manifestParts(text: string, before: readonly ManifestPart[] | undefined): readonly ManifestPart[] {
  const names: readonly string[] = MANIFEST_PARTS;
  const isPart = (name: string): name is ManifestPart => names.includes(name);
  const parts = text.split(",");
  if (!parts.every(isPart)) throw new InvalidArgumentError(`Allowed are ${names.join(", ")}.`);
  return [...(before ?? []), ...parts];
}
