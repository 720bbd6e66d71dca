import { lexer, parse, type Token, type Tokens } from "marked";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/model/errors.ts";
import type { Plan } from "../../src/model/plan.ts";
import { plain } from "../../src/model/text.ts";
import { code, errorMarkdown, shown } from "../../src/report/markdown/markdown.ts";
import { planMarkdown } from "../../src/report/markdown/plan.ts";
import { statusMarkdown } from "../../src/report/markdown/status.ts";
import { overviewOf } from "../../src/report/overview.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { renderPlan } from "../../src/report/text/plan.ts";
import { renderStatus } from "../../src/report/text/status.ts";
import { afterFailureWithDNS } from "./dns-world.ts";
import { HARM_WORLDS } from "./harm-worlds.ts";
import { poisoned, storedFacts, WORLDS } from "./poisoned.ts";
import { notGranted, planOf, unreadable } from "./world.ts";

/** What means something to GitHub or GitLab, and a line end. */
const HOSTILE =
  "X|y\\|z`c`<script>alert(1)</script><img src=x onerror=y> *b* __b__ _i_ ~~d~~ [l](http://x.y) ![p](z) https://x.y/a_b www.x.y @octocat @org/team #12 !7 $m$ &lt; &#64; \\` -->\n# h\n\n| a | b |\n|---|---|\n- x";
/** As the other one in words. */
const HARMLESS = "X y";

/** What a comment at GitHub holds, characters. */
const GITHUB_HOLDS = 65_536;

const layout = { palette: PLAIN, all: false, wide: false };

const TEXTS: Readonly<Record<string, (poison: string) => string>> = {
  ...Object.fromEntries(
    Object.entries({ ...WORLDS, ...HARM_WORLDS, notGranted, unreadable }).map(([name, world]) => [
      `the plan of ${name}`,
      (poison: string) => planMarkdown(poisoned(planOf(world()), poison), { ...layout, all: true, wide: true }),
    ]),
  ),
  "the status": (poison) => statusMarkdown(overviewOf(storedFacts(poison), 1000)),
  "an error": (poison) => errorMarkdown(new ConfigError("invalid", `Cannot read it${poison}`), 78),
};

/** Every token of a text, the inner ones behind the one that they are in. */
function tokensOf(markdown: string): readonly Token[] {
  const inner = (token: Token): readonly Token[] => {
    const cells =
      token.type === "table" ? [...(token as Tokens.Table).header, ...(token as Tokens.Table).rows.flat()] : [];
    const items = token.type === "list" ? (token as Tokens.List).items : [];
    const below = [
      ...("tokens" in token ? (token.tokens ?? []) : []),
      ...cells.flatMap((cell) => cell.tokens),
      ...items,
    ];
    return [token, ...below.flatMap(inner)];
  };
  return lexer(markdown).flatMap(inner);
}

