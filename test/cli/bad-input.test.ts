import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { aRoutedIP } from "../report/routed-world.ts";
import { steady } from "../report/runs.ts";
import { afterFailure, aNode, anObservation, aPool, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const scene: Scene = { observation: afterFailure() };
const twins: Scene = {
  observation: anObservation(
    [aPool("web", ["203.0.113.1"]), aPool("web", ["203.0.113.2"], { namespace: "shop" })],
    [aNode(1)],
    {},
  ),
};
const namesakes: Scene = {
  observation: { ...anObservation([aPool("web", ["203.0.113.1"])], [], {}), recordSets: [aRecordSet("web")] },
};

const routed: Scene = {
  observation: anObservation([aPool("vip", ["203.0.113.1"])], [], {}),
  routedIPs: [aRoutedIP("vip"), aRoutedIP("vip", { namespace: "shop" })],
};

const NO_KIND = new KubeError({
  failure: "missing-resource",
  operation: "list routedips.flipop.digitalocean.com",
  subject: "",
  status: 404,
  message: "The cluster knows no routedips.flipop.digitalocean.com. Apply the CRDs.",
});

/** Command line, exact line on stderr, exit code, scene. */
const ROWS: readonly (readonly [string, string, number, Scene])[] = [
  ["plann", "Unknown command 'plann'. Did you mean plan? See flipop --help.", 64, scene],
  [
    "plan --detailed-exitcod",
    "Unknown option '--detailed-exitcod'. Did you mean --detailed-exitcode? See flipop plan --help.",
    64,
    scene,
  ],
  [
    "--detailed-exitcod plan",
    "Unknown option '--detailed-exitcod'. Did you mean --detailed-exitcode? See flipop plan --help.",
    64,
    scene,
  ],
  ["-n web", "The command is missing: flipop plan -n web, for one. See flipop --help.", 64, scene],
  ["-n plan", "The command is missing: flipop plan -n plan, for one. See flipop --help.", 64, scene],
  [
    "--watch --interval=5m",
    "The command is missing: flipop reconcile --watch --interval=5m, for one. See flipop --help.",
    64,
    scene,
  ],
  ["--sandbox -n web", "The command is missing: flipop plan --sandbox -n web, for one. See flipop --help.", 64, scene],
  ["-n web apply", "Unknown command 'apply'. Did you mean reconcile? See flipop --help.", 64, scene],
  ["-q frobnicate -n web", "Unknown command 'frobnicate'. See flipop --help.", 64, scene],
  ["--frobnicate", "Unknown option '--frobnicate'. See flipop --help.", 64, scene],
  ["apply", "Unknown command 'apply'. Did you mean reconcile? See flipop --help.", 64, scene],
  ["check", "Unknown command 'check'. Did you mean status --check? See flipop --help.", 64, scene],
  ["frobnicate", "Unknown command 'frobnicate'. See flipop --help.", 64, scene],
  [
    "plan --watch",
    "Unknown option '--watch'. flipop status --watch shows what changes. See flipop plan --help.",
    64,
    scene,
  ],
  ["reconcile --watch=maybe", "--watch takes no value. See flipop reconcile --help.", 64, scene],
  ["--all=true plan", "--all takes no value. See flipop plan --help.", 64, scene],
  ["plan --help=all", "--help takes no value. See flipop plan --help.", 64, scene],
  ["reconcile -n web -qA=true", "-A takes no value. See flipop reconcile --help.", 64, scene],
  ["explain --no-history=1 web", "--no-history takes no value. See flipop explain --help.", 64, scene],
  [
    "plan --watch=1 --all=1",
    "Unknown option '--watch'. flipop status --watch shows what changes. See flipop plan --help.",
    64,
    scene,
  ],
  [
    "reconcile --dry-run",
    "Unknown option '--dry-run'. flipop plan is the dry run. See flipop reconcile --help.",
    64,
    scene,
  ],
  [
    "reconcile --max-moves",
    "Unknown option '--max-moves'. Did you mean --max-voluntary-moves? See flipop reconcile --help.",
    64,
    scene,
  ],
  [
    "simulate foo",
    "Too many arguments for 'simulate'. Expected 0 arguments but got 1: foo. See flipop simulate --help.",
    64,
    scene,
  ],
  [
    "simulate -o name",
    "Option '-o, --output <FORMAT>' argument 'name' is invalid. Allowed choices are table, wide, json, yaml. See flipop simulate --help.",
    64,
    scene,
  ],
  ...["", "assign", "assign=", "assign=x", "dns=1s,", "node=4s", "assign=25h"].map((text): (typeof ROWS)[number] => [
    `simulate --assume=${text}`,
    `Option '--assume <TIMES>' argument '${text}' is invalid. Write it like assign=4s, dns=500ms or assign=4s,dns=1s. See flipop simulate --help.`,
    64,
    scene,
  ]),
  ...["", "outage", "no-outage=", "no-outage=soon", "no-outage=-1s"].map((text): (typeof ROWS)[number] => [
    `simulate --expect=${text}`,
    `Option '--expect <WHAT>' argument '${text}' is invalid. Write it like no-outage or no-outage=30s. See flipop simulate --help.`,
    64,
    scene,
  ]),
  [
    "simulate --horizon 0s",
    "Option '--horizon <DURATION>' argument '0s' is invalid. Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h. See flipop simulate --help.",
    64,
    scene,
  ],
  [
    "simulate --if node/worker-1=Sleepy",
    "Unknown edit 'node/worker-1=Sleepy': character 15 should begin NotReady, Ready, Gone, Cordoned or Uncordoned.",
    64,
    scene,
  ],
  [
    "simulate --if node/worker-9=NotReady",
    "There is no node named worker-9. Did you mean worker-1? ('node/worker-9=NotReady')",
    78,
    scene,
  ],
  ["simulate --n-1 --drain worker-1", "--n-1 and --drain are two scenarios. Take one of them.", 64, scene],
  [
    "simulate --rolling-upgrade a=b --drain worker-1",
    "--drain and --rolling-upgrade are two scenarios. Take one of them.",
    64,
    scene,
  ],
  ["simulate --surge 1", "--surge is for --rolling-upgrade.", 64, scene],
  [
    "reconcile --max-age 1h",
    "--max-age needs --plan: nothing but a saved plan has an age. Add --plan FILE, or leave it out.",
    64,
    scene,
  ],
  ...["fail", "skip", "wait"].map((mode): (typeof ROWS)[number] => [
    `reconcile --no-lock --on-locked ${mode}`,
    `--no-lock takes no lock and waits for nobody, so --on-locked ${mode} means nothing. Leave one of them out.`,
    64,
    scene,
  ]),
  [
    "reconcile --watch --no-lock --on-locked wait",
    "--no-lock takes no lock and waits for nobody, so --on-locked wait means nothing. Leave one of them out.",
    64,
    scene,
  ],
  ["simulate --drain worker-1 --unavailable 1", "--unavailable is for --rolling-upgrade.", 64, scene],
  ["simulate --drain worker-1 --node-ready 5m", "--node-ready is for --rolling-upgrade.", 64, scene],
  ["simulate --n-1 --drain-time 5m", "--drain-time is for --drain and --rolling-upgrade.", 64, scene],
  [
    "simulate --n-1=rack",
    "Option '--n-1 [WHAT]' argument 'rack' is invalid. Allowed choices are node, zone, region. See flipop simulate --help.",
    64,
    scene,
  ],
  ["simulate --drain worker-9", "There is no node named worker-9 to drain. Did you mean worker-1?", 78, scene],
  ["simulate --drain=", "--drain needs the name of a node.", 64, scene],
  ["simulate --rolling-upgrade=", "--rolling-upgrade needs labels that select nodes.", 64, scene],
  ["simulate --rolling-upgrade role=core", "--rolling-upgrade role=core selects no node.", 78, scene],
  [
    "simulate --rolling-upgrade rol=edge",
    "--rolling-upgrade rol=edge selects no node. Did you mean the label role?",
    78,
    scene,
  ],
  [
    "simulate --rolling-upgrade role=edge --surge 0 --unavailable 0",
    "With --surge 0 and --unavailable 0 no node can be replaced. Give one of them at least 1.",
    64,
    scene,
  ],
  [
    "simulate --rolling-upgrade a=b=c",
    "Cannot read the label selector 'a=b=c' of --rolling-upgrade: unable to parse requirement: found '=', expected: ',' or the end.",
    64,
    scene,
  ],
  ["simulate --from nowhere.yaml --sandbox", "--from needs no cluster: leave out --sandbox.", 64, scene],
  [
    "help explai",
    "There is no command, topic or reason 'explai'. Did you mean explain? Topics are exit-codes, reasons, checks, findings, targets, edits, shards.",
    64,
    scene,
  ],
  [
    "help diff",
    "There is no command, topic or reason 'diff'. Did you mean plan? Topics are exit-codes, reasons, checks, findings, targets, edits, shards.",
    64,
    scene,
  ],
  [
    "version -o name",
    "Option '-o, --output <FORMAT>' argument 'name' is invalid. Allowed choices are table, json, yaml. See flipop version --help.",
    64,
    scene,
  ],
  ["reconcile --wach", "Unknown option '--wach'. Did you mean --watch? See flipop reconcile --help.", 64, scene],
  ["plan --color", "Option '--color <WHEN>' argument missing. See flipop plan --help.", 64, scene],
  [
    "reconcile --watch --interval 1ms",
    "Option '--interval <DURATION>' argument '1ms' is invalid. Write it like 30s, 5m or 1h; at least 1s, at most 24h. See flipop reconcile --help.",
    64,
    scene,
  ],
  [
    "reconcile --timeout soon",
    "Option '--timeout <DURATION>' argument 'soon' is invalid. Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h. See flipop reconcile --help.",
    64,
    scene,
  ],
  [
    "plan -o xml",
    "Option '-o, --output <FORMAT>' argument 'xml' is invalid. Allowed choices are table, wide, json, yaml, name, markdown. See flipop plan --help.",
    64,
    scene,
  ],
  [
    "plan issuer/ingress/public",
    "Unknown target 'issuer/ingress/public': this version knows no issuer. Write pool/[NAMESPACE/]NAME, routedip/[NAMESPACE/]NAME, dns/[NAMESPACE/]NAME, [NAMESPACE/]NAME, DNS-NAME, node/NAME or ip/ADDRESS.",
    64,
    scene,
  ],
  [
    "plan ip/203.0.113.999",
    "Unknown target 'ip/203.0.113.999': 203.0.113.999 is no IP address. Write pool/[NAMESPACE/]NAME, routedip/[NAMESPACE/]NAME, dns/[NAMESPACE/]NAME, [NAMESPACE/]NAME, DNS-NAME, node/NAME or ip/ADDRESS.",
    64,
    scene,
  ],
  [
    "plan a//b",
    "Unknown target 'a//b': it is not of that form. Write pool/[NAMESPACE/]NAME, routedip/[NAMESPACE/]NAME, dns/[NAMESPACE/]NAME, [NAMESPACE/]NAME, DNS-NAME, node/NAME or ip/ADDRESS.",
    64,
    scene,
  ],
  [
    "reconcile node/worker-1",
    "The target 'node/worker-1' is no pool, routed IP or record set: reconcile takes nothing else. flipop plan node/worker-1 shows what concerns it.",
    64,
    scene,
  ],
  [
    "plan -l a=(",
    "Cannot read the label selector 'a=(' of -l: unable to parse requirement: value '(' is not a valid label value.",
    64,
    scene,
  ],
  ["plan web", "The target 'web' is ambiguous: pool/ingress/web and pool/shop/web have that name.", 64, twins],
  [
    "plan ingress/web",
    "The target 'ingress/web' is ambiguous: pool/ingress/web and dns/ingress/web have that name.",
    64,
    namesakes,
  ],
  [
    "plan dns/ingress/nods",
    "There is no NodeDNSRecordSet named nods in the namespace ingress ('dns/ingress/nods'). There is dns/ingress/web.",
    78,
    namesakes,
  ],
  [
    "status dns/nodes",
    "There is no NodeDNSRecordSet named nodes in any namespace ('dns/nodes'). There is none at all.",
    78,
    scene,
  ],
  [
    "status vip",
    "The target 'vip' is ambiguous: pool/ingress/vip, routedip/ingress/vip and routedip/shop/vip have that name.",
    64,
    routed,
  ],
  [
    "plan routedip/vip",
    "The target 'routedip/vip' is ambiguous: routedip/ingress/vip and routedip/shop/vip have that name.",
    64,
    routed,
  ],
  [
    "reconcile routedip/shop/mail",
    "There is no RoutedIP named mail in the namespace shop ('routedip/shop/mail'). There is routedip/ingress/vip and routedip/shop/vip. Nothing was changed.",
    78,
    routed,
  ],
  [
    "plan routedip/vip -n infra",
    "There is no RoutedIP named vip in the namespace infra ('routedip/vip'). There is routedip/ingress/vip and routedip/shop/vip.",
    78,
    routed,
  ],
  ["plan routedip/ingress/vip", NO_KIND.message, 78, { ...scene, routedIPsError: NO_KIND }],
  ["plan shop/web -n ingress", "The target 'shop/web' is not in the namespace ingress of -n.", 64, twins],
  [
    "plan pool/ingress/wep",
    "There is no FloatingIPPool named wep in the namespace ingress ('pool/ingress/wep'). There is pool/ingress/broken, pool/ingress/mail and pool/ingress/web. Did you mean pool/ingress/web?",
    78,
    scene,
  ],
  [
    "status nothing",
    "There is no FloatingIPPool, RoutedIP or NodeDNSRecordSet named nothing in any namespace ('nothing'). There is pool/ingress/web. A node is written node/nothing.",
    78,
    { observation: steady() },
  ],
  [
    "plan node/worker-9",
    "There is no node named worker-9 ('node/worker-9'). Did you mean worker-1? kubectl get nodes lists them.",
    78,
    scene,
  ],
  [
    "explain ip/203.0.113.10 node/worker-9",
    "There is no node named worker-9 ('node/worker-9'). Did you mean worker-1? kubectl get nodes lists them.",
    78,
    scene,
  ],
  [
    "explain ip/198.51.100.1",
    "No object names the address 198.51.100.1, no node has it, and neither has the account ('ip/198.51.100.1').",
    78,
    scene,
  ],
  [
    "explain node/worker-1 node/worker-2",
    "explain takes one target, or one ip/ and one node/: flipop explain ip/203.0.113.10 node/worker-1. flipop help targets lists the forms.",
    64,
    scene,
  ],
  [
    "explain",
    "explain needs a target: flipop explain ip/203.0.113.10 node/worker-1. flipop help targets lists the forms.",
    64,
    scene,
  ],
  [
    "explain node/worker-1 --in ip/203.0.113.1",
    "The target 'ip/203.0.113.1' of --in is no pool, routed IP or record set.",
    64,
    scene,
  ],
  [
    "explain Quotaexeeded",
    "There is no reason 'Quotaexeeded'. Did you mean QuotaExceeded? flipop help reasons lists them.",
    78,
    scene,
  ],
  [
    "explain FLP9999",
    "There is no code 'FLP9999'. The nearest are FLP228, FLP240 and FLP241. flipop help checks lists those of doctor, flipop help findings those of validate.",
    64,
    scene,
  ],
  [
    "explain www.example.org",
    "There is no FloatingIPPool, RoutedIP or NodeDNSRecordSet named www.example.org in any namespace, and no object publishes that name ('www.example.org'). There is pool/ingress/broken, pool/ingress/mail and pool/ingress/web.",
    78,
    scene,
  ],
  [
    "plan ip/198.51.100.1",
    "No object names the address 198.51.100.1, no node has it, and neither has the account ('ip/198.51.100.1').",
    78,
    scene,
  ],
];

const root = mkdtempSync(join(tmpdir(), "flipop-bad-input-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("bad input", () => {
  test.for(ROWS)("flipop %s is refused with its own text and code", async ([line, text, exitCode, where]) => {
    const { stdout, stderr, exitCode: code, requests } = await invoke(line.split(" "), where);
    expect({ stdout, stderr, code }).toEqual({ stdout: "", stderr: `flipop: ${text}\n`, code: exitCode });
    expect(requests).toEqual([]);
  });

  test.for(
    ["plan", "reconcile", "status"].flatMap((command) =>
      [
        [
          "-l",
          "app=web\u00a0",
          "Cannot read the label selector 'app=web\\u{a0}' of -l: unable to parse requirement: value 'web\\u{a0}' is not a valid label value.",
        ],
        [
          "--selector",
          "size>-5",
          "Cannot read the label selector 'size>-5' of -l: unable to parse requirement: value '-5' is not a valid label value.",
        ],
        [
          "-l",
          "a=b\u001b[31m",
          "Cannot read the label selector 'a=b\\u{1b}[31m' of -l: unable to parse requirement: value 'b\\u{1b}[31m' is not a valid label value.",
        ],
        ["-n", "..", "Option '-n, --namespace <NAMESPACE>' argument '..' is invalid. It is no name of a namespace."],
        ["-n", "a/b", "Option '-n, --namespace <NAMESPACE>' argument 'a/b' is invalid. It is no name of a namespace."],
        ["-n", "", "Option '-n, --namespace <NAMESPACE>' argument '' is invalid. It is no name of a namespace."],
        [
          "--lease-namespace",
          "..",
          "Option '--lease-namespace <NAME>' argument '..' is invalid. It is no name of a namespace.",
        ],
        [
          "--lease-namespace",
          "",
          "Option '--lease-namespace <NAME>' argument '' is invalid. It is no name of a namespace.",
        ],
        [
          "--lease-name",
          "../flipop",
          "Option '--lease-name <NAME>' argument '../flipop' is invalid. It is no name of a Lease.",
        ],
        [
          "--lease-name",
          "Bad_Name",
          "Option '--lease-name <NAME>' argument 'Bad_Name' is invalid. It is no name of a Lease.",
        ],
        ["--lease-name", ".", "Option '--lease-name <NAME>' argument '.' is invalid. It is no name of a Lease."],
      ].map(([flag = "", value = "", text = ""]) => [command, flag, value, text] as const),
    ),
  )("flipop %s %s %o is a usage error before the cluster is opened", async ([command, flag, value, text]) => {
    const { stdout, stderr, exitCode, configs } = await invoke([command, flag, value], scene);
    const see = text.startsWith("Option") ? ` See flipop ${command} --help.` : "";
    expect({ stdout, stderr, exitCode, configs }).toEqual({
      stdout: "",
      stderr: `flipop: ${text}${see}\n`,
      exitCode: 64,
      configs: [],
    });
  });

  test.for([
    ["simulate", "--rolling-upgrade", "role=edge", "--surge", "0", "--unavailable", "0"],
    ["simulate", "--rolling-upgrade", "role=edge", "--unavailable", "0"],
  ])("flipop %s %s %s … is refused before anything is read", async (line) => {
    const { stderr, exitCode, configs } = await invoke(line, scene);
    expect({ exitCode, configs }).toEqual({ exitCode: 64, configs: [] });
    expect(stderr).toBe(
      "flipop: With --surge 0 and --unavailable 0 no node can be replaced. Give one of them at least 1.\n",
    );
  });

  test.for([
    [".", "is a folder: name a file.", 64],
    ["/dev/null", "is a device or a pipe, which is not replaced: name a file.", 64],
    ["there", "exists. --force replaces it.", 64],
    ["none/new", "there is no folder", 78],
    ["there/new", "is no folder", 78],
  ] as const)("the file %s, which cannot be written, is refused before anything is read", async ([name, why, code]) => {
    writeFileSync(join(root, "there"), "mine");
    const path = resolve(root, name);
    for (const line of [
      ["snapshot", path],
      ["plan", "--save", path],
    ]) {
      const { stdout, stderr, exitCode, configs } = await invoke(line, scene);
      expect({ stdout, exitCode, configs }).toEqual({ stdout: "", exitCode: code, configs: [] });
      expect(stderr).toContain(why);
    }
  });

  test.for([
    "plan -o json --al",
    "plan -ojson --al",
    "plan -o=json --al",
    "plan --output json --al",
    "plan --output=json --al",
    "plan -qojson --al",
    "plan -qo json --al",
    "-ojson plan --al",
    "-o=json plan --al",
    "plan -owide --al -ojson",
    "plan -ojson -nfoo --al",
    "-ojson",
    "-o=json frobnicate",
    "frobnicate -ojson",
    "suspend -ojson web",
    "reconcile --output=jsonl --al",
  ])("flipop %s gives an Error document on stdout, too", async (line) => {
    const { stdout, stderr, exitCode } = await invoke(line.split(" "), scene);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "Error", exitCode: 64, category: "usage" });
    expect(stderr).toMatch(/^flipop: /);
    expect(exitCode).toBe(64);
  });

  test.for(["plan -oyaml --al", "plan -o=yaml --al"])("flipop %s gives one in YAML", async (line) => {
    expect((await invoke(line.split(" "), scene)).stdout).toMatch(/^apiVersion: .*\nkind: Error\n/);
  });

  test.for(["plan -owide --al", "plan --al -o", "plan --oops=json", "plan -n -ojson=x --al", "plan --al -- -ojson"])(
    "flipop %s gives none",
    async (line) => {
      expect(await invoke(line.split(" "), scene)).toMatchObject({ stdout: "", exitCode: 64 });
    },
  );

  test("a bad flag beside -o markdown gives a comment that tells it", async () => {
    const { stdout } = await invoke(["plan", "-o", "markdown", "--al"], { ...scene, env: { FLIPOP_OUTPUT: "json" } });
    expect(stdout).toBe(
      "<!-- flipop error -->\n### flipop could not do it\n\nUnknown option '--al'. Did you mean one of --all, --as? See flipop plan --help.\n\nExit code 64 (usage)\n",
    );
  });

  test("no command at all prints help to stderr and is a usage error", async () => {
    const { stdout, stderr, exitCode } = await invoke([], scene);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 64 });
    expect(stderr).toContain("Usage: flipop [options] [command]");
  });

  test("a bug is shown with its stack and exit code 1", async () => {
    const { stderr, exitCode } = await invoke(["plan"], { error: new TypeError("x is not a function") });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^flipop: This is a bug in flipop: x is not a function\n +at /);
  });
});
