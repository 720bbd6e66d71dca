import { beforeAll, expect, test } from "vitest";
import { createClusterReader } from "../../src/adapters/kube/cluster-reader.ts";
import { loadConfig } from "../../src/adapters/kube/config.ts";
import { KubeError } from "../../src/model/errors.ts";
import { parseLabelSelector, podSelectorProblem, selects } from "../../src/model/label-selector.ts";
import type { ClusterReader } from "../../src/ports/cluster.ts";
import { REAL_CLOCK } from "../adapters/kube/real-clock.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { Random } from "../simulation/random.ts";

/** `SEED=2 SELECTORS=100000` plays other selectors, and more of them. */
const SEED = Number(process.env["SEED"] ?? 1);
const SELECTORS = Number(process.env["SELECTORS"] ?? 6000);
/** Requests under way at a time. */
const AT_A_TIME = 8;

/** Labels as hostile as the API server lets them be. */
const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bare: {},
  empty: { a: "", in: "", notin: "", "example.com/app": "" },
  words: { a: "in", in: "notin", notin: "in", app: "a" },
  plain: { a: "a", b: "b", app: "web", "example.com/app": "web" },
  one: { a: "1", b: "01", app: "0" },
  many: { a: "9223372036854775807", b: "9223372036854775806", app: "9223372036854775808" },
  long: { a: "9".repeat(63), b: `${"0".repeat(62)}7`, ["k".repeat(63)]: "v".repeat(63) },
  odd: { a: "1_000", b: "1.5", app: "1e3", "0": "0x10", "A.b_c-D": "A.b_c-D" },
};

