import { execFile, execFileSync, execSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { PUSH_PASSWORD, SECRET_TOKEN, shownTokens } from "../fake/fake-tokens.ts";
import { takeShownTokens } from "./watch-tokens.ts";

const half = SECRET_TOKEN.length / 2;
const printing = (script: string): readonly [string, string[]] => [process.execPath, ["-e", script]];
const whole = printing(`console.log("token", ${JSON.stringify(SECRET_TOKEN)})`);
const onStderr = printing(`console.error("token", ${JSON.stringify(SECRET_TOKEN)})`);
const inHalves = printing(
  `process.stdout.write(${JSON.stringify(SECRET_TOKEN.slice(0, half))});
   setTimeout(() => process.stdout.write(${JSON.stringify(SECRET_TOKEN.slice(half))}), 50);`,
);

test.for([
  [
    "spawn",
    async () =>
      once(
        spawn(...whole)
          .on("error", () => undefined)
          .stdout.resume(),
        "close",
      ),
  ],
  ["spawn, on stderr", async () => once(spawn(...onStderr).stderr.resume(), "close")],
  ["spawn, in two chunks", async () => once(spawn(...inHalves).stdout.resume(), "close")],
  ["execFile", async () => new Promise((resolve) => execFile(...whole, resolve))],
  ["spawnSync", async () => spawnSync(...whole)],
  ["execFileSync", async () => execFileSync(...whole)],
  ["execSync", async () => execSync(`echo ${SECRET_TOKEN}`)],
] as const)("a token that a process prints is noticed: %s", async ([, run]) => {
  await run();
  expect(takeShownTokens()).toContain(SECRET_TOKEN);
});

test("a token that the tests' own process prints is noticed", () => {
  process.stderr.write(`${SECRET_TOKEN}\n`);
  expect(takeShownTokens()).toEqual([SECRET_TOKEN]);
});

test("a token is recognised as a header and in a URL, and other texts are not", () => {
  const basic = Buffer.from(`somebody:${PUSH_PASSWORD}`).toString("base64");
  expect(shownTokens(`Authorization: Basic ${basic}`)).toEqual([PUSH_PASSWORD]);
  expect(shownTokens(`https://x/?t=${encodeURIComponent(SECRET_TOKEN)}`)).toEqual([SECRET_TOKEN]);
  expect(shownTokens("dop_v1_… [token] hunter2 0123456789abcdef")).toEqual([]);
});
