import { refKey } from "../model/action.ts";
import { APPROVED_ANNOTATION, approvalText } from "../model/approval.ts";
import { ConfigError } from "../model/errors.ts";
import { problemText } from "../model/hold.ts";
import type { ToApprove } from "../model/plan.ts";
import { plain } from "../model/text.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { EXIT } from "../report/exit-code.ts";
import { actionLine } from "../report/text/actions.ts";
import { untilText } from "../report/text/times.ts";
import { resolveConfig } from "./config.ts";
import { writeLines, writeText } from "./output.ts";
import { readObject, resolveSelection } from "./selection.ts";
import type { Session } from "./session.ts";
import { personOf } from "./suspend.ts";
import type { ApproveFlags } from "./suspend-flags.ts";
import { objectTargets } from "./target.ts";

/** Runs `approve`: plans with nothing that can write, shows what waits for an approval, asks, and writes the annotation. Returns the exit code. */
export async function runApprove(session: Session, names: readonly string[], flags: ApproveFlags): Promise<number> {
  const targets = objectTargets(names, "approve");
  if (targets.length !== 1) throw new ConfigError("usage", "Name one object to approve, such as pool/ingress/web.");
  if (flags.yes !== true && session.ask === undefined)
    throw new ConfigError("usage", "Nobody can be asked here: run approve on a terminal, or pass --yes.");
  const config = resolveConfig(flags, session.env, session);
  const { withPlanner, withAnnotator } = await session.loadWiring();
  const { key, waiting, other } = await withPlanner(config, (planner) =>
    untilInterrupted(
      (async () => {
        const selection = await resolveSelection(targets, flags, planner.cluster);
        const { plan } = await planner.plan(selection);
        const [own = ""] = selection.objects ?? [];
        return {
          key: own,
          waiting: plan.toApprove?.find(({ object }) => refKey(object) === own),
          other: plan.holds.find(({ object, needsPerson }) => needsPerson && refKey(object) === own),
        };
      })(),
      session.signal,
    ),
  );
  if (waiting === undefined) {
    const why = other === undefined ? "" : ` It waits for something else: ${plain(problemText(other))}`;
    writeLines(session.streams, [`${key}: nothing waits for an approval.${why}`]);
    return EXIT.done;
  }
  writeText(session.streams, shown(waiting));
  if (flags.yes !== true && !(await session.ask?.("Approve it? [y/N] ", session.signal))) return EXIT.refused;
  await withAnnotator(config, async (cluster) => {
    // The clock of the API server is known from its first answer.
    await readObject(waiting.object, cluster);
    const nowMs = cluster.now();
    const untilMs = nowMs + flags.for;
    const text = approvalText(waiting.plan, personOf(session), untilMs);
    await cluster.annotateObject(waiting.object, { [APPROVED_ANNOTATION]: text });
    writeLines(session.streams, [
      `Approved ${untilText(untilMs, nowMs)}. The next run carries it out: flipop reconcile.`,
    ]);
  });
  return EXIT.done;
}

function shown({ object, actions }: ToApprove): string {
  const distinct = [...new Set(actions.map((action) => plain(actionLine(action))))];
  return [`${refKey(object)} would`, ...distinct.map((line) => `  ${line}`), ""].join("\n");
}
