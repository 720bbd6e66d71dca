import { expect, test } from "vitest";
import { parse } from "yaml";
import { PROVIDER_ENTRIES, PROVIDERS } from "../../src/adapters/registry.ts";
import { WEBHOOK } from "../../src/adapters/webhook/traits.ts";
import { canonicalIPv4 } from "../../src/model/address.ts";
import { canonicalDNSName } from "../../src/model/dns.ts";
import { Random } from "../simulation/random.ts";
import { documents, shippedFiles, shippedText } from "./shipped.ts";

/** Every text behind a key, anywhere in a value. */
function texts(value: unknown, key: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === "string" ? [inner] : texts(inner, key),
  );
}

const RULES = shippedFiles("crds").flatMap((file) => texts(parse(shippedText(file)), "rule"));
const EXPRESSIONS = documents(shippedText("policy/policy.yaml")).flatMap((document) => texts(document, "expression"));

/** The patterns of all rules and of the policy that begin so, each once. */
function patterns(start: string): readonly RegExp[] {
  const found = [...RULES, ...EXPRESSIONS].flatMap((text) =>
    [...text.matchAll(/matches\("([^"]+)"\)/g)].map(([, pattern = ""]) => pattern),
  );
  return [...new Set(found.filter((pattern) => pattern.startsWith(start)))].map((pattern) => new RegExp(pattern));
}

/** Texts of a few letters, most of them nearly names or addresses. */
function* oddTexts(letters: string): Generator<string> {
  const random = new Random(17);
  for (let count = 0; count < 20_000; count += 1) {
    const length = random.between(1, 16);
    yield Array.from({ length }, () => letters[random.between(0, letters.length - 1)]).join("");
  }
  for (const length of [62, 63, 64, 65]) yield `${"a".repeat(length)}.b`;
}

test("policy/kustomization.yaml holds every file beside it", () => {
  const { resources } = parse(shippedText("policy/kustomization.yaml")) as { readonly resources: readonly string[] };
  const files = shippedFiles("policy").filter((file) => !file.endsWith("kustomization.yaml"));
  expect(resources.map((file) => `policy/${file}`)).toEqual(files);
});

test("the rules know the providers of the registry", () => {
  const [, family = ""] = /^\/(.*)\/$/.exec(`${PROVIDERS.get(WEBHOOK)?.family?.namePattern}`) ?? [];
  const webhooks = ` || self.matches("${family.replace("(?:", "(")}")`;
  const lists = RULES.flatMap((rule) => {
    const [, list = "", rest] =
      /^self in \[([^\]]*digitalocean[^\]]*)\](.*)$/s.exec(rule.replaceAll(/\s+/g, " ")) ?? [];
    return rest === webhooks ? [list] : [];
  });
  const known = PROVIDER_ENTRIES.map(({ traits }) => traits.name).toSorted();
  const named = lists
    .map((list) => (JSON.parse(`[${list}]`) as string[]).filter((name) => name !== "").toSorted())
    .filter((names) => !names.includes("ExternalIP"));
  expect(named.length).toBeGreaterThan(5);
  expect(named).toEqual(named.map(() => known));
});

test("the patterns of names are the planner's: those of the CRDs in any case, those of the policy in lower case", () => {
  const [crds, policy] = [patterns("^([*]|[a-zA-Z"), patterns("^([*]|[a-z0-9_]")];
  expect([crds.length, policy.length]).toEqual([1, 1]);
  for (const text of oddTexts("aB-_.*9 ")) {
    const isName = canonicalDNSName(text) !== undefined;
    expect([text, crds[0]?.test(text)]).toEqual([text, isName]);
    const lower = text.toLowerCase().replace(/\.$/, "");
    expect([lower, policy[0]?.test(lower)]).toEqual([lower, isName]);
  }
});

test("the pattern of addresses is the planner's", () => {
  const found = patterns("^((25[0-5]");
  expect(found).toHaveLength(1);
  const texts = [...oddTexts("012569."), "0.0.0.0", "255.255.255.255", "256.0.0.1", "1.2.3.4.5", "01.2.3.4"];
  for (const text of texts) expect([text, found[0]?.test(text)]).toEqual([text, canonicalIPv4(text) !== undefined]);
});
