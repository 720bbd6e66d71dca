import { describe, expect, test } from "vitest";
import { joinedSubjects, wrongDirections } from "./direction.ts";
import { longFiles, strayGuards, textKeyedObjects, throwingTimes, undocumentedExports } from "./form.ts";
import { heavyStarts, strangePackages } from "./packages.ts";
import { providerNames } from "./provider-names.ts";
import { impurities, moduleState } from "./purity.ts";
import { importsOf, readSources, type Source } from "./sources.ts";
import { comparedReasons, secondTables } from "./tables.ts";

type Rule = (sources: readonly Source[]) => readonly string[];
const startsLight: Rule = (sources) => heavyStarts(sources, "src/cli/main.ts");
const isShort: Rule = (sources) => longFiles(sources, 500);

const file = (path: string, ...lines: readonly string[]): Source => ({ path, text: lines.join("\n") });
const importing = (path: string, target: string): Source => file(path, `import { x } from "${target}";`);

const src = readSources("src");

/** This list can only get shorter: reasons and their texts are part of what flipop prints, and reports of objects know no registry yet. */
const PROVIDER_NAMES_LEFT: readonly string[] = [
  "src/model/hold.ts: digitalocean",
  "src/model/reason.ts: digitalocean",
  "src/model/reason.ts: droplet",
  "src/model/reason.ts: k8s-",
  "src/plan/addresses/assign.ts: droplet",
  "src/report/text/written-name.ts: [0-9a-f]{32}",
  "src/report/text/written-name.ts: digitalocean",
];

describe("the sources", () => {
  test.for([
    ["import in the right direction", wrongDirections],
    ["keep the subjects of the planner apart", joinedSubjects],
    ["drop and delay actions only by guards", strayGuards],
    ["import packages only where they belong", strangePackages],
    ["load no heavy package at the start of the program", startsLight],
    ["are pure where they have to be", impurities],
    ["keep no state at module level", moduleState],
    ["are at most 500 lines long", isShort],
    ["explain every export", undocumentedExports],
    ["write no time in a way that throws", throwingTimes],
    ["look texts up in maps", textKeyedObjects],
    ["compare reasons only where they are told", comparedReasons],
    ["know reasons and kinds of actions by one table each", secondTables],
  ] as const)("%s", ([, rule]) => {
    expect(rule(src)).toEqual([]);
  });

  test("know providers by name only in adapters and their registry, but for these", () => {
    expect(providerNames(src)).toEqual(PROVIDER_NAMES_LEFT);
  });

  test("are really looked at", () => {
    expect(src.length).toBeGreaterThan(50);
    expect(src.flatMap(importsOf).length).toBeGreaterThan(100);
  });
});

const joined: Rule = (sources) => joinedSubjects(sources, []);

