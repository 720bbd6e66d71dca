import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type OutputStream, writeDocument, writeLine, writeLines, writeText } from "../../src/cli/output.ts";
import { ConfigError, KubeError, ProviderError } from "../../src/model/errors.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import { plain, plainValue } from "../../src/model/text.ts";
import { eventOf } from "../../src/report/events.ts";
import { errorDocument, type JSONObject } from "../../src/report/json/document.ts";
import { planDocument } from "../../src/report/json/plan.ts";
import { runDocument } from "../../src/report/json/run.ts";
import { overviewDocument } from "../../src/report/json/status.ts";
import { overviewOf } from "../../src/report/overview.ts";
import { errorText, messageOf } from "../../src/report/text/errors.ts";
import type { Palette } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import type { PlanLayout } from "../../src/report/text/plan-entries.ts";
import { renderRun, watchLines } from "../../src/report/text/run.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { poisoned, storedFacts, WORLDS } from "./poisoned.ts";
import { applied, aRun } from "./runs.ts";
import { afterFailure, planOf } from "./world.ts";

/** One of each kind that steers: terminal codes in C0 and C1, line ends and separators of every sort, marks that turn text around. */
const HOSTILE =
  "X\u001b[31m\u001b]0;title\u0007\r\n  ! forged\u0085forged\u009b2J\u202eabc\u2066\u2069\u200e\u200f\u061c\u2028forged\u2029\u0000\u007f\u009f";
const HARMLESS = "X [31m ]0;title ! forged";
const STEERING = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** Our own colours. */
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");

const code = (number: number) => (text: string) => `\u001b[${number}m${text}\u001b[39m`;
const COLOURED: Palette = { strong: code(1), faint: code(2), good: code(32), bad: code(31), notable: code(33) };
const layout: PlanLayout & { readonly verbosity: 0 } = { palette: COLOURED, all: true, wide: true, verbosity: 0 };

/** What a failed, a skipped and an applied action leave, with the text in whatever an API said. */
const outcomeWith =
  (poison: string) =>
  (action: Outcome["action"], at: number): Outcome => {
    if (at % 3 === 0) return applied(action);
    if (at % 3 === 1) return { action, outcome: "skipped", reason: "Stale", detail: `gone${poison}`, ms: 1 };
    const facts = { failure: "refused", operation: "assign", subject: "x", status: 422 } as const;
    const error = new ProviderError({
      ...facts,
      provider: "digitalocean",
      message: `Refused: ${poison}`,
      requestID: poison,
    });
    return { action, outcome: "failed", ms: 1, error };
  };

/** Every text that a command makes of what it read, by its name. */
const TEXTS: Readonly<Record<string, (poison: string) => string>> = {
  ...Object.fromEntries(
    Object.entries(WORLDS).flatMap(([name, world]) => {
      const run = (poison: string): ReturnType<typeof aRun> => {
        const made = aRun(world(), world(), applied);
        const outcomes = made.plan.actions.map(outcomeWith(poison));
        return poisoned({ ...made, outcomes }, poison);
      };
      return [
        [`plan of ${name}`, (poison: string) => renderPlan(poisoned(planOf(world()), poison), layout)],
        [`run of ${name}`, (poison: string) => renderRun(run(poison), layout)],
        [
          `watching ${name}`,
          (poison: string) =>
            watchLines(run(poison), undefined)
              .map(({ text }) => `${text}\n`)
              .join(""),
        ],
      ];
    }),
  ),
  status: (poison) => renderStatus(overviewOf(storedFacts(poison), 1000), layout),
  "an error": (poison) => `${errorText(new ConfigError("invalid", `Cannot read it: ${poison}`), 1)}\n`,
};

describe("what APIs and objects say", () => {
  test.for(Object.keys(TEXTS))("brings no line and no code of its own into the text: %s", (name) => {
    const text = TEXTS[name]?.(HOSTILE) ?? "";
    const harmless = TEXTS[name]?.(HARMLESS) ?? "";
    expect(text).toContain("forged");
    expect(text.split("\n").length).toBe(harmless.split("\n").length);
    expect(text.match(COLOUR)?.length).toBe(harmless.match(COLOUR)?.length);
    const rest = text.replace(COLOUR, "").replaceAll("\n", "");
    expect(STEERING.exec(rest)).toBeNull();
  });

  test("is one line in an Event's note, in an error and in a log's message", () => {
    const [action] = planOf(afterFailure()).actions;
    if (action === undefined) throw new Error("nothing to do");
    for (const at of [0, 2]) {
      const note = eventOf(poisoned(outcomeWith(HOSTILE)(action, at), HOSTILE), undefined)?.note ?? "";
      expect(note).toContain("forged");
      expect(STEERING.exec(note)).toBeNull();
    }
    const failure = {
      failure: "invalid",
      operation: "patch",
      subject: HOSTILE,
      status: 422,
      message: HOSTILE,
    } as const;
    expect(STEERING.exec(messageOf(new KubeError(failure)))).toBeNull();
    const told = errorText(new KubeError(failure), 2);
    expect(told.split("\n").filter((line) => !line.startsWith("    at "))).toHaveLength(2);
    expect(errorText(new RangeError(HOSTILE, { cause: new Error(HOSTILE) }), 0)).not.toMatch(/^ {2}! forged/m);
  });
});

