import { type ObjectRef, refKey } from "../model/action.ts";
import type { Hold, Plan, PoolAssessment, RecordSetAssessment } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import type { Outcome, PassResult } from "../model/run.ts";
import { categoryOf, type ErrorCategory } from "./error-category.ts";

/**
 * How one object came out of a run. `served`: as desired, or on its way with nothing but holds. `idle`: suspended, so neither
 * served nor in trouble. `unattended`: served as far as it goes, and the rest waits for a person. Everything else is why it is in error; the worst of several.
 */
export type Service = "served" | "idle" | "unattended" | Trouble;

/** Why an object is in error, worst first: the categories of errors, as far as an object can have them. */
export type Trouble = Exclude<ErrorCategory, "usage">;

const WORST_FIRST: readonly Trouble[] = ["bug", "config", "permission", "refused", "temporary"];

/** What a hold on the whole object means for it. */
const OBJECT_HOLDS: Readonly<Partial<Record<Reason, Service>>> = {
  InvalidSpec: "config",
  SelectorRefused: "config",
  CRDTooOld: "config",
  Suspended: "idle",
  ProviderUnavailable: "permission",
  PermissionMissing: "permission",
  RateLimited: "temporary",
  Unreadable: "temporary",
};

/** What a hold on a name means for its object. */
const NAME_HOLDS: Readonly<Partial<Record<Reason, Service>>> = {
  ...OBJECT_HOLDS,
  InvalidDNS: "config",
  ZoneNotFound: "config",
};

/** What a hold on the firewall of a RoutedIP means for it: without one no address goes anywhere. */
const FIREWALL_HOLDS: Readonly<Partial<Record<Reason, Service>>> = {
  ...OBJECT_HOLDS,
  FirewallNotFound: "config",
  FirewallAmbiguous: "config",
  FirewallReserved: "config",
};

/** Facts about an object that the plan does not have. */
export interface ServiceFacts {
  /** What went wrong for it in the run. */
  readonly troubles?: readonly Trouble[];
  /** As {@link PassResult.unusableTokens}. */
  readonly unusableTokens?: readonly string[] | undefined;
}

/** Returns how one pool, routed IP or record set stands by its plan and by the troubles of the run. */
export function serviceOf(
  object: PoolAssessment | RecordSetAssessment,
  plan: Plan,
  { troubles = [], unusableTokens = [] }: ServiceFacts = {},
): Service {
  const key = refKey(object.object);
  const holds = plan.holds.filter((hold) => refKey(hold.object) === key);
  const held = holds.flatMap((hold) => meaningOf(hold, unusableTokens.includes(providerOf(object, hold) ?? "")));
  const isUnreadable = "desired" in object && hasNothingReadable(object, holds);
  const states = [...held, ...troubles, ...(isUnreadable ? (["temporary"] as const) : [])];
  const worst = WORST_FIRST.find((trouble) => states.includes(trouble));
  if (worst !== undefined) return worst;
  // Whatever it is about: it stays as it is until a person acts.
  if (holds.some(({ needsPerson }) => needsPerson)) return "unattended";
  if (held.includes("idle")) return "idle";
  return object.status.error === undefined ? "served" : "refused";
}

/** Returns the provider that a hold is about; undefined if the object's DNS name is not known. */
function providerOf(object: PoolAssessment | RecordSetAssessment, { kind }: Hold): string | undefined {
  if ("written" in object) return object.written.provider;
  return kind.endsWith("-dns") ? object.dns?.provider : object.provider;
}

function meaningOf({ kind, reason, object }: Hold, isTokenUnusable: boolean): readonly Service[] {
  const usual = meaningsOf(kind)[reason];
  const meaning = usual === "permission" && reason === "ProviderUnavailable" && isTokenUnusable ? "config" : usual;
  if (meaning === undefined) return [];
  const isWhole = kind === "reconcile" || kind === "open-ports" || (kind === "update-dns" && object.kind === "dns");
  return [isWhole ? meaning : besideOthers(meaning)];
}

function meaningsOf(kind: Hold["kind"]): Readonly<Partial<Record<Reason, Service>>> {
  if (kind === "reconcile") return OBJECT_HOLDS;
  if (kind.endsWith("-dns")) return NAME_HOLDS;
  return kind === "open-ports" || kind === "close-ports" ? FIREWALL_HOLDS : {};
}

/** A pool with trouble in DNS serves its addresses all the same, a record set its present name when an old one is in trouble, a routed IP when something stays open. */
function besideOthers(meaning: Service): Service {
  return meaning === "config" || meaning === "permission" ? "refused" : meaning;
}

/** Every address of the pool is a gap: nothing of it could be served in this pass. */
function hasNothingReadable(pool: PoolAssessment, holds: readonly Hold[]): boolean {
  const ips = Object.keys(pool.status.ips);
  const unread = new Set(holds.filter(isUnread).map(({ subject }) => subject));
  return ips.length > 0 && ips.every((ip) => unread.has(ip));
}

function isUnread({ reason }: Hold): boolean {
  return reason === "Unreadable" || reason === "RateLimited";
}

/** Returns what went wrong for one object in a run: failed actions, what a lost lock or the deadline cut off, an unwritten status. */
export function troublesOf(result: PassResult, { object }: { readonly object: ObjectRef }): readonly Trouble[] {
  const key = refKey(object);
  // A failure does not count once the same was done in another way, such as on another node.
  const outcomes = [...new Map(result.outcomes.map((outcome) => [outcome.action.id, outcome])).values()];
  const unwritten = result.reportFailures.filter(
    (failure) => failure.what === "status" && refKey(failure.object) === key,
  );
  return [
    ...outcomes.filter(({ action }) => refKey(action.object) === key).flatMap(troubleOf),
    ...unwritten.map(({ error }) => asTrouble(error)),
  ];
}

function troubleOf(outcome: Outcome): readonly Trouble[] {
  if (outcome.outcome === "failed") {
    const trouble = asTrouble(outcome.error);
    const { kind, object } = outcome.action;
    const isBesideDNS = kind.endsWith("-dns") && (object.kind !== "dns" || kind === "delete-dns");
    const isBeside = isBesideDNS || kind === "close-ports" || kind === "remove-from-firewall";
    return [isBeside && (trouble === "config" || trouble === "permission") ? "refused" : trouble];
  }
  const isCutOff = outcome.outcome === "skipped" && (outcome.reason === "LockLost" || outcome.reason === "Deadline");
  return isCutOff ? ["temporary"] : [];
}

function asTrouble(error: Error): Trouble {
  const category = categoryOf(error);
  return category === "usage" ? "config" : category;
}