/** What a reader sees of a text. */
function readText(markdown: string): string {
  const html = parse(markdown, { async: false })
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/<br>/g, "\n");
  const entities = new Map([
    ["lt", "<"],
    ["gt", ">"],
    ["amp", "&"],
    ["quot", '"'],
    ["#39", "'"],
    ["#36", "$"],
  ]);
  return html.replace(/<[^>]*>/g, "").replace(/&([\w#]+);/g, (whole, name: string) => entities.get(name) ?? whole);
}

/** The HTML that flipop writes itself. */
const OWN_HTML =
  /^(?:<!-- (?:flipop \w+ )?-->\n?|<br>|<\/?code>|<details><summary>[^<>]*<\/summary>\s*|<\/details>\s*)$/;

describe("Markdown", () => {
  test.for(Object.keys(TEXTS))("shows what objects and APIs say, and lets it form nothing: %s", (name) => {
    const text = TEXTS[name]?.(HOSTILE) ?? "";
    const harmless = TEXTS[name]?.(HARMLESS) ?? "";
    expect(readText(text)).toContain(plain(HOSTILE));
    const blocks = (markdown: string): readonly string[] =>
      tokensOf(markdown)
        .map(({ type }) => type)
        .filter((type) => /^(?:table|list|list_item|heading|paragraph|code|blockquote|hr|def|strong)$/.test(type));
    expect(blocks(text)).toEqual(blocks(harmless));
    const tokens = tokensOf(text);
    expect(tokens.filter(({ type }) => /^(?:em|del|image|link)$/.test(type))).toEqual([]);
    expect(tokens.filter(({ type, raw }) => type === "html" && !OWN_HTML.test(raw))).toEqual([]);
    expect(text).not.toMatch(/[@#!](?:octocat|org|12|7)\b/);
  });

  test.for(Object.entries({ ...WORLDS, ...HARM_WORLDS, notGranted, unreadable }))(
    "tells of a plan what the text tells: %s",
    ([, world]) => {
      const plan = planOf(world());
      const read = readText(planMarkdown(plan, layout)).replaceAll("\n", " ");
      const told = renderPlan(plan, layout).split("\n").slice(1);
      const lines = told.map((line) => line.trim().replace(/^(?:[-+~>=.!] |Impact: |Service: )/, ""));
      const missing = lines.filter((line) => {
        const isFolded = /\((?:-o wide|--all) shows (?:it|them)\)$|^Impact: this touches/.test(line);
        return !isFolded && !read.includes(line.replace(/\.$/, "").replace(/^this touches (what .*):$/, "Touches $1"));
      });
      expect(missing).toEqual([]);
    },
  );

  test("tells of status what the text tells, cell by cell", () => {
    const overview = overviewOf(storedFacts(""), 1000);
    const read = readText(statusMarkdown(overview));
    const cells = renderStatus(overview, layout)
      .split("\n")
      .slice(1)
      .flatMap((line) => line.trim().split(/ {2,}/));
    const missing = cells
      .map((cell) => cell.replace(/^[!.] /, ""))
      .filter((cell) => !read.includes(cell) && !cell.includes("flipop plan shows what a run does about it"));
    expect(missing).toEqual([]);
  });

  test("shows a name as code whatever it holds", () => {
    expect(code("pool/ingress/web")).toBe("`pool/ingress/web`");
    expect(code("a`b<c>")).toBe("<code>a\\`b&lt;c&gt;</code>");
    expect(readText(`${code("a`|b")}`).trim()).toBe("a`|b");
  });

  test("cuts what is longer than anybody reads, and no character in two", () => {
    expect(shown("x".repeat(2000))).toBe(`${"x".repeat(1000)}…`);
    expect(shown(`${"x".repeat(999)}\u{1f600}y`)).toBe(`${"x".repeat(999)}…`);
  });
});

/** A plan with as many changes and holds. */
function bigPlan(count: number): Plan {
  const plan = planOf(afterFailureWithDNS());
  const many = <T>(list: readonly T[]): readonly T[] =>
    Array.from({ length: count }, (_, at) => list[at % list.length]).flatMap((one) => one ?? []);
  // What lies with the object alone is an entry of its own.
  const holds = many(plan.holds).map((hold, at) => ({ ...hold, detail: `It is held for the ${at}th time.` }));
  return { ...plan, actions: many(plan.actions), followUps: [], holds };
}

describe("a plan that no comment holds", () => {
  const rowsOf = (markdown: string): number =>
    tokensOf(markdown).reduce(
      (sum, token) => sum + (token.type === "table" ? (token as Tokens.Table).rows.length : 0),
      0,
    );

  test.for([400, 5000])("loses rows of every table, and says how many: %i changes and holds", (count) => {
    const plan = bigPlan(count);
    const text = planMarkdown(plan, { ...layout, all: true });
    expect(text.length).toBeLessThanOrEqual(GITHUB_HOLDS - 500);
    expect(text.length).toBeGreaterThan(GITHUB_HOLDS * 0.8);
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
    const last = text.trimEnd().split("\n").at(-1) ?? "";
    expect(last).toMatch(
      /^Left out, since a comment holds no more: .*\d+ changes, .*\d+ blocked.* `flipop plan` shows all\.$/,
    );
    expect(text).toContain("| Waits for a person |");
    expect(text).toContain("<summary>Calls to providers</summary>");
    const left = [...last.matchAll(/(\d+) (?:changes?|blocked|held|annotations?)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    // Holds of several addresses with one cause are one row: the whole has as many rows with and without a limit.
    const whole = renderPlan(plan, { ...layout, all: true, isNamed: true }).match(/^ {2}[-+~>.!=] /gm)?.length;
    expect(rowsOf(text) + left).toBe(whole);
  });

  test("is whole where it fits", () => {
    expect(planMarkdown(bigPlan(20), layout)).not.toContain("Left out");
  });

  test("keeps to the limit though its texts are long", () => {
    const text = planMarkdown(poisoned(bigPlan(300), "|<&*".repeat(500)), { ...layout, wide: true });
    expect(text.length).toBeLessThanOrEqual(GITHUB_HOLDS);
  });
});
