import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseDuration } from "../../src/cli/flag-values.ts";
import { ConfigError } from "../../src/model/errors.ts";
import { EDIT_FORMS, type Edit, parseEdit } from "../../src/rehearse/edit.ts";

const READERS = { duration: parseDuration, yaml: (text: string) => ({ value: parse(text) as unknown }) };

function meaning(text: string): Omit<Edit, "text"> {
  const { text: written, ...edit } = parseEdit(text, READERS);
  expect(written).toBe(text);
  return edit;
}

describe("an edit", () => {
  test.for([
    ["node/n1=notready", { kind: "node-state", node: "n1", state: "NotReady" }],
    ["node/ip-10-0-0-1.example.com=Gone", { kind: "node-state", node: "ip-10-0-0-1.example.com", state: "Gone" }],
    ["node/n1.taint=k:NoSchedule", taint("", "NoSchedule")],
    ["node/n1.taint=k=v:noexecute", taint("v", "NoExecute")],
    ["node/n1.taint=k-", { kind: "remove-taint", node: "n1", key: "k" }],
    ["node/n1.taint=k:NoExecute-", { kind: "remove-taint", node: "n1", key: "k", effect: "NoExecute" }],
    ["node/n1.label=a.b/c=x=y", { kind: "label", node: "n1", key: "a.b/c", value: "x=y" }],
    ["node/n1.label=a=", { kind: "label", node: "n1", key: "a", value: "" }],
    ["node/n1.label=a-", { kind: "label", node: "n1", key: "a" }],
    ["node/n1.pods=none", { kind: "pods", node: "n1", state: "None" }],
    ["node/+n9=like:n1", { kind: "new-node", node: "n9", like: "n1" }],
    ["ip/203.0.113.1=gone", { kind: "address", ip: "203.0.113.1", place: { kind: "gone" } }],
    ["ip/203.0.113.1=on:node/n2", { kind: "address", ip: "203.0.113.1", place: { kind: "node", node: "n2" } }],
    ["ip/203.0.113.1=on:machine/9", { kind: "address", ip: "203.0.113.1", place: { kind: "machine", machineID: "9" } }],
    ["provider/cloudflare=down", { kind: "provider-down", provider: "cloudflare" }],
    ["quota/digitalocean=3", { kind: "quota", provider: "digitalocean", limit: 3 }],
    ["pool/a/b.c.desiredIPs=2", field("pool", "b.c.desiredIPs", "2", 2)],
    ["dns/a/b.match={nodeLabel: x}", field("dns", "b.match", "{nodeLabel: x}", { nodeLabel: "x" })],
    ["issuer/a/b.region=", field("issuer", "b.region", "", null)],
    ["routedip/a/b=Deleted", field("routedip", "b", "Deleted", "Deleted")],
    ["+1h30m", { kind: "time", ms: 5_400_000 }],
  ] as const)("%s is read", ([text, wanted]) => {
    expect(meaning(text)).toEqual(wanted);
  });

  test.for([
    ["", 1, "node/"],
    ["node", 1, "node/"],
    ["noed/n1=Ready", 1, "node/"],
    ["__proto__/n1=Ready", 1, "node/"],
    ["node/=Ready", 6, "a name"],
    ["node/n1", 8, "= and a value"],
    ["node/n1=Redy", 9, "NotReady, Ready, Gone, Cordoned or Uncordoned"],
    ["node/n1.taint=k=v", 18, ":EFFECT"],
    ["node/n1.taint=k:Never", 17, "NoSchedule, PreferNoSchedule or NoExecute"],
    ["node/n1.taint=", 15, "KEY[=VALUE]:EFFECT or KEY-"],
    ["node/n1.label=a", 15, "KEY=VALUE or KEY-"],
    ["node/n1.pods=2", 14, "Ready, NotReady or None"],
    ["node/+n9=n1", 10, "like:NODE"],
    ["node/+=like:n1", 7, "a name"],
    ["ip/203.0.113.999=Gone", 4, "an IP address"],
    ["ip/203.0.113.1=on:n2", 16, "Unattached, Gone, on:node/NAME or on:machine/ID"],
    ["provider/x=Up", 12, "Down"],
    ["quota/x=-1", 9, "a number"],
    ["pool/web.desiredIPs=2", 6, "NAMESPACE/NAME.FIELD"],
    ["+soon", 2, "a time of 24h at most, such as 90s, 10m or 2h"],
    ["+", 2, "a time of 24h at most, such as 90s, 10m or 2h"],
    ["+25h", 2, "a time of 24h at most, such as 90s, 10m or 2h"],
  ] as const)("'%s' is refused at character %d", ([text, at, expected]) => {
    const refusal = expect.objectContaining({
      kind: "usage",
      message: expect.stringContaining(`Unknown edit '${text}': character ${at} should begin ${expected}`),
    });
    expect(() => parseEdit(text, READERS)).toThrow(ConfigError);
    expect(() => parseEdit(text, READERS)).toThrow(refusal);
  });

  test("whose value is no YAML is refused", () => {
    const readers = { ...READERS, yaml: () => undefined };
    expect(() => parseEdit("pool/a/b.ips=[", readers)).toThrow("character 14 should begin a value in YAML.");
  });

  test("of every form that help names is read", () => {
    const words: Readonly<Record<string, string>> = {
      "KEY[=VALUE]": "k=v",
      EFFECT: "NoExecute",
      ADDRESS: "203.0.113.1",
      NUMBER: "3",
      DURATION: "5m",
    };
    for (const form of EDIT_FORMS)
      for (const choice of choices(form)) {
        const text = Object.entries(words).reduce((line, [word, value]) => line.replace(word, value), choice);
        expect(meaning(text), text).toBeDefined();
      }
  });
});

function taint(value: string, effect: string): object {
  return { kind: "add-taint", node: "n1", taint: { key: "k", value, effect } };
}

function field(of: string, path: string, written: string, value: unknown): object {
  return { kind: "object", of, namespace: "a", path, written, value };
}

/** Every line that a form with `|` stands for. */
function choices(form: string): readonly string[] {
  const [subject = "", ...values] = form.split("=");
  if (values.length === 0) return [form];
  const [kinds = "", ...names] = subject.split("/");
  return kinds.split("|").flatMap((kind) =>
    values
      .join("=")
      .split("|")
      .map((value) => `${[kind, ...names].join("/")}=${value}`),
  );
}