describe("a planted violation is found", () => {
  test.for([
    ["names import firewalls", joined, importing("src/plan/names/a.ts", "../firewalls/b.ts")],
    [
      "firewalls import a type of addresses",
      joined,
      file("src/plan/firewalls/a.ts", 'import type { A } from "../addresses/b.ts";'),
    ],
    ["an exception that nobody needs", joinedSubjects, importing("src/plan/names/a.ts", "../holds.ts")],
    [
      "a subject drops actions",
      strayGuards,
      file("src/plan/names/a.ts", "actions.filter(({ id }) => !dropped.has(id));"),
    ],
    [
      "a subject delays an action",
      strayGuards,
      file("src/plan/addresses/a.ts", "({ ...action, requires: [...action.requires, id] })"),
    ],
    ["model imports a port", wrongDirections, importing("src/model/a.ts", "../ports/clock.ts")],
    ["model imports the pass", wrongDirections, importing("src/model/a.ts", "../reconcile.ts")],
    ["plan imports report", wrongDirections, importing("src/plan/a.ts", "../report/b.ts")],
    ["plan imports observe", wrongDirections, importing("src/plan/a.ts", "../observe/b.ts")],
    ["apply imports watch", wrongDirections, importing("src/apply/a.ts", "../watch/lease.ts")],
    ["apply imports observe, of the same rank", wrongDirections, importing("src/apply/a.ts", "../observe/b.ts")],
    ["reconcile imports an adapter", wrongDirections, importing("src/reconcile.ts", "./adapters/kube/a.ts")],
    ["reconcile imports watch, of the same rank", wrongDirections, importing("src/reconcile.ts", "./watch/lease.ts")],
    ["watch imports the sandbox", wrongDirections, importing("src/watch/a.ts", "../sandbox/b.ts")],
    ["watch imports the command line", wrongDirections, importing("src/watch/a.ts", "../cli/b.ts")],
    ["the sandbox imports an adapter", wrongDirections, importing("src/sandbox/x/a.ts", "../../adapters/kube/b.ts")],
    ["the sandbox imports a port", wrongDirections, importing("src/sandbox/a.ts", "../ports/clock.ts")],
    ["an adapter imports another", wrongDirections, importing("src/adapters/kube/a.ts", "../digitalocean/b.ts")],
    [
      "Cloudflare's adapter imports DigitalOcean's",
      wrongDirections,
      importing("src/adapters/cloudflare/a.ts", "../digitalocean/b.ts"),
    ],
    [
      "DigitalOcean's adapter imports Cloudflare's",
      wrongDirections,
      importing("src/adapters/digitalocean/a.ts", "../cloudflare/b.ts"),
    ],
    ["the adapter of Kubernetes imports dns", wrongDirections, importing("src/adapters/kube/a.ts", "../dns/b.ts")],
    ["http imports Cloudflare's adapter", wrongDirections, importing("src/adapters/http/a.ts", "../cloudflare/b.ts")],
    [
      "http imports DigitalOcean's adapter",
      wrongDirections,
      importing("src/adapters/http/a.ts", "../digitalocean/b.ts"),
    ],
    ["http imports the adapter of Kubernetes", wrongDirections, importing("src/adapters/http/a.ts", "../kube/b.ts")],
    ["http imports dns", wrongDirections, importing("src/adapters/http/a.ts", "../dns/b.ts")],
    [
      "http imports plan, which other adapters may",
      wrongDirections,
      importing("src/adapters/http/a.ts", "../../plan/b.ts"),
    ],
    ["a type is imported upwards", wrongDirections, file("src/plan/a.ts", 'import type { A } from "../apply/a.ts";')],
    [
      "an import over several lines",
      wrongDirections,
      file("src/plan/a.ts", "import {", "  a,", "  b,", '} from "../apply/a.ts";'),
    ],
    ["a re-export upwards", wrongDirections, file("src/plan/a.ts", 'export { a } from "../apply/a.ts";')],
    ["a dynamic import upwards", wrongDirections, file("src/plan/a.ts", 'const a = await import("../apply/a.ts");')],
    [
      "a file imports itself when it gets there",
      wrongDirections,
      file("src/cli/a.ts", 'const a = await import("./a.ts");'),
    ],
    ["an import of a folder nobody ranked", wrongDirections, importing("src/plan/a.ts", "../utils/b.ts")],
    ["a file in a folder nobody ranked", wrongDirections, importing("src/utils/a.ts", "../model/b.ts")],
    ["apply imports the Kubernetes client", strangePackages, importing("src/apply/a.ts", "@kubernetes/client-node")],
    ["a deep import of the SDK", strangePackages, importing("src/adapters/kube/a.ts", "@digitalocean/dots/src/x.js")],
    ["http imports an SDK", strangePackages, importing("src/adapters/http/a.ts", "cloudflare")],
    ["report imports chalk", strangePackages, importing("src/report/a.ts", "chalk")],
    ["the command line imports ajv", strangePackages, importing("src/cli/a.ts", "ajv")],
    ["a package nobody owns", strangePackages, importing("src/cli/a.ts", "left-pad")],
    ["the start loads the SDK", startsLight, importing("src/cli/main.ts", "@digitalocean/dots")],
    ["a provider's name in plan", providerNames, file("src/plan/a.ts", 'const a = "digitalocean";')],
    ["an id of a provider in model", providerNames, file("src/model/a.ts", "const a = /^[0-9a-f]{32}$/;")],
    ["a machine's scheme in report", providerNames, file("src/report/a.ts", 'const a = "digitalocean://1";')],
    ["a provider's word in apply", providerNames, file("src/apply/a.ts", "const dropletID = 1;")],
    [
      "a provider's label in observe",
      providerNames,
      file("src/observe/a.ts", 'const a = "topology.kubernetes.io/zone";'),
    ],
    ["node: in model", impurities, importing("src/model/a.ts", "node:crypto")],
    ["Date.now in plan", impurities, file("src/plan/a.ts", "const a = Date.now();")],
    ["new Date() in report", impurities, file("src/report/a.ts", "const a = new Date();")],
    ["Date() in report", impurities, file("src/report/a.ts", "const a = Date();")],
    ["a timer in plan", impurities, file("src/plan/a.ts", "setTimeout(f, 1);")],
    ["randomness in plan", impurities, file("src/plan/a.ts", "const a = Math.random();")],
    ["the environment in model", impurities, file("src/model/a.ts", "const a = process.env;")],
    ["the network in plan", impurities, file("src/plan/a.ts", 'const a = fetch("x");')],
    ["an order by locale in plan", impurities, file("src/plan/a.ts", "a.localeCompare(b);")],
    ["a module's variable", moduleState, file("src/cli/a.ts", "let count = 0;")],
    ["a time that throws", throwingTimes, file("src/plan/a.ts", "const a = new Date(ms).toISOString();")],
    ["501 lines", isShort, file("src/cli/a.ts", ...Array.from({ length: 501 }, () => "x"))],
    [
      "a function without a docstring",
      undocumentedExports,
      file("src/cli/a.ts", "", "export async function a(): void {}"),
    ],
    [
      "a type without a docstring",
      undocumentedExports,
      file("src/cli/a.ts", "/** B. */", "const b = 1;", "export type A = 1;"),
    ],
    [
      "a table by texts",
      textKeyedObjects,
      file("src/cli/a.ts", "const A: Readonly<Record<string, number>> = { b: 1 };"),
    ],
    [
      "an object that is filled by texts",
      textKeyedObjects,
      file("src/cli/a.ts", "const a: Record<string, string> = {};"),
    ],
    ["an address that is looked up by hand", textKeyedObjects, file("src/plan/a.ts", "pool.status.ips[ip]")],
    ["plan compares a reason", comparedReasons, file("src/plan/a.ts", 'hold.reason === "Conflict"')],
    ["plan compares a reason to a variable", comparedReasons, file("src/plan/a.ts", "reason !== WAITING")],
    ["apply switches on a reason", comparedReasons, file("src/apply/a.ts", "switch (outcome.reason) {")],
    ["observe looks a reason up in a set", comparedReasons, file("src/observe/a.ts", "PASSING.has(target.reason)")],
    ["a set of reasons", secondTables, file("src/report/a.ts", "const A = new Set<Reason>();")],
    [
      "a table of some reasons",
      secondTables,
      file("src/report/a.ts", "const A: Partial<Record<Reason, string>> = {};"),
    ],
    ["a set of kinds", secondTables, file("src/plan/a.ts", 'const A: ReadonlySet<Action["kind"]> = new Set();')],
    ["a table of some kinds", secondTables, file("src/plan/a.ts", "type A = Partial<Record<ActionKind, number>>;")],
    ["a test of a name's end", secondTables, file("src/report/a.ts", 'kind.endsWith("-dns")')],
    ["a test of a field", secondTables, file("src/report/a.ts", 'if ("fqdn" in action) return;')],
    ["a cast of an action", secondTables, file("src/apply/a.ts", "A[action.kind](action as never, context);")],
    ["a cast to a reason", secondTables, file("src/plan/a.ts", "const a = text as Reason;")],
  ] as const)("%s", ([, rule, planted]) => {
    expect(rule([planted])).not.toEqual([]);
  });

  test("over several files: the start loads the Kubernetes client by way of two others", () => {
    const sources = [
      importing("src/cli/main.ts", "./a.ts"),
      importing("src/cli/a.ts", "../adapters/kube/b.ts"),
      importing("src/adapters/kube/b.ts", "@kubernetes/client-node"),
    ];
    expect(startsLight(sources)).toEqual([
      "src/cli/main.ts -> src/cli/a.ts -> src/adapters/kube/b.ts -> @kubernetes/client-node",
    ]);
  });
});

