import { describe, expect, test } from "vitest";
import { KnownSecrets, redactingStreams } from "../../src/cli/output.ts";
import { processorMs } from "../fake/own-time.ts";

const SECRET = "s3cr3t/tok+en=42";

function known(...secrets: readonly string[]): KnownSecrets {
  const all = new KnownSecrets();
  for (const secret of secrets) all.add(secret);
  return all;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a known secret is replaced wherever it stands in a text", () => {
  test.for<[string, string, string]>([
    ["as it is", `a ${SECRET}.`, "a [redacted]."],
    ["several times, next to each other", `${SECRET}${SECRET}`, "[redacted][redacted]"],
    ["in a URL", `?t=${encodeURIComponent(SECRET)}&x`, "?t=[redacted]&x"],
    ["in a URL with small letters", `?t=${encodeURIComponent(SECRET).toLowerCase()}&x`, "?t=[redacted]&x"],
    ["in a form", `t=${new URLSearchParams({ t: SECRET }).toString().slice(2)}&x`, "t=[redacted]&x"],
    ["in base64", `Basic ${base64(SECRET)}`, "Basic [redacted]"],
    ["in base64 without padding", `x ${base64(SECRET).replace(/=+$/, "")} y`, "x [redacted] y"],
    ["in base64 of URLs", `x.${Buffer.from(SECRET).toString("base64url")}.y`, "x.[redacted].y"],
  ])("%s", ([, text, expected]) => {
    expect(known(SECRET).redact(text)).toBe(expected);
  });

  test.for(["a", "ab", "abc", "user"])(
    "in base64 behind %j, but for the ends that it shares with its neighbours",
    (before) => {
      const text = base64(`${before}:${SECRET}:tail`);
      const redacted = known(SECRET).redact(text);
      expect(redacted).toContain("[redacted]");
      const left = Buffer.from(redacted.replace("[redacted]", ""), "base64").toString("latin1");
      expect(left).not.toContain(SECRET.slice(3, -3));
    },
  );

  test.for<[string, string]>([
    ["a quotation mark", 'pass"word'],
    ["a backslash", "pass\\word\\"],
    ["letters of any kind", "pässwörd→"],
    ["a space", "pass word"],
    ["HTML's own characters", "pass<&>word"],
  ])("in JSON, in a URL and in HTML, with %s in it", ([, secret]) => {
    const { redact } = { redact: (text: string) => known(secret).redact(text) };
    expect(redact(JSON.stringify({ p: secret }))).toBe('{"p":"[redacted]"}');
    expect(redact(JSON.stringify(JSON.stringify({ p: secret })))).not.toContain("word");
    expect(redact(new URLSearchParams({ p: secret }).toString())).toBe("p=[redacted]");
    expect(redact(`https://u:${encodeURIComponent(secret)}@h/`)).toBe("https://u:[redacted]@h/");
    const html = secret.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
    expect(redact(`<p>${html}</p>`)).toBe("<p>[redacted]</p>");
  });

  test("the longer of two that begin alike goes first, however they came", () => {
    for (const order of [
      ["secret-1", "secret-1-longer"],
      ["secret-1-longer", "secret-1"],
    ])
      expect(known(...order).redact("secret-1-longer secret-1")).toBe("[redacted] [redacted]");
  });

  test("a private key as a whole, in JSON, in a kubeconfig, and each of its lines", () => {
    const lines = ["MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1234567890abcdef", "c2hvcnQgbGluZSBvZiB0aGUga2V5"];
    const pem = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
    const secrets = known(pem);
    expect(secrets.redact(`key: ${pem}.`)).not.toMatch(/MIGH|c2hv/);
    expect(secrets.redact(JSON.stringify({ key: pem }))).not.toMatch(/MIGH|c2hv/);
    expect(secrets.redact(`client-key-data: ${base64(pem)}`)).toBe("client-key-data: [redacted]");
    for (const line of lines) expect(secrets.redact(`at ${line}`)).toBe("at [redacted]");
    expect(secrets.redact("-----BEGIN PRIVATE KEY----- and PRIVATE")).toBe("-----BEGIN PRIVATE KEY----- and PRIVATE");
  });
});

describe("what is no secret stays", () => {
  test("a text without any, and one that has a part of one", () => {
    expect(known(SECRET).redact("s3cr3t/tok 1 pool, 3 of 3 addresses active")).toBe(
      "s3cr3t/tok 1 pool, 3 of 3 addresses active",
    );
  });

  test.for(["", " ", "a", "ab", "web", "12345"])(
    "a secret of fewer than six characters leaves our own texts alone: %j",
    (secret) => {
      const text = "pool/ingress/web has 12345 addresses, a b ab";
      expect(known(secret).redact(text)).toBe(text);
    },
  );

  test.for<[string, string, string]>([
    ["web", "bad token web, website, my_web, web.", "bad token [redacted], website, my_web, [redacted]."],
    ["x-1", "x-1 and ax-1 and x-12", "[redacted] and ax-1 and x-12"],
    ["ab", "ab and abc", "ab and abc"],
  ])(
    "in words of others the short secret %s is replaced where it stands as a word, with three characters at least",
    ([secret, text, expected]) => {
      expect(known(secret).redactQuoted(text)).toBe(expected);
    },
  );
});

test("the newest hundred secrets are known: a process that runs for a year reads thousands of tokens", () => {
  const secrets = known("the-very-first", ...Array.from({ length: 99 }, (_, at) => `token-number-${at}`));
  expect(secrets.redact("the-very-first token-number-98")).toBe("[redacted] [redacted]");
  secrets.add("the-very-first");
  secrets.add("token-number-99");
  expect(secrets.redact("the-very-first token-number-99 token-number-1.")).toBe("[redacted] [redacted] [redacted].");
  expect(secrets.redact("token-number-0.")).toBe("token-number-0.");
});

test("a large text is searched in a moment", () => {
  const secrets = known(...Array.from({ length: 10 }, (_, at) => `token-${at}-${"x".repeat(40)}`));
  const text = `${"pool ingress web ".repeat(300_000)}token-3-${"x".repeat(40)}`;
  const spentMs = processorMs(() => expect(secrets.redact(text).endsWith("[redacted]")).toBe(true));
  expect(spentMs).toBeLessThan(3000);
});

test("streams write what is left of a text, whatever else they are", () => {
  const written: string[] = [];
  const stream = (name: string): { isTTY: boolean; columns: number; write: (text: string) => void } => ({
    isTTY: true,
    columns: 80,
    write: (text) => void written.push(`${name} ${text}`),
  });
  const streams = redactingStreams({ stdout: stream("out"), stderr: stream("err") }, known(SECRET));
  streams.stdout.write(`a ${SECRET}`);
  streams.stderr.write(SECRET);
  expect(written).toEqual(["out a [redacted]", "err [redacted]"]);
  expect([streams.stdout.isTTY, streams.stdout.columns]).toEqual([true, 80]);
});
