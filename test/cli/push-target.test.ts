import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Environment } from "../../src/cli/environment.ts";
import { KnownSecrets } from "../../src/cli/output.ts";
import * as target from "../../src/cli/push.ts";

const dir = mkdtempSync(join(tmpdir(), "flipop-push-"));
afterAll(() => rmSync(dir, { recursive: true }));

const flags = { pushJob: "flipop", pushGrouping: [] };
const url = "http://gateway:9091";
const secrets = new KnownSecrets();

type Flags = Parameters<typeof target.pushTarget>[0];
const pushTarget = (given: Flags, env: Environment): ReturnType<typeof target.pushTarget> =>
  target.pushTarget(given, env, { warn: () => undefined, secrets });

test("what logs in to the Pushgateway is a secret from the first time that it is read", () => {
  const env = { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: "a pass word" };
  const header = pushTarget({ ...flags, pushgateway: url }, env)?.authorization();
  expect(secrets.redact(`a pass word, ${header}`)).toBe("[redacted], Basic [redacted]");
});

describe("where metrics are pushed to", () => {
  test("is nowhere without a URL, or with an empty one", () => {
    expect(pushTarget(flags, { PUSHGATEWAY_URL: "" })).toBeUndefined();
  });

  test("is what the flag says before the environment, without the last slash", () => {
    expect(pushTarget({ ...flags, pushgateway: `${url}/a/` }, { PUSHGATEWAY_URL: "http://other" })?.url).toBe(
      `${url}/a`,
    );
    expect(pushTarget(flags, { PUSHGATEWAY_URL: `${url}/` })?.url).toBe(url);
  });

  test.for([
    ["no URL", "gateway:9091", "is not an http or https URL"],
    ["another scheme", "ftp://gateway", "is not an http or https URL"],
    ["a user and a password", "http://me:s3cr3t@gateway", "must have no user, password"],
    ["a query", "http://gateway?key=s3cr3t", "must have no user, password"],
  ] as const)("is refused with %s, which is not shown", ([, text, message]) => {
    const make = (): unknown => pushTarget({ ...flags, pushgateway: text }, {});
    expect(make).toThrow(message);
    expect(make).not.toThrow(/s3cr3t/);
  });

  test("has the labels of --push-grouping, in order, with whatever is in them", () => {
    const pushGrouping = ["cluster=arn:a/b=c", "region=eu"];
    expect(pushTarget({ ...flags, pushgateway: url, pushGrouping }, {})?.grouping).toEqual([
      ["cluster", "arn:a/b=c"],
      ["region", "eu"],
    ]);
  });

  test.for([
    ["an empty value, which would block every push of everybody", ["instance="], "'instance=' has no name or no value"],
    ["no value", ["cluster"], "'cluster' has no name or no value"],
    ["no name", ["=x"], "'=x' has no name or no value"],
    ["a name that is none", ["a-b=x"], "'a-b' is no name of a label"],
    ["a reserved name", ["__a=x"], "'__a' is no name of a label"],
    ["the job", ["job=x"], "the job is named with --push-job"],
    ["a label of the metrics", ["namespace=x"], "'namespace' is a label of flipop's own metrics"],
    ["a label of histograms", ["le=x"], "'le' is a label of flipop's own metrics"],
    ["a name twice", ["a=x", "a=y"], "a is given twice"],
  ] as const)("is refused with %s", ([, pushGrouping, message]) => {
    expect(() => pushTarget({ ...flags, pushgateway: url, pushGrouping }, {})).toThrow(message);
  });

  test("is refused with an empty job", () => {
    expect(() => pushTarget({ ...flags, pushgateway: url, pushJob: "" }, {})).toThrow("--push-job is empty");
  });

  test.for([
    ["nothing", {}, undefined],
    ["user and password", { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: "pw" }, "Basic bWU6cHc="],
    ["a user alone", { PUSHGATEWAY_USERNAME: "me" }, "Basic bWU6"],
    ["a token before them", { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_TOKEN: "t" }, "Bearer t"],
  ] as const)("is told %s of the environment", ([, env, header]) => {
    expect(pushTarget({ ...flags, pushgateway: url }, env)?.authorization()).toBe(header);
  });

  test("takes a password with spaces and any letters, and no line end behind it", () => {
    const env = { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD: "p ä%s" };
    const header = `Basic ${Buffer.from("me:p ä%s").toString("base64")}`;
    expect(pushTarget({ ...flags, pushgateway: url }, env)?.authorization()).toBe(header);
    const path = join(dir, "password");
    writeFileSync(path, "p ä%s\n");
    const file = { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD_FILE: path };
    expect(pushTarget({ ...flags, pushgateway: url }, file)?.authorization()).toBe(header);
  });

  test("is told a token or password that is read from its file at each push", () => {
    const path = join(dir, "secret");
    const target = pushTarget({ ...flags, pushgateway: url }, { PUSHGATEWAY_TOKEN_FILE: path });
    writeFileSync(path, "first\n");
    expect(target?.authorization()).toBe("Bearer first");
    writeFileSync(path, "second\n");
    expect(target?.authorization()).toBe("Bearer second");
    const basic = pushTarget(
      { ...flags, pushgateway: url },
      { PUSHGATEWAY_USERNAME: "me", PUSHGATEWAY_PASSWORD_FILE: path },
    );
    expect(basic?.authorization()).toBe(`Basic ${Buffer.from("me:second").toString("base64")}`);
  });
});
