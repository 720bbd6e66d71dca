import { type ObjectRef, refKey } from "./action.ts";
import type { Hold } from "./plan.ts";
import { REASONS, type Reason } from "./reason.ts";
import { objectKey } from "./resource.ts";

/** What of a RoutedIP, or of what it refers to, is invalid: the beginning of the text, and what to do. */
const INVALID: readonly (readonly [RegExp, string])[] = [
  [/^issuer ".*" not found/, "Create it, or correct spec.issuer."],
  [/^issuer ".*" is invalid/, "Correct the issuer."],
  [/^(unknown provider|provider) "/, "Correct provider of the issuer."],
  [/^Service ".*" not found/, "Create it, or correct spec.serviceName."],
  [/^Service ".*" is an ExternalName/, "Name a Service that pods serve."],
  [/^Error parsing node selector/, "Correct nodeLabel of the issuer."],
];

/** True for a reason that is over once a permission is there that an API has refused. */
export function lacksPermission(reason: Reason): boolean {
  return REASONS[reason].service === "permission";
}

/** Returns what a person can do about a hold; undefined where there is nothing, or nothing needs to be done. */
export function adviceFor({ reason, object, detail, advice: own }: Hold): string | undefined {
  const { advice, routedIP } = REASONS[reason];
  if (own !== undefined) return own;
  if (object.kind !== "routedip") return advice;
  const invalid = routedIP?.adviceBy === "detail" ? INVALID.find(([text]) => text.test(detail))?.[1] : undefined;
  return invalid ?? routedIP?.advice ?? advice;
}

/** Returns why something is not done, with the particulars: one sentence with its full stop, or what a provider said. */
export function whyHeld({ reason, object, detail }: Hold): string {
  const general = reasonText(reason, object.kind);
  if (detail === "") return general;
  const { tell } = REASONS[reason];
  if (tell === "namesake") return sentence(`Several firewalls are named ${detail}`);
  if (tell === "owner" && detail.startsWith("owned by ")) return sentence(`It is ${detail}`);
  if (tell === "detail") return sentence(capital(detail));
  return sentence(withDetail(general, detail));
}

/** Returns a sentence with its particulars behind it, and no full stop: `It could not be read in this pass: no answer`. Without a detail the sentence alone. Pure. */
export function withDetail(text: string, detail: string): string {
  const general = text.replace(/\.$/, "");
  return detail === "" ? general : `${general}: ${detail}`;
}

/** Returns the text with a full stop at its end, unless it ends as a sentence does. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns the text with a capital letter in front: the beginning of a sentence. A provider has its own way to write itself there. */
export function capital(text: string): string {
  if (/^digitalocean\b/.test(text)) return text.replace("digitalocean", "DigitalOcean");
  // A name of something stays as it is written: podLabel, www.example.com, worker-1.
  if (/^[^\s:,]*[A-Z\d./]/.test(text)) return text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns `2 of 5 addresses are missing`; undefined for a hold that keeps no address from being acquired. */
export function missingText({ missing, object }: Hold): string | undefined {
  if (missing === undefined) return undefined;
  if (object.kind === "routedip") return "its address is missing";
  const { count, desired } = missing;
  return `${count} of ${desired} ${desired === 1 ? "address" : "addresses"} ${count === 1 ? "is" : "are"} missing`;
}

/** Returns what is held, why, and what a person can do, in one text that stands alone: for conditions and `status.error`. */
export function problemText(hold: Hold): string {
  const why = whyHeld(hold);
  const advice = adviceFor(hold);
  const told = advice === undefined ? why : `${why} ${advice}`;
  const missing = missingText(hold);
  if (missing !== undefined) return `${missing}: ${told.replace(/^(The|An|A|It|No)\b/, (word) => word.toLowerCase())}`;
  return isAboutObject(hold) ? told : `${hold.subject}: ${told}`;
}

/** Holds with one cause: at least one. */
export type HeldTogether = readonly [Hold, ...Hold[]];

/**
 * Returns the holds of one object, those of several subjects with one cause together, each group at the place of its first: three addresses that one outage keeps from
 * being read are one entry. What is held is the same for them, and `causeOf` gives the same JSON. Pure.
 */
export function groupedByCause(holds: readonly Hold[], causeOf: (hold: Hold) => unknown): readonly HeldTogether[] {
  const groups = Map.groupBy(holds, (hold) => {
    const { kind, reason, notBeforeMs, needsPerson } = hold;
    const alone = isAboutObject(hold) ? holds.indexOf(hold) : undefined;
    return JSON.stringify([kind, reason, notBeforeMs, needsPerson, causeOf(hold), alone]);
  });
  return [...groups.values()].flatMap(([first, ...more]): HeldTogether[] =>
    first === undefined ? [] : [[first, ...more]],
  );
}

/** True where the subject of a hold is the object itself. */
export function isAboutObject({ subject, object }: Hold): boolean {
  return subject === "" || subject === refKey(object) || subject === objectKey(object);
}

/** Returns the sentence that explains a reason for an object of that kind. Ends with a full stop. */
export function reasonText(reason: Reason, kind: ObjectRef["kind"]): string {
  const { text, routedIP } = REASONS[reason];
  return (kind === "routedip" ? routedIP?.text : undefined) ?? text;
}
