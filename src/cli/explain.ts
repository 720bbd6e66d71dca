import { historyOf } from "../history/history.ts";
import { mentions, placeOf } from "../history/texts.ts";
import { type ObjectRef, refKey } from "../model/action.ts";
import type { Change } from "../model/change.ts";
import { CHECK_CODES } from "../model/check.ts";
import { ConfigError } from "../model/errors.ts";
import type { Explanation, Subject } from "../model/explanation.ts";
import { FINDING_CODES } from "../model/finding.ts";
import { nearest } from "../model/nearest.ts";
import type { Observation } from "../model/observation.ts";
import { REASONS, type Reason } from "../model/reason.ts";
import type { ObjectMeta } from "../model/resource.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { explain } from "../rehearse/explain.ts";
import { EXIT } from "../report/exit-code.ts";
import { type Code, codeDocument, explanationDocument, reasonDocument } from "../report/json/explanation.ts";
import { type ExplainedPast, renderExplanation } from "../report/text/explanation.ts";
import { listText } from "../report/text/layout.ts";
import { resolveConfig } from "./config.ts";
import { checkExistence } from "./existence.ts";
import type { ExplainFlags } from "./flags.ts";
import { topicText } from "./help-topics.ts";
import { hostNotices } from "./host-notices.ts";
import { writeLine, writeResult } from "./output.ts";
import { pastGaps, readEvents } from "./past.ts";
import { resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { isObjectTarget, type ObjectTarget, parseTarget, type Target } from "./target.ts";
import type { Planner } from "./wiring.ts";

/** As wide as help, where no terminal says how wide. */
const USUAL_WIDTH = 80;

/** Runs `explain`: reads, plans worlds that are a little different, prints. Never writes. Returns the exit code. */
export async function runExplain(session: Session, words: readonly string[], flags: ExplainFlags): Promise<number> {
  const [word = ""] = words.length === 1 ? words : [];
  const known = codeNamed(word) ?? reasonNamed(word);
  if (known !== undefined) {
    await writeResult(session, session.output, {
      document: () => (isReason(known) ? reasonDocument(known) : codeDocument(known)),
      names: () => [known],
      text: () => topicText(known, session.layout.width ?? USUAL_WIDTH) ?? "",
    });
    return EXIT.done;
  }
  const targets = targetsOf(words);
  const within = flags.in === undefined ? undefined : objectTarget(flags.in);
  const { withPlanner } = await session.loadWiring();
  const { explanation, past, notices } = await withPlanner(resolveConfig(flags, session.env, session), (planner) =>
    untilInterrupted(answered(planner, targets, within, flags), session.signal),
  );
  for (const notice of notices) writeLine(session, "warn", notice);
  await writeResult(session, session.output, {
    document: () => explanationDocument(explanation, past),
    names: () => explanation.sections.map(({ object }) => refKey(object)),
    text: () => renderExplanation(explanation, session.layout, past),
  });
  return EXIT.done;
}

const CODES: readonly Code[] = [...CHECK_CODES, ...FINDING_CODES];

/** How many codes beside an unknown one are named. */
const MOST_CODES = 3;

/**
 * A code of `doctor` or `validate`, told by its first letters and digits: no object is called so as a rule, and one that is has its kind before it.
 * @throws ConfigError `usage` for a code that does not exist, with those whose numbers are nearest
 */
function codeNamed(word: string): Code | undefined {
  if (!/^FLP\d+$/i.test(word)) return undefined;
  const code = CODES.find((one) => one === word.toUpperCase());
  if (code !== undefined) return code;
  const numberOf = (text: string): number => Number(text.slice("FLP".length));
  const away = (one: Code): number => Math.abs(numberOf(one) - numberOf(word));
  const near = CODES.toSorted((a, b) => away(a) - away(b))
    .slice(0, MOST_CODES)
    .toSorted();
  throw new ConfigError(
    "usage",
    `There is no code '${word}'. The nearest are ${listText(near)}. flipop help checks lists those of doctor, flipop help findings those of validate.`,
  );
}

/**
 * A reason, told by its capital letters from an object: no object has any in its name.
 * @throws ConfigError `invalid` for a word that is almost a reason, with the nearest
 */
function reasonNamed(word: string): Reason | undefined {
  if (!/[A-Z]/.test(word) || /[/.]/.test(word)) return undefined;
  const reasons = new Map((Object.keys(REASONS) as readonly Reason[]).map((reason) => [reason.toLowerCase(), reason]));
  const exact = reasons.get(word.toLowerCase());
  if (exact !== undefined) return exact;
  const meant = reasons.get(nearest(word.toLowerCase(), [...reasons.keys()]) ?? "");
  if (meant === undefined) return undefined;
  throw new ConfigError(
    "invalid",
    `There is no reason '${word}'. Did you mean ${meant}? flipop help reasons lists them.`,
  );
}

function isReason(known: Code | Reason): known is Reason {
  return Object.hasOwn(REASONS, known);
}

function targetsOf(words: readonly string[]): readonly Target[] {
  const targets = words.map(parseTarget);
  const kinds = targets.map(({ kind }) => kind).toSorted();
  const isPair = kinds.join(" ") === "ip node";
  if (targets.length === 1 || isPair) return targets;
  const what = targets.length === 0 ? "explain needs a target" : `explain takes one target, or one ip/ and one node/`;
  throw new ConfigError(
    "usage",
    `${what}: flipop explain ip/203.0.113.10 node/worker-1. flipop help targets lists the forms.`,
  );
}

function objectTarget(text: string): ObjectTarget {
  const target = parseTarget(text);
  if (isObjectTarget(target)) return target;
  throw new ConfigError("usage", `The target '${text}' of --in is no pool, routed IP or record set.`);
}

/** The answer, and what happened before; the latter only where it is asked for. */
interface Answer {
  readonly explanation: Explanation;
  readonly past?: ExplainedPast;
  /** What stands between an address that is active and its clients, and no gate can tell. */
  readonly notices: readonly string[];
}

async function answered(
  planner: Planner,
  targets: readonly Target[],
  within: ObjectTarget | undefined,
  flags: ExplainFlags,
): Promise<Answer> {
  const { explanation, observation } = await explained(planner, targets, within, flags);
  const notices = await hostNotices(planner.cluster, observation.nodes, addressesMeant(explanation, observation));
  if (!flags.history) return { explanation, notices };
  const past = await readEvents(planner.cluster);
  const { pools, recordSets, observedAtMs } = observation;
  const objects = [
    ...pools.map(({ kind, meta, status }) => ({ ref: refOf(kind, meta), meta, status })),
    ...recordSets.map(({ meta, status }) => ({ ref: refOf("dns", meta), meta, status })),
  ];
  const history = historyOf({ ...past, objects, nowMs: observedAtMs }, { isMeant: meantBy(explanation) });
  return {
    explanation,
    notices,
    past: { changes: history.changes, gaps: pastGaps(past), target: targets.map(({ text }) => text).join(" ") },
  };
}

function refOf(kind: ObjectRef["kind"], { namespace, name }: ObjectMeta): ObjectRef {
  return { kind, namespace, name };
}

/** True of the addresses that the answer is about. */
function addressesMeant(
  { subject, sections }: Explanation,
  { pools }: Observation,
): (ip: string, nodeName: string) => boolean {
  if ("ip" in subject) return (ip) => ip === subject.ip;
  if ("node" in subject) return (_, nodeName) => nodeName === subject.node;
  const objects = new Set(sections.map(({ object }) => refKey(object)));
  const meant = pools.filter(({ kind, meta }) => objects.has(refKey(refOf(kind, meta))));
  const ips = new Set(meant.flatMap(({ status }) => Object.keys(status.ips)));
  return (ip) => ips.has(ip);
}

/** What happened to the objects that are explained; where it is about one address or node, only that. */
function meantBy({ subject, sections }: Explanation): (change: Change) => boolean {
  const objects = new Set(sections.map(({ object }) => refKey(object)));
  const word = "ip" in subject ? subject.ip : "node" in subject ? subject.node : undefined;
  return (change) => {
    if (word === undefined) return objects.has(placeOf(change));
    // What no object names any more has a history, too.
    return (
      change.object !== undefined && (objects.size === 0 || objects.has(placeOf(change))) && mentions(change, word)
    );
  };
}

async function explained(
  { cluster, plan }: Planner,
  targets: readonly Target[],
  within: ObjectTarget | undefined,
  { namespace, horizon }: ExplainFlags,
): Promise<{ readonly explanation: Explanation; readonly observation: Observation }> {
  const keysOf = async (target: Target): Promise<ReadonlySet<string>> => {
    const { objects = [] } = await resolveSelection([target], namespace === undefined ? {} : { namespace }, cluster);
    return new Set(objects);
  };
  const [first] = targets;
  const named = first === undefined || !isObjectTarget(first) ? undefined : await keysOf(first);
  const chosen = within === undefined ? undefined : await keysOf(within);
  const { observation } = await plan({});
  checkExistence(targets, observation);
  const subject = subjectOf(targets, named ?? new Set());
  const isMeant = (ref: ObjectRef): boolean =>
    (named?.has(refKey(ref)) ?? true) &&
    (chosen?.has(refKey(ref)) ?? true) &&
    (named !== undefined || namespace === undefined || ref.namespace === namespace);
  return { explanation: explain(observation, { subject, isMeant, horizonMs: horizon }), observation };
}

/** What the targets mean. A target that no object is called is the name that objects publish. */
function subjectOf(targets: readonly Target[], named: ReadonlySet<string>): Subject {
  const ip = targets.find(({ kind }) => kind === "ip")?.name;
  const node = targets.find(({ kind }) => kind === "node")?.name;
  if (ip !== undefined && node !== undefined) return { kind: "pair", ip, node };
  if (ip !== undefined) return { kind: "ip", ip };
  if (node !== undefined) return { kind: "node", node };
  const name = targets[0]?.name ?? "";
  const isObject = [...named].some((key) => key.endsWith(`/${name}`));
  return isObject ? { kind: "object" } : { kind: "name", fqdn: name };
}
