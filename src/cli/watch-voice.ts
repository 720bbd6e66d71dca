import type { KubeError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult } from "../model/run.ts";
import { exitCodeOfRun } from "../report/exit-code.ts";
import { activeText } from "../report/summary.ts";
import { watchLines } from "../report/watch-lines.ts";
import type { Turn } from "../watch/watch-loop.ts";
import { logRun } from "./log-run.ts";
import type { Session } from "./session.ts";
import { writeLine, writeLines } from "./write.ts";

const LEVELS = { info: "", warn: "held: ", error: "failed: " } as const;

/** What a watching process says: a line per change with time and reason, on a terminal to stdout, in a pod as JSON lines to stderr. Silent while nothing changes. */
export class WatchVoice {
  readonly #session: Session;
  #before: Plan | undefined;
  #failed: { readonly sinceMs: number } | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  waiting(lease: string): void {
    this.#say("info", `waiting for the Lease ${lease}`);
  }

  leading(lease: string | undefined): void {
    this.#say(
      "info",
      lease === undefined ? "passing without a lock" : `holds the Lease ${lease} and passes from now on`,
    );
  }

  serving(where: string): void {
    this.#say("info", `serves /metrics, /healthz and /readyz on ${where}`);
  }

  turn(turn: Turn): void {
    if (turn.kind === "failed") this.failure(turn.error, turn.failures);
    else this.#passed(turn.pass.result);
  }

  /** Told at the first failure in a row, and then ever more rarely. */
  failure(error: KubeError, failures: number): void {
    this.#failed ??= { sinceMs: this.#session.invocation.wallMs() };
    if ((failures & (failures - 1)) !== 0) return;
    const times = failures === 1 ? "" : ` (${failures} times in a row)`;
    this.#say("warn", `The cluster cannot be read; nothing is changed meanwhile${times}. ${error.message}`);
  }

  #passed(result: PassResult): void {
    this.#recovered();
    const lines = watchLines(result, this.#before);
    const isFirst = this.#before === undefined;
    this.#before = result.remaining;
    if (this.#session.lines.format === "json") {
      const exitCode = exitCodeOfRun(result, { partialOk: true });
      if (lines.length > 0 || isFirst) logRun(this.#session, result, exitCode);
      return;
    }
    for (const { level, object, text } of lines) this.#print(`${LEVELS[level]}${object}: ${text}`);
    if (isFirst) this.#print(`${activeText(result.remaining)}; watching for changes.`);
  }

  #recovered(): void {
    if (this.#failed === undefined) return;
    const seconds = Math.round((this.#session.invocation.wallMs() - this.#failed.sinceMs) / 1000);
    this.#failed = undefined;
    this.#say("info", `the cluster can be read again after ${seconds}s`);
  }

  #print(text: string): void {
    const { invocation, lines } = this.#session;
    writeLines(invocation.streams, [`${lines.now()} ${text}`]);
  }

  #say(level: "info" | "warn", text: string): void {
    writeLine(this.#session.invocation.streams, this.#session.lines, level, text);
  }
}
