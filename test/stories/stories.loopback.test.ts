import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { freshPage, incidentOf, readPage } from "../readme/tables.ts";
import { ON_CALL } from "./on-call.ts";
import { STORIES } from "./stories.ts";

// The sixteen stories with which a trial of the command line began, each on the embedded world and in a time of its own. Its
// file here shows the commands and what they print; what a person has to be told is looked for in it, sentence by sentence.

const PLAY = fileURLToPath(new URL("./play.ts", import.meta.url));

let transcripts: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PLAY], { maxBuffer: 10_000_000 });
  transcripts = JSON.parse(stdout);
});

test("there are sixteen", () => {
  expect(STORIES.map(({ title }) => title.slice(0, 2))).toEqual(
    Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(2, "0")),
  );
});

test("the manual shows an incident as it is played (npm run docs writes it)", () => {
  const page = readPage("cronjob/README.md");
  expect(page).toContain("<!-- generated: on-call -->");
  expect(freshPage(page, { "on-call": incidentOf(transcripts) }) === page).toBe(true);
});

describe.for([...STORIES, ON_CALL])("$title", ({ title, told, untold = {} }) => {
  const text = (): string => transcripts[title] ?? expect.fail("it was not played");

  test("goes as its file tells", async () => {
    expect(text()).not.toContain("It came out otherwise");
    if (title !== ON_CALL.title) await expect(text()).toMatchFileSnapshot(`./${title}.md`);
  });

  test.for(Object.entries(told))("tells %s", ([, wanted]) => {
    if (typeof wanted === "string") expect(text()).toContain(wanted);
    else expect(text()).toMatch(wanted);
  });

  test.for(Object.entries(untold))("does not tell %s", ([, unwanted]) => {
    if (typeof unwanted === "string") expect(text()).not.toContain(unwanted);
    else expect(text()).not.toMatch(unwanted);
  });
});
