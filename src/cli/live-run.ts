import { refKey } from "../model/action.ts";
import type { Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import type { PassResult } from "../model/run.ts";
import { causeKey, MOST_ALIKE, renderOutcome } from "../report/text/run.ts";
import { isDocument, writeText } from "./output.ts";
import type { Session } from "./session.ts";

/** Prints what a run does while it does it, below the name of each object. Of changes that come to nothing for one cause it prints the first few: the end counts the others. */
export class LiveRun {
  readonly #session: Session;
  readonly #told = new Set<Outcome>();
  /** How many came to nothing for one cause, by {@link causeKey}. */
  readonly #failures = new Map<string, number>();
  /** The object whose lines were printed last. */
  #object = "";

  constructor(session: Session) {
    this.#session = session;
  }

  /** True where a person looks on: at a terminal, for texts. */
  static isWanted({ streams, output, lines }: Session): boolean {
    return streams.stdout.isTTY && !isDocument(output) && output !== "name" && lines.format === "text";
  }

  /** Prints one outcome, with the plan that its action is of. */
  print(outcome: Outcome, plan: Plan): void {
    const { streams, layout, verbosity } = this.#session;
    if (this.#isOneMore(outcome)) return;
    const object = refKey(outcome.action.object);
    const gap = this.#told.size === 0 ? "" : "\n";
    const heading = object === this.#object ? "" : `${gap}${layout.palette.strong(object)}\n`;
    this.#told.add(outcome);
    this.#object = object;
    writeText(streams, heading + renderOutcome(outcome, plan, { ...layout, verbosity, all: false }));
  }

  #isOneMore(outcome: Outcome): boolean {
    if (outcome.outcome === "applied") return false;
    const key = causeKey(outcome);
    const before = this.#failures.get(key) ?? 0;
    this.#failures.set(key, before + 1);
    return before >= MOST_ALIKE;
  }

  /** Ends what was printed with an empty line. Returns the outcomes that were not. */
  end({ outcomes }: PassResult): readonly Outcome[] {
    if (this.#told.size > 0) writeText(this.#session.streams, "\n");
    return outcomes.filter((outcome) => !this.#told.has(outcome));
  }
}
