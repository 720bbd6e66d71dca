import { refKey } from "../model/action.ts";
import { ConfigError } from "../model/errors.ts";
import { leaseFacts } from "../model/lease-notes.ts";
import { LONGEST_TEXT } from "../model/person-notes.ts";
import {
  holdsNow,
  SUSPEND_ANNOTATION,
  type Suspended,
  type Suspension,
  suspensionOf,
  suspensionText,
  whySuspended,
} from "../model/suspension.ts";
import { oneLine } from "../model/text.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import type { AnnotatableCluster } from "../ports/cluster.ts";
import { EXIT } from "../report/exit-code.ts";
import { untilText } from "../report/text/times.ts";
import { resolveConfig } from "./config.ts";
import type { ClusterFlags } from "./flags.ts";
import { writeLine, writeLines } from "./output.ts";
import { type NamedObject, readTargets } from "./selection.ts";
import type { Session } from "./session.ts";
import type { ResumeFlags, SuspendFlags } from "./suspend-flags.ts";
import { objectTargets } from "./target.ts";

/** What a command suspends or resumes: some objects, or all of them by the Lease. */
interface Place {
  /** As a person names it: `pool/ingress/web`, or `--all`. */
  readonly target: string;
  /** The beginning of a sentence about it. */
  readonly subject: string;
  readonly isPlural: boolean;
  /** What its annotation says as yet. */
  readonly stored: Suspension | undefined;
  /** Where something else suspends it now: what to do about that. */
  readonly otherwise?: string;
  write(text: string | null): Promise<void>;
}

/** Runs `suspend`: writes the annotation that lets flipop stand still. Returns the exit code. */
export async function runSuspend(session: Session, names: readonly string[], flags: SuspendFlags): Promise<number> {
  const why = oneLine(flags.reason ?? "");
  if (why === "" || why.length > LONGEST_TEXT)
    throw new ConfigError(
      "usage",
      `--reason is needed: a sentence of at most ${LONGEST_TEXT} characters, for whoever finds it suspended.`,
    );
  await onPlaces(session, names, flags, "suspend", async (places, nowMs) => {
    const untilMs = flags.for === undefined ? undefined : nowMs + flags.for;
    const suspension = { by: personOf(session), why, sinceMs: nowMs, ...(untilMs === undefined ? {} : { untilMs }) };
    for (const place of places) {
      await place.write(suspensionText(suspension));
      tellSuspended(session, place, untilMs, nowMs);
    }
  });
  return EXIT.done;
}

/** Runs `resume`: removes the annotation. Returns the exit code, also where there was none. */
export async function runResume(session: Session, names: readonly string[], flags: ResumeFlags): Promise<number> {
  await onPlaces(session, names, flags, "resume", async (places, nowMs) => {
    for (const place of places) {
      if (place.stored !== undefined) await place.write(null);
      tellResumed(session, place, nowMs);
    }
  });
  return EXIT.done;
}

/** Finds what the command is about, all of it before anything is written, and lends it to the work. */
async function onPlaces(
  session: Session,
  names: readonly string[],
  flags: ClusterFlags & { readonly all?: boolean },
  command: string,
  work: (places: readonly Place[], nowMs: number) => Promise<void>,
): Promise<void> {
  if ((flags.all === true) === names.length > 0)
    throw new ConfigError(
      "usage",
      `Name objects to ${command}, such as pool/ingress/web, or pass --all for every object; not both.`,
    );
  const targets = objectTargets(names, command);
  const config = resolveConfig(flags, session.env, session);
  const { withAnnotator } = await session.loadWiring();
  await withAnnotator(config, async (cluster) => {
    const found =
      flags.all === true
        ? [await everything(cluster, config.lease)]
        : await untilInterrupted(
            readTargets(targets, flags.namespace, cluster).then((objects) => places(objects, cluster, config.lease)),
            session.signal,
          );
    await work(found, cluster.now());
  });
}

/** Returns the Lease as the place of all objects. */
async function everything(cluster: AnnotatableCluster, { namespace, name }: LeaseName): Promise<Place> {
  const lease = await cluster.readLease(namespace, name);
  const stored = leaseFacts(lease?.annotations ?? {}, cluster.now()).suspension;
  return {
    target: "--all",
    subject: `All objects under the Lease ${namespace}/${name}`,
    isPlural: true,
    stored,
    write: (text) => cluster.annotateLease(namespace, name, { [SUSPEND_ANNOTATION]: text }),
  };
}

interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

async function places(
  objects: readonly NamedObject[],
  cluster: AnnotatableCluster,
  lease: LeaseName,
): Promise<readonly Place[]> {
  // Whoever may not see the Lease suspends and resumes his objects all the same.
  const record = await cluster.readLease(lease.namespace, lease.name).catch(() => undefined);
  const ofAll = leaseFacts(record?.annotations ?? {}, cluster.now()).suspension;
  return objects.map(({ ref, meta, spec }) => {
    const { suspension: _, ...bare } = meta;
    const rest = suspensionOf({ meta: bare, spec }, ofAll, cluster.now());
    return {
      target: refKey(ref),
      subject: refKey(ref),
      isPlural: false,
      stored: meta.suspension,
      ...(rest === undefined ? {} : { otherwise: staysSuspended(rest) }),
      write: (text) => cluster.annotateObject(ref, { [SUSPEND_ANNOTATION]: text }),
    };
  });
}

function staysSuspended(by: Suspended): string {
  return by.source === "spec"
    ? "It stays suspended: spec.suspend is true; set it to false to let it go on."
    : `It stays suspended ${whySuspended(by)}; run flipop resume --all to let it go on.`;
}

function tellSuspended(session: Session, place: Place, untilMs: number | undefined, nowMs: number): void {
  const { subject, target, isPlural } = place;
  const [are, stay] = isPlural ? ["are", "They stay"] : ["is", "It stays"];
  const until = untilMs === undefined ? "" : ` ${untilText(untilMs, nowMs)}`;
  writeLines(session.streams, [`${subject} ${are} suspended${until}: a failed node keeps its address.`]);
  if (untilMs === undefined)
    writeLine(
      session,
      "warn",
      `${stay} suspended until somebody runs flipop resume ${target}; --for 2h would end it by itself.`,
    );
}

function tellResumed({ streams }: Session, place: Place, nowMs: number): void {
  const { subject, isPlural, stored, otherwise } = place;
  const [were, go] = isPlural ? ["were", "go"] : ["was", "goes"];
  const told = !holdsNow(stored, nowMs)
    ? `${subject} ${were} not suspended by flipop suspend.`
    : otherwise === undefined
      ? `${subject} ${go} on.`
      : `${subject} ${were} suspended ${whySuspended({ ...stored, source: "object" })}; that is over.`;
  writeLines(streams, [otherwise === undefined ? told : `${told} ${otherwise}`]);
}

/** Returns who runs the command, for those who find its mark: the user, else the host. */
export function personOf({ env, identity }: Session): string {
  return oneLine(env["USER"] || env["LOGNAME"] || identity.replace(/_[^_]*_[^_]*$/, ""));
}