class Recorder implements OutputStream {
  readonly isTTY = false;
  text = "";
  write(text: string): void {
    this.text += text;
  }
}

const streams = (): { readonly stdout: Recorder; readonly stderr: Recorder } => ({
  stdout: new Recorder(),
  stderr: new Recorder(),
});

const DOCUMENTS: Readonly<Record<string, () => JSONObject>> = {
  ...Object.fromEntries(
    Object.entries(WORLDS).flatMap(([name, world]) => [
      [`the plan of ${name}`, () => planDocument(poisoned(planOf(world()), HOSTILE))],
      [
        `the run of ${name}`,
        () => {
          const made = aRun(world(), world(), applied);
          return runDocument(poisoned({ ...made, outcomes: made.plan.actions.map(outcomeWith(HOSTILE)) }, HOSTILE), 3);
        },
      ],
    ]),
  ),
  "the status": () => overviewDocument(overviewOf(storedFacts(HOSTILE), 1000)),
  "an error": () => errorDocument(new ConfigError("invalid", HOSTILE), 78),
};

describe("a document", () => {
  test.for(Object.keys(DOCUMENTS))("as JSON shows nothing that steers, and holds what was read: %s", async (name) => {
    const document = DOCUMENTS[name]?.() ?? {};
    const { stdout, stderr } = streams();
    await writeDocument({ stdout, stderr }, document, "json");
    expect(STEERING.exec(stdout.text.replaceAll("\n", ""))).toBeNull();
    expect(JSON.parse(stdout.text)).toEqual(JSON.parse(JSON.stringify(document)));
    expect(stdout.text.split("\n")).toHaveLength(JSON.stringify(document, null, 2).split("\n").length + 1);
  });

  test.for(Object.keys(DOCUMENTS))("as YAML shows nothing that steers, and holds what was read: %s", async (name) => {
    const document = DOCUMENTS[name]?.() ?? {};
    const { stdout, stderr } = streams();
    await writeDocument({ stdout, stderr }, document, "yaml");
    expect(STEERING.exec(stdout.text.replaceAll("\n", ""))).toBeNull();
    expect(parse(stdout.text)).toEqual(JSON.parse(JSON.stringify(document)));
    const harmless = streams();
    await writeDocument(harmless, plainValue(document), "yaml");
    expect(stdout.text.split("\n")).toHaveLength(harmless.stdout.text.split("\n").length);
  });

  test("tells a direction mark and a C1 code as escapes", async () => {
    const { stdout, stderr } = streams();
    await writeDocument({ stdout, stderr }, { region: "fra1\u202e\u009b\u{e0041}" }, "json");
    expect(stdout.text).toBe('{\n  "region": "fra1\\u202e\\u009b\\udb40\\udc41"\n}\n');
    await writeDocument({ stdout: stderr, stderr }, { region: "fra1\u202e" }, "yaml");
    expect(stderr.text).toBe('region: "fra1\\u202e"\n');
  });

  test("has its sentences on one line for whoever prints them alone", () => {
    const { holds, actions, gaps } = JSON.parse(
      JSON.stringify(planDocument(poisoned(planOf(afterFailure()), HOSTILE))),
    );
    const messages = [...holds, ...actions, ...gaps].map(({ message, error }) => message ?? error);
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.filter((message: string) => STEERING.test(message))).toEqual([]);
  });
});

describe("where a text leaves the program", () => {
  const style = { isQuiet: false, now: () => "2026-08-01T12:00:00Z", fields: {} };

  test("nothing but line ends and colours is let through, whoever forgot to look", () => {
    const { stdout, stderr } = streams();
    writeText({ stdout, stderr }, `\u001b[32mgood\u001b[39m\u001b[2J\u202eb\u0007\n`);
    expect(stdout.text).toBe("\u001b[32mgood\u001b[39m [2J b \n");
  });

  test("a line stays one line", () => {
    const { stdout, stderr } = streams();
    writeLines({ stdout, stderr }, [`pool/a/b${HOSTILE}`, "pool/a/c"]);
    expect(stdout.text.split("\n")).toEqual([plain(`pool/a/b${HOSTILE}`), "pool/a/c", ""]);
  });

  test.for(["text", "json"] as const)("a line on stderr as %s shows nothing that steers", (format) => {
    const { stdout, stderr } = streams();
    writeLine({ streams: { stdout, stderr }, lines: { ...style, format } }, "error", "held by \u001b[2J\u202e", {
      object: HOSTILE,
    });
    expect(STEERING.exec(stderr.text.trimEnd())).toBeNull();
    if (format === "json") expect(JSON.parse(stderr.text)).toMatchObject({ object: HOSTILE });
  });
});

test("a text from outside becomes one line that cannot steer a terminal", () => {
  expect(plain("a\r\nb\u001b[2J\u202ec\u009b1m")).toBe("a b [2J c 1m");
});

test("a value without anything that steers stays the very same value", () => {
  const value = { a: [{ b: "text" }], c: undefined, d: 1, e: new Map([["k", "\u001b"]]) };
  expect(plainValue(value)).toBe(value);
  expect(plainValue({ ...value, f: { "g\u202e": "\u0007h" } })).toEqual({ ...value, f: { g: "h" } });
});
