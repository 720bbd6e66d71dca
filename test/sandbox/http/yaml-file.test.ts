import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/model/errors.ts";
import { YAMLFile } from "../../../src/sandbox/yaml-file.ts";
import { processorMs } from "../../fake/own-time.ts";

let directory = "";
let path = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-yaml-"));
  path = join(directory, "world.yaml");
});

afterEach(() => rmSync(directory, { recursive: true }));

function decode(value: unknown): unknown {
  if (value === "bad") throw new Error("the value must not be bad");
  return value;
}

function one(): YAMLFile<unknown> {
  return new YAMLFile(path, { header: "What can be done here.\n\nEdit it.", decode });
}

function many(): YAMLFile<unknown> {
  return new YAMLFile(path, { header: "Objects.", documents: "many", decode });
}

function failure(file: YAMLFile<unknown>): ConfigError {
  try {
    file.load();
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("load did not fail with ConfigError");
}

describe("a YAML file", () => {
  test("that does not exist is undefined", () => {
    expect(one().load()).toBeUndefined();
  });

  test("is written with its header as a comment, and read back", () => {
    one().save({ a: [1, "2"], long: "x ".repeat(100) });
    expect(readFileSync(path, "utf8")).toMatch(
      /^# What can be done here\.\n#\n# Edit it\.\n\na:\n {2}- 1\n {2}- "2"\n/,
    );
    expect(one().load()).toEqual({ a: [1, "2"], long: "x ".repeat(100) });
  });

  test("keeps the head comment that a person wrote instead", () => {
    writeFileSync(path, "# mine\n# too\na: 1\n");
    const file = one();
    file.load();
    file.save({ a: 2 });
    expect(readFileSync(path, "utf8")).toBe("# mine\n# too\n\na: 2\n");
  });

  test("that is empty is null, or no documents", () => {
    writeFileSync(path, "# nothing\n");
    expect([one().load(), many().load()]).toEqual([null, []]);
  });

  test("of many documents is an array, empty ones left out", () => {
    writeFileSync(path, "---\na: 1\n---\n---\nb: 2\n");
    expect(many().load()).toEqual([{ a: 1 }, { b: 2 }]);
    many().save([{ a: 1 }, { b: 2 }]);
    expect(readFileSync(path, "utf8")).toBe("# Objects.\n\na: 1\n---\nb: 2\n");
  });

  test("of many documents may lose all of them and is still read", () => {
    many().save([]);
    expect(many().load()).toEqual([]);
  });

  test("is written only when its content differs, and leaves no other file", () => {
    const file = one();
    file.save({ a: 1 });
    utimesSync(path, 1, 1);
    file.load();
    file.save({ a: 1 });
    expect(statSync(path).mtimeMs).toBe(1000);
    file.save({ a: 2 });
    expect(statSync(path).mtimeMs).not.toBe(1000);
    expect(readdirSync(directory)).toEqual(["world.yaml"]);
  });

  test("notices that someone else wrote, replaced, made or removed it", () => {
    const file = one();
    expect(file.changedSinceLoad()).toBe(false);
    writeFileSync(path, "a: 1\n");
    expect(file.changedSinceLoad()).toBe(true);
    file.load();
    expect(file.changedSinceLoad()).toBe(false);
    utimesSync(path, 5, 5);
    expect(file.changedSinceLoad()).toBe(true);
    file.save({ a: 3 });
    expect(file.changedSinceLoad()).toBe(false);
    rmSync(path);
    expect(file.changedSinceLoad()).toBe(true);
  });

  test("with a syntax error is a ConfigError that names file, line and column", () => {
    writeFileSync(path, 'a: 1\nb: [1, 2\nc: "x\n');
    const error = failure(one());
    expect(error.kind).toBe("invalid");
    expect(error.message.startsWith(`cannot read ${path}:3:`)).toBe(true);
    expect(error.message).toContain("correct the YAML there");
  });

  test("with a syntax error in a later document names the line in the file", () => {
    writeFileSync(path, "a: 1\n---\nb: 1\nb: 2\n");
    expect(failure(many()).message).toContain(`${path}:4:`);
  });

  test("with an unresolved alias is a ConfigError too", () => {
    writeFileSync(path, "a: *nowhere\n");
    expect(failure(one()).message).toMatch(/world\.yaml:1:1: Unresolved alias .*; correct the YAML of that document$/);
  });

  test("with a bad value is a ConfigError that names the file and what decode says", () => {
    writeFileSync(path, "bad\n");
    expect(failure(one()).message).toBe(`cannot read ${path}: the value must not be bad`);
  });

  test("that is a directory, or lies in one that is not there, is a ConfigError that says what to do", () => {
    mkdirSync(path);
    expect(failure(one()).message).toMatch(/^cannot read .*world\.yaml: EISDIR.*; make it a readable file$/);
    const nowhere = new YAMLFile(join(directory, "none", "world.yaml"), { header: "x", decode });
    expect(() => nowhere.save(1)).toThrow(/^cannot write .*none\/world\.yaml: ENOENT.*; make the directory writable$/);
  });

  test("of one document refuses two", () => {
    writeFileSync(path, "a: 1\n---\nb: 1\n");
    expect(failure(one()).message).toContain("it holds 2 documents, expected one");
  });

  test("that failed to load still counts as changed, so that the next try reads it again", () => {
    writeFileSync(path, "a: [\n");
    const file = one();
    failure(file);
    expect(file.changedSinceLoad()).toBe(true);
  });

  test("read by many at once is never half written", () => {
    const writer = one();
    writer.save({ a: "x".repeat(100_000) });
    const before = statSync(path).ino;
    writer.save({ a: "y".repeat(100_000) });
    expect(statSync(path).ino).not.toBe(before);
  });
});

describe("a file of many documents of which one changes at a time", () => {
  const documents = Array.from({ length: 300 }, (_, at) => ({
    name: `web-${at}`,
    status: { turn: 0, ips: ["a", "b"] },
  }));

  test("holds what they are now, changed in place, twice the same, or gone", () => {
    const file = many();
    const [first, second, third] = structuredClone(documents);
    if (first === undefined || second === undefined || third === undefined) throw new Error("too few documents");
    file.save([first, second, third]);
    second.status.turn = 7;
    file.save([first, second, third]);
    expect(many().load()).toEqual([first, second, third]);
    file.save([second, second]);
    expect(many().load()).toEqual([second, second]);
  });

  test("is written in less than half of the time that the whole takes", () => {
    const own = structuredClone(documents);
    const file = many();
    const wholeMs = Math.min(...[1, 2, 3].map(() => processorMs(() => many().save(own))));
    file.save(own);
    const oneMs = own.slice(0, 5).map((document, turn) => {
      document.status.turn = turn + 1;
      return processorMs(() => file.save(own));
    });
    expect(Math.min(...oneMs)).toBeLessThan(wholeMs / 2);
  });
});
