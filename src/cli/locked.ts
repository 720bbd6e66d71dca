import { lockedDocument } from "../report/error-document.ts";
import { EXIT } from "../report/exit-code.ts";
import type { LockRequest } from "./backend.ts";
import type { ReconcileFlags } from "./flags.ts";
import { isDocument, type Session } from "./session.ts";
import { writeDocument, writeLine } from "./write.ts";

/** Returns how the flags want the Lease to be taken and kept. */
export function lockRequest(
  identity: string,
  flags: ReconcileFlags,
  onLocked: NonNullable<ReconcileFlags["onLocked"]>,
): LockRequest {
  return {
    identity,
    onLocked,
    durationMs: flags.leaseDuration,
    renewDeadlineMs: flags.renewDeadline,
    retryMs: flags.retryPeriod,
  };
}

/** Says that another run keeps the Lease, and that this one changed nothing. Returns the exit code. */
export async function reportLocked(session: Session, holder: string, flags: ReconcileFlags): Promise<number> {
  const { invocation, lines, output } = session;
  const who = holder === "" ? "someone else" : holder;
  const lease = `${flags.leaseNamespace}/${flags.leaseName}`;
  const isSkip = flags.onLocked === "skip";
  const what = `Another run works now: ${who} holds the Lease ${lease}. This one changed nothing.`;
  const message = isSkip ? what : `${what} Wait for it to end, or pass --on-locked wait or skip.`;
  const exitCode = isSkip ? EXIT.done : EXIT.locked;
  writeLine(invocation.streams, lines, isSkip ? "info" : "error", message, { reason: "Locked", exitCode });
  if (isDocument(output)) await writeDocument(invocation.streams, lockedDocument(message, exitCode), output);
  return exitCode;
}
