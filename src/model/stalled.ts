import { adviceFor, groupedByCause, type HeldTogether, problemText, whyHeld } from "./hold.ts";
import type { Hold } from "./plan.ts";
import { REASONS } from "./reason.ts";
import type { Condition } from "./resource.ts";

/*
 * Everything of an object that waits for a person, as the one message of its condition Stalled:
 *
 *   203.0.113.1 and 203.0.113.2: The provider does not know the address. … Also InvalidDNS: www: The object's DNS settings cannot be used: …
 *
 * The condition's reason is that of the first. So kubectl shows all of it, and who reads a status can tell the problems apart again.
 */

/** One thing that waits for a person. */
export interface Problem {
  readonly reason: string;
  /** In sentences. */
  readonly message: string;
}

/** So many problems of one object are told; the others are counted. */
const MOST_PROBLEMS = 5;
/** So many subjects of one problem are named. */
const MOST_SUBJECTS = 8;

/** Returns the holds of one object that wait for a person, grouped by their causes and by what the person can do. Addresses that are missing stand alone. Pure. */
export function forPerson(holds: readonly Hold[]): readonly HeldTogether[] {
  const own = holds.filter(({ needsPerson }) => needsPerson);
  return groupedByCause(own, (hold) => {
    const alone = hold.missing === undefined ? undefined : own.indexOf(hold);
    return [whyHeld(hold), adviceFor(hold), alone];
  });
}

/** Returns {@link problemText} of holds with one cause: `203.0.113.1 and 203.0.113.2: The provider does not know the address.` Pure. */
export function problemOfAll(holds: HeldTogether): string {
  const [first, ...more] = holds;
  return more.length === 0 ? problemText(first) : problemText({ ...first, subject: subjectsText(holds) });
}

function subjectsText(holds: readonly Hold[]): string {
  const subjects = [...new Set(holds.map(({ subject }) => subject))];
  const rest = subjects.length - MOST_SUBJECTS;
  const named = rest > 0 ? [...subjects.slice(0, MOST_SUBJECTS), `${rest} more`] : subjects;
  return named.join(", ").replace(/, (?=[^,]+$)/, " and ");
}

/** Returns the message of a condition that tells all these problems; `""` for none. Pure. */
export function messageOfAll([first, ...more]: readonly Problem[]): string {
  if (first === undefined) return "";
  const told = more.slice(0, MOST_PROBLEMS - 1).map(({ reason, message }) => `Also ${reason}: ${message}`);
  const rest = more.length - told.length;
  const others = rest === 0 ? [] : [`And ${rest} more: flipop plan tells them.`];
  return [first.message, ...told, ...others].join(" ");
}

const NEXT = new RegExp(`(?<=[.!?]) Also (?=(?:${Object.keys(REASONS).join("|")}): )`);

/** Returns the problems that a condition tells; how many more there are stands with the last. One that an older flipop wrote tells one. Pure. */
export function problemsIn({ reason, message }: Pick<Condition, "reason" | "message">): readonly Problem[] {
  const [first = "", ...others] = message.split(NEXT);
  return [
    { reason, message: first },
    ...others.map((text) => {
      const at = text.indexOf(": ");
      return { reason: text.slice(0, at), message: text.slice(at + 2) };
    }),
  ];
}