describe("what is allowed is let through", () => {
  test.for([
    ["plan.ts joins subjects", joined, importing("src/plan/plan.ts", "./names/b.ts")],
    ["a subject imports what stands beside plan.ts", joined, importing("src/plan/names/a.ts", "../retries.ts")],
    ["a guard drops actions", strayGuards, file("src/plan/guards.ts", "actions.filter(({ id }) => !dropped.has(id));")],
    ["an import of the own folder", wrongDirections, importing("src/plan/a.ts", "./b.ts")],
    [
      "cli imports adapters and sandbox",
      wrongDirections,
      file("src/cli/a.ts", 'import "../adapters/kube/b.ts";', 'import "../sandbox/c.ts";'),
    ],
    ["watch imports ports", wrongDirections, importing("src/watch/a.ts", "../ports/clock.ts")],
    ["an adapter imports http", wrongDirections, importing("src/adapters/cloudflare/a.ts", "../http/b.ts")],
    ["the adapter of Kubernetes imports http", wrongDirections, importing("src/adapters/kube/a.ts", "../http/b.ts")],
    ["dns imports http", wrongDirections, importing("src/adapters/dns/a.ts", "../http/b.ts")],
    [
      "http imports model and ports",
      wrongDirections,
      file("src/adapters/http/a.ts", 'import "../../model/b.ts";', 'import "../../ports/c.ts";'),
    ],
    ["an adapter imports plan", wrongDirections, importing("src/adapters/kube/a.ts", "../../plan/b.ts")],
    ["an import in a comment", wrongDirections, file("src/plan/a.ts", '// import { a } from "../apply/a.ts";')],
    ["node: outside pure code", strangePackages, importing("src/cli/a.ts", "node:fs")],
    [
      "a heavy package behind a dynamic import",
      startsLight,
      file("src/cli/main.ts", 'await import("@digitalocean/dots");'),
    ],
    [
      "a heavy package's types",
      startsLight,
      file("src/cli/main.ts", 'import type { A } from "@kubernetes/client-node";'),
    ],
    ["a date from a number in plan", impurities, file("src/plan/a.ts", "const a = new Date(nowMs);")],
    ["the clock in a comment", impurities, file("src/plan/a.ts", "/** Never Date.now(). */")],
    ["a function's variable", moduleState, file("src/cli/a.ts", "function a() {", "  let b = 0;", "}")],
    ["a table by names of our own", textKeyedObjects, file("src/cli/a.ts", "const A: Record<Kind, string> = {};")],
    ["a table that is a Map", textKeyedObjects, file("src/cli/a.ts", "const A = new Map(Object.entries({}));")],
    ["500 lines and a final line end", isShort, file("src/cli/a.ts", ...Array.from({ length: 500 }, () => "x"), "")],
    ["report compares a reason", comparedReasons, file("src/report/a.ts", 'hold.reason === "Conflict"')],
    ["a reason that is not there", comparedReasons, file("src/plan/a.ts", "if (reason !== undefined) return;")],
    [
      "an adapter compares a reason of Kubernetes",
      comparedReasons,
      file("src/adapters/a.ts", 'a.reason === "Expired"'),
    ],
    ["a complete table of kinds", secondTables, file("src/plan/a.ts", "const A: Record<ActionKind, string> = {};")],
    ["a field of a part", secondTables, file("src/plan/a.ts", '"node" in action.after')],
    ["a docstring", undocumentedExports, file("src/cli/a.ts", "/** A. */", "export const a = 1;")],
  ] as const)("%s", ([, rule, planted]) => {
    expect(rule([planted])).toEqual([]);
  });
});
