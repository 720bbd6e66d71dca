import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Printed, realCommand } from "../cli/real-command.ts";
import { StoryClock } from "./story-clock.ts";

/** When every story begins. */
const BEGIN_MS = Date.UTC(2026, 1, 3, 8, 0, 0);

/** An embedded world in which a story is played: commands, what happens to its files, and the time that passes are written down. */
export class StoryWorld {
  readonly #dir: string;
  readonly #clock: StoryClock;
  readonly #told: string[];

  private constructor(dir: string, clock: StoryClock, told: string[]) {
    this.#dir = dir;
    this.#clock = clock;
    this.#told = told;
  }

  /** Opens the example world as it is shipped. */
  static open(): StoryWorld {
    return new StoryWorld(mkdtempSync(join(tmpdir(), "flipop-story-")), new StoryClock(BEGIN_MS), []);
  }

  /** Returns the same world once more, at the same time; what was told is not told again. */
  copy(): StoryWorld {
    const dir = mkdtempSync(join(tmpdir(), "flipop-story-"));
    cpSync(this.#dir, dir, { recursive: true });
    return new StoryWorld(dir, new StoryClock(this.#clock.wallMs()), []);
  }

  /** Runs a command line, words apart by spaces, and writes it down with what it printed. */
  async run(line: string): Promise<Printed> {
    return this.#write(line, await this.quietly(line));
  }

  /** As {@link run}, and writes nothing down. */
  quietly(line: string): Promise<Printed> {
    return this.#inTime([`--sandbox=${this.#dir}`, ...line.split(" ")], {});
  }

  /** As {@link run}, where there is no embedded world. */
  async elsewhere(line: string, env: Readonly<Record<string, string>>): Promise<Printed> {
    return this.#write(line, await this.#inTime(line.split(" "), env));
  }

  async #inTime(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Printed> {
    const place = { env, identity: "laptop", machine: "laptop", clock: this.#clock };
    const { stdout, stderr, said, exitCode } = await this.#clock.during(() => realCommand(argv, place));
    const portless = (text: string): string => text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:6443");
    return { stdout: portless(stdout), stderr: portless(stderr), said: portless(said), exitCode };
  }

  #write(line: string, printed: Printed): Printed {
    const { stdout, said, exitCode } = printed;
    const text = `$ flipop ${line}\n${said}${stdout}${exitCode === 0 ? "" : `(exit code ${exitCode})\n`}`;
    this.#told.push(`\`\`\`\n${text}\`\`\`\n`);
    return printed;
  }

  /** Changes a file of the world, and writes down what a person would say has happened. @throws Error when nothing changes */
  edit(what: string, file: string, change: (text: string) => string): void {
    const path = join(this.#dir, file);
    const before = readFileSync(path, "utf8");
    const after = change(before);
    if (after === before) throw new Error(`${file} is as before: ${what}`);
    writeFileSync(path, after);
    this.say(what);
  }

  /** Returns a file of the world. */
  read(file: string): string {
    return readFileSync(join(this.#dir, file), "utf8");
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.#clock.pass(ms);
  }

  /** The time of the world, milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.wallMs();
  }

  /** Writes a sentence down; an empty one is none. */
  say(text: string): void {
    if (text !== "") this.#told.push(`${text}\n`);
  }

  /** Returns what was written down. */
  transcript(title: string): string {
    return [`# ${title}\n`, ...this.#told].join("\n");
  }

  close(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
