import { categoryOf } from "../report/error-category.ts";
import { errorDocument } from "../report/error-document.ts";
import { errorText, messageOf } from "../report/error-text.ts";
import { exitCodeOfError } from "../report/exit-code.ts";
import { isDocument, type Session } from "./session.ts";
import { writeDocument, writeLine } from "./write.ts";

/** Writes an error to stderr, with `-o json|yaml` also as the one document on stdout. Returns the exit code. */
export async function reportError(session: Session, error: unknown): Promise<number> {
  const { invocation, output, lines, verbosity } = session;
  const exitCode = exitCodeOfError(error);
  if (lines.format === "json") {
    const stack = categoryOf(error) === "bug" || verbosity === 2 ? stackField(error) : {};
    writeLine(invocation.streams, lines, "error", messageOf(error), {
      exitCode,
      category: categoryOf(error),
      ...stack,
    });
  } else {
    writeLine(invocation.streams, lines, "error", errorText(error, verbosity));
  }
  if (isDocument(output)) await writeDocument(invocation.streams, errorDocument(error, exitCode), output);
  return exitCode;
}

function stackField(error: unknown): { readonly stack?: string } {
  return error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
}