describeCluster("label selectors", (facts) => {
  let cluster: ClusterReader;
  let namespace: string;

  beforeAll(async () => {
    const api = new API({ ...facts, token: facts.adminToken });
    namespace = await api.createNamespace("selectors");
    for (const [name, labels] of Object.entries(LABELS))
      await api.createPod({ namespace, name, nodeName: "n1", labels });
    api.close();
    const connection = await loadConfig({ kubeconfig: facts.kubeconfig, home: "", inCluster: {}, environment: {} });
    cluster = createClusterReader(connection, { version: "0.0.0", clock: REAL_CLOCK });
  });

  test(`mean the same here and on the API server, and both refuse the same: ${SELECTORS} of them, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const texts = Array.from({ length: SELECTORS }, () => anySelector(random)).values();
    const differences: string[] = [];
    const counts = { read: 0, refused: 0 };
    const ask = async (): Promise<void> => {
      for (const text of texts) {
        const [here, there] = [ours(text), await theirs(text)];
        counts[there.startsWith("selects") ? "read" : "refused"] += 1;
        if (here !== there) differences.push(`SEED=${SEED} ${JSON.stringify(text)}: here ${here}, there ${there}`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, ask));
    expect(differences).toEqual([]);
    // A generator that only made nonsense, or none, would prove little.
    expect(counts.read).toBeGreaterThan(SELECTORS / 4);
    expect(counts.refused).toBeGreaterThan(SELECTORS / 4);
  });

  test("of the greatest length that is sent are read by the API server", async () => {
    const label = `a notin (${"b,".repeat(249_996)}b)`;
    expect(podSelectorProblem({ namespace, label })).toBeUndefined();
    expect(podSelectorProblem({ namespace, label: `${label},cc` })?.error).toContain("in a URL");
    expect(await theirs(label)).toBe(ours(label));
  });

  test.for(["shop", "a".repeat(63), "0-9"])("of the namespace %s, which is not there, find nothing", async (name) => {
    expect(podSelectorProblem({ namespace: name, label: "" })).toBeUndefined();
    expect(await cluster.listPods({ namespace: name, label: "" })).toEqual([]);
  });

  async function theirs(label: string): Promise<string> {
    try {
      return told((await cluster.listPods({ namespace, label })).map(({ name }) => name));
    } catch (error) {
      if (error instanceof KubeError && error.status === 400) return "refused";
      throw error;
    }
  }
});

function ours(label: string): string {
  const parsed = parseLabelSelector(label);
  if ("error" in parsed) return "refused";
  return told(Object.keys(LABELS).filter((name) => selects(parsed.selector, LABELS[name] ?? {})));
}

function told(names: readonly string[]): string {
  return `selects ${names.toSorted().join(" ")}`;
}

const KEYS: readonly string[] = [
  ...["a", "a", "b", "app", "in", "notin", "example.com/app", "0", "A.b_c-D"],
  ...["k".repeat(63), `${"p.".repeat(126)}p/a`, "absent"],
];
const ODD_KEYS: readonly string[] = [
  ...["", "/a", "a/", "a/b/c", "-a", "a-", "A/b", "a_b/c", "é", "k".repeat(64), `${"p.".repeat(127)}/a`, "."],
];
const VALUES: readonly string[] = [
  ...["a", "b", "web", "in", "notin", "", "0", "1", "01", "1_000", "A.b_c-D", "0x10"],
  ...["9223372036854775807", "9223372036854775806", "9223372036854775808", "9".repeat(63), `${"0".repeat(62)}7`],
];
const ODD_VALUES: readonly string[] = [
  ...[
    "-1",
    "+1",
    "-",
    "_a",
    "a_",
    ".",
    "..",
    "a/b",
    "'a'",
    '"a"',
    "a b",
    "1".repeat(64),
    "é",
    "*",
    "%41",
    "a+b",
    "a&b",
  ],
];
const OPERATORS: readonly string[] = ["=", "==", "!=", ">", "<", "in", "notin"];
const ODD_OPERATORS: readonly string[] = ["===", "=!", "<=", ">=", "<>", "!", "in in", "IN", "gt", "!in", "~", "=in"];
const BLANKS: readonly string[] = ["", "", "", " ", "  ", "\t", "\n", "\r", " \t\r\n"];
/** Characters that a lexer may take for white space, the end, or a part of a word. */
const HOSTILE: readonly string[] = [
  ..."()=!<>,,  \t\n\r/.-_+%&#;?'\"`\\|*~^$@:[]{}",
  ...[
    "\0",
    "\0",
    "\0",
    "\u0001",
    "\b",
    "\v",
    "\f",
    "\u001b",
    "\u007f",
    "\u0085",
    "\u00a0",
    "\u00ad",
    "\u1680",
    "\u200b",
  ],
  ...["\u2003", "\u2028", "\u2029", "\u202e", "\u3000", "\ufeff", "é", "\u0430", "\u0665", "😀", "\ud800", "\udc00"],
  ...["in", "notin", "in(", ",,", "!!", "==", "()", "(,)", "a", "0", "1", "9223372036854775808", "x".repeat(64)],
];

/** A selector of the grammar, or nearly one: half of them are damaged in one to four places. */
function anySelector(random: Random): string {
  const blank = (): string => random.pick(BLANKS);
  const requirements = Array.from({ length: random.between(random.chance(0.03) ? 0 : 1, 3) }, () =>
    requirement(random, blank),
  );
  const text = `${blank()}${requirements.join(`${blank()},${blank()}`)}${blank()}`;
  return random.chance(0.5) ? text : damaged(text, random);
}

function requirement(random: Random, blank: () => string): string {
  const key = word(random, KEYS, ODD_KEYS);
  if (random.chance(0.15)) return key;
  if (random.chance(0.15)) return `!${blank()}${key}`;
  const operator = word(random, OPERATORS, ODD_OPERATORS);
  const isSet = operator === "in" || operator === "notin";
  if (!isSet) return `${key}${blank()}${operator}${blank()}${word(random, VALUES, ODD_VALUES)}`;
  const values = Array.from(
    { length: random.between(0, 3) },
    () => `${blank()}${word(random, VALUES, ODD_VALUES)}${blank()}`,
  );
  return `${key} ${blank()}${operator}${blank()}(${values.join(",")})`;
}

function word(random: Random, good: readonly string[], odd: readonly string[]): string {
  return random.pick(random.chance(0.03) ? odd : good);
}

function damaged(text: string, random: Random): string {
  let chars = [...text];
  for (let times = random.between(1, 4); times > 0; times -= 1) {
    const at = random.between(0, chars.length);
    const length = random.between(0, 3);
    const part = chars.slice(random.between(0, chars.length), random.between(0, chars.length));
    const change = random.between(0, 3);
    if (change === 0) chars = chars.toSpliced(at, 0, random.pick(HOSTILE));
    else if (change === 1) chars = chars.toSpliced(at, length);
    else if (change === 2) chars = chars.toSpliced(at, length, random.pick(HOSTILE));
    else chars = chars.toSpliced(at, 0, ...part);
  }
  return chars.join("");
}
