import type { KubeError } from "../model/errors.ts";
import { writeLine } from "./output.ts";
import type { Session } from "./session.ts";

/** Tells on stderr that the cluster cannot be read while a process goes on, and when it can be read again. */
export class Outage {
  readonly #session: Session;
  readonly #consequence: string;
  #sinceMs: number | undefined;

  /** @param consequence - ends the sentence `The cluster cannot be read`; `""` = nothing to add */
  constructor(session: Session, consequence: string) {
    this.#session = session;
    this.#consequence = consequence;
  }

  /** Told of every failure with its number in a row, from 1. Writes a line for the first, the second, the fourth, the eighth and so on. */
  failed(error: KubeError, failures: number): void {
    this.#sinceMs ??= this.#session.wallMs();
    if ((failures & (failures - 1)) !== 0) return;
    const times = failures === 1 ? "" : ` (${failures} times in a row)`;
    const text = `The cluster cannot be read${this.#consequence}${times}. ${error.message}`;
    writeLine(this.#session, "warn", text);
  }

  /** Told whenever the cluster was read. Writes a line if it could not be read before. */
  recovered(): void {
    if (this.#sinceMs === undefined) return;
    const seconds = Math.round((this.#session.wallMs() - this.#sinceMs) / 1000);
    this.#sinceMs = undefined;
    writeLine(this.#session, "info", `the cluster can be read again after ${seconds}s`);
  }
}
