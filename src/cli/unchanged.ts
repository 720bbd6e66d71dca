import { ConfigError, KubeError } from "../model/errors.ts";
import { sentence } from "../model/hold.ts";
import { Interrupted } from "../observe/interrupt.ts";
import { categoryOf, messageOf } from "../report/text/errors.ts";
import { writeLine } from "./output.ts";
import type { Session } from "./session.ts";

const UNCHANGED = "Nothing was changed.";

/**
 * Does the work of a command that changes things. Where an error or a signal ends it before anything was changed, a person is told so.
 * @param work - is given what it calls once something may have been changed: from then on nothing is said
 */
export async function sayingUnchanged<T>(session: Session, work: (begin: () => void) => Promise<T>): Promise<T> {
  let hasBegun = false;
  try {
    return await work(() => {
      hasBegun = true;
    });
  } catch (error) {
    if (hasBegun) throw error;
    if (error instanceof Interrupted) writeLine(session, "info", `Interrupted. ${UNCHANGED}`);
    throw unchanged(error);
  }
}

/** The error with a sentence more. Of a mistake in the command line nobody expects anything else, and of a bug nobody knows what it did. */
function unchanged(error: unknown): unknown {
  const category = categoryOf(error);
  if (category === "usage" || category === "bug") return error;
  const said = messageOf(error);
  const message = `${sentence(said)} ${UNCHANGED}`;
  if (error instanceof ConfigError) return withStack(new ConfigError(error.kind, message), error);
  if (error instanceof KubeError) return withStack(new KubeError({ ...factsOf(error), message }), error);
  return error;
}

function factsOf({ failure, operation, subject, status }: KubeError): Omit<KubeError, keyof Error> {
  return { failure, operation, subject, status };
}

/** Shows where the first error came from: that this one was made here says nothing. */
function withStack<E extends Error>(error: E, { stack, cause }: Error): E {
  if (stack !== undefined) error.stack = stack;
  if (cause !== undefined) error.cause = cause;
  return error;
}
