import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
// Loaded before any test: a command that loads it itself waits for the disk, which the fake clock knows nothing of.
import { placeholderOf, VALUES } from "../../src/cli/complete.ts";
import { buildProgram, COMMANDS } from "../../src/cli/program.ts";
import { CHECK_CODES } from "../../src/model/check.ts";
import { KubeError } from "../../src/model/errors.ts";
import { FINDING_CODES } from "../../src/model/finding.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { aRoutedIP } from "../report/routed-world.ts";
import { afterFailure, aNode, aPool, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-complete-"));
afterAll(() => rmSync(root, { recursive: true }));

const kubeconfig = join(root, "config");
writeFileSync(
  kubeconfig,
  JSON.stringify({ contexts: ["prod", "arn:aws:eks:eu/test", "odd name"].map((name) => ({ name, context: {} })) }),
);

const name = { provider: "", zone: "example.com", recordName: "www", ttlSeconds: 60 };
const world = (): Scene => ({
  observation: {
    ...afterFailure(),
    pools: [...afterFailure().pools, aPool("shop", [], { namespace: "shop", spec: { dnsRecordSet: name } })],
    recordSets: [aRecordSet("nodes"), aRecordSet("web")],
  },
  routedIPs: [aRoutedIP("vip", { status: { ips: { "203.0.113.50": { state: "active", nodeName: "worker-2" } } } })],
});

/** What is offered for the last of some words, without what is said about it; at the end the directive. */
async function offered(words: readonly string[], scene: Scene = {}): Promise<readonly string[]> {
  const { stdout, stderr, exitCode } = await invoke(["__complete", "--", ...words], scene);
  expect([stderr, exitCode]).toEqual(["", 0]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/\t.*/, ""));
}

describe("without a cluster", () => {
  test.for<[words: readonly string[], candidates: readonly string[]]>([
    [["pl"], ["plan", ":4"]],
    [[""], [...COMMANDS, ":4"]],
    [["--sand"], ["--sandbox", ":4"]],
    [
      ["--sandbox", "pl"],
      ["plan", ":4"],
    ],
    [
      ["-q", "-n", "web", "pl"],
      ["plan", ":4"],
    ],
    [
      ["-qn", "web", "status", "--w"],
      ["--wait", "--watch", ":4"],
    ],
    [
      ["--sandbox", "world", "stat"],
      ["status", ":4"],
    ],
    [
      ["--sandbox=world", "stat"],
      ["status", ":4"],
    ],
    [
      ["--sandbox", "status", "--wat"],
      ["--watch", ":4"],
    ],
    [
      ["status", "--w"],
      ["--wait", "--watch", ":4"],
    ],
    [
      ["status", "--watch", "--w"],
      ["--wait", ":4"],
    ],
    [["-q", "status", "--qu"], [":4"]],
    [
      ["--watch", "status", "--wa"],
      ["--wait", ":4"],
    ],
    [
      ["explain", "--as", "ann", "--as-g"],
      ["--as-group", ":4"],
    ],
    [
      ["explain", "--as-group", "ops", "--as-g"],
      ["--as-group", ":4"],
    ],
    [
      ["status", "-v", "--verb"],
      ["--verbose", ":4"],
    ],
    [["status", "-n", "shop", "--name"], [":4"]],
    [
      ["status", "-o", ""],
      ["table", "wide", "json", "yaml", "name", "jsonl", "markdown", ":4"],
    ],
    [
      ["status", "-o", "j"],
      ["json", "jsonl", ":4"],
    ],
    [
      ["status", "-qo", "j"],
      ["json", "jsonl", ":4"],
    ],
    [
      ["plan", "-o", "m"],
      ["markdown", ":4"],
    ],
    [
      ["reconcile", "--output=j"],
      ["--output=json", "--output=jsonl", ":4"],
    ],
    [
      ["status", "--output=w"],
      ["--output=wide", ":4"],
    ],
    [
      ["status", "-ojson", "--chec"],
      ["--check", ":4"],
    ],
    [["explain", "-o", "n"], [":4"]],
    [
      ["doctor", "--only", "clu"],
      ["cluster", ":4"],
    ],
    [
      ["doctor", "--skip=FLP101,FLP10"],
      CHECK_CODES.filter((code) => code.startsWith("FLP10"))
        .map((code) => `--skip=FLP101,${code}`)
        .concat(":4"),
    ],
    [
      ["manifests", "--only", "crds,rb"],
      ["crds,rbac", ":4"],
    ],
    [
      ["manifests", "--mode", ""],
      ["cronjob", "watch", ":4"],
    ],
    [["manifests", "-n", ""], [":4"]],
    [
      ["validate", "--suppress", "FLP21"],
      [...FINDING_CODES.filter((code) => code.startsWith("FLP21")), ":4"],
    ],
    [["validate", ""], [":0"]],
    [["validate", "web.yaml", "mail"], [":0"]],
    [["plan", "-f", ""], [":0"]],
    [["plan", "--from=wor"], [":0"]],
    [["status", "--max-age", ""], [":4"]],
    [
      ["plan", "--if", "node/worker-1=Not"],
      ["node/worker-1=NotReady", ":4"],
    ],
    [
      ["plan", "--if", "ip/203.0.113.1="],
      ["Unattached", "Gone", "on:node/", "on:machine/"].map((value) => `ip/203.0.113.1=${value}`).concat(":4"),
    ],
    [
      ["plan", "--if", ""],
      ["node/", "ip/", ":6"],
    ],
    [
      ["explain", "Quota"],
      ["QuotaExceeded", ":4"],
    ],
    [
      ["help", "expl"],
      ["explain", ":4"],
    ],
    [
      ["help", "exit"],
      ["exit-codes", ":4"],
    ],
    [
      ["help", "Quota"],
      ["QuotaExceeded", ":4"],
    ],
    [
      ["help", "FLP12"],
      [...CHECK_CODES.filter((code) => code.startsWith("FLP12")), ":4"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "powershell", ":4"],
    ],
    [["version", ""], [":4"]],
    [["plan", "--", "--"], [":4"]],
    [["nonsense", ""], [":4"]],
    [["status", "--nonsense", ""], [":4"]],
    [["status", "-Z", ""], [":4"]],
    [["status", "--nonsense=j"], [":4"]],
    [[], [...COMMANDS, ":4"]],
  ])("%j", async ([words, candidates]) => {
    const scene: Scene = { ...world(), error: new Error("the cluster was asked") };
    expect(await offered(words, scene)).toEqual(candidates);
  });

  test("says a few words about each, on one line", async () => {
    const { stdout } = await invoke(["__complete", "--", "stat"]);
    expect(stdout).toBe(
      "status\tShow pools, routed IPs, record sets, addresses and the last run, from the cluster alone.\n:4\n",
    );
  });

  test("also takes its words without the dashes before them", async () => {
    expect((await invoke(["__complete", "pl"])).stdout).toContain("plan\t");
  });

  test("a word that has not begun may be told instead of handed over, as PowerShell needs it", async () => {
    for (const words of [[], ["status", "-o"], ["completion"]]) {
      const { stdout } = await invoke(["__complete", "--then-new-word", ...words]);
      expect(stdout).toBe((await invoke(["__complete", "--", ...words, ""])).stdout);
      expect(stdout).not.toBe(":4\n");
    }
  });

  test("contexts are those of the kubeconfig that the words or the environment name; one that a shell would read otherwise is left out", async () => {
    const contexts = ["arn:aws:eks:eu/test", "prod", ":4"];
    expect(await offered(["plan", "--kubeconfig", kubeconfig, "--context", ""])).toEqual(contexts);
    expect(await offered(["plan", "--context", ""], { env: { KUBECONFIG: kubeconfig } })).toEqual(contexts);
    expect(await offered(["plan", "--context", ""], { env: { FLIPOP_KUBECONFIG: kubeconfig } })).toEqual(contexts);
    expect(await offered(["plan", `--kubeconfig=${kubeconfig}`, "--context=arn"])).toEqual([
      "--context=arn:aws:eks:eu/test",
      ":4",
    ]);
    expect(await offered(["plan", "--kubeconfig", join(root, "none"), "--context", ""])).toEqual([":4"]);
  });

  test("every flag and every argument is known: what is not offered only a person can know", () => {
    const streams = {
      stdout: { isTTY: false, write: () => undefined },
      stderr: { isTTY: false, write: () => undefined },
    };
    const program = buildProgram({
      invocation: {
        argv: [],
        env: {},
        streams,
        signal: new AbortController().signal,
        runID: "",
        identity: "",
        wallMs: () => 0,
        loadWiring: () => Promise.reject(),
      },
      open: () => Promise.reject(),
      onExit: () => undefined,
    });
    const options = [program, ...program.commands].flatMap((command) => command.options);
    const unknown = options
      .filter(
        (option) =>
          option.argChoices === undefined && placeholderOf(option) !== "" && !VALUES.has(placeholderOf(option)),
      )
      .map(placeholderOf);
    expect(new Set(unknown)).toEqual(
      new Set([
        "KEY",
        "LABELS",
        "NAMESPACE/LABELS",
        "SHARD",
        "TIMES",
        "WHAT",
        "DURATION",
        "USER",
        "GROUP",
        "NAME",
        "N",
        "ADDRESS",
        "ADDRESS[:PORT]",
        "URI",
        "URL",
        "NAME=VALUE",
        "NAME=FILE",
        "NAME=URL",
        "TEXT",
        "IMAGE",
        "CRON",
      ]),
    );
    expect(program.commands.map((command) => command.name())).toEqual(COMMANDS);
  });
});

describe("names of the cluster", () => {
  test.for<[words: readonly string[], candidates: readonly string[]]>([
    [
      ["status", ""],
      [
        "pool/ingress/broken",
        "pool/ingress/mail",
        "pool/ingress/web",
        "pool/shop/shop",
        "routedip/ingress/vip",
        "dns/ingress/nodes",
        "dns/ingress/web",
        ":4",
      ],
    ],
    [
      ["status", "dns/"],
      ["dns/ingress/nodes", "dns/ingress/web", ":4"],
    ],
    [
      ["status", "pool/ingress/w"],
      ["pool/ingress/web", ":4"],
    ],
    [
      ["suspend", "routedip/"],
      ["routedip/ingress/vip", ":4"],
    ],
    [
      ["reconcile", "-n", "shop", ""],
      ["pool/shop/shop", ":4"],
    ],
    [
      ["reconcile", "-n", "shop", "-A", "pool/ingress/w"],
      ["pool/ingress/web", ":4"],
    ],
    [
      ["status", "ingress/"],
      ["ingress/broken", "ingress/mail", "ingress/vip", "ingress/nodes", ":4"],
    ],
    [
      ["status", "vi"],
      ["vip", ":4"],
    ],
    [
      ["status", "www."],
      ["www.example.com", ":4"],
    ],
    [["status", "node/"], [":4"]],
    [
      ["plan", "nod"],
      ["node/", "nodes", ":4"],
    ],
    [
      ["plan", "node"],
      ["node/", "nodes", ":4"],
    ],
    [
      ["plan", "node/worker-1"],
      ["node/worker-1", ":4"],
    ],
    [
      ["plan", "node/"],
      ["node/worker-1", "node/worker-2", "node/worker-3", "node/worker-4", "node/worker-5", ":4"],
    ],
    [
      ["explain", "ip/203.0.113.1"],
      ["ip/203.0.113.10", "ip/203.0.113.11", ":4"],
    ],
    [
      ["explain", "ip/203.0.113.5"],
      ["ip/203.0.113.50", ":4"],
    ],
    [
      ["explain", "--in", "pool/s"],
      ["pool/shop/shop", ":4"],
    ],
    [
      ["status", "-n", ""],
      ["ingress", "shop", ":4"],
    ],
    [
      ["status", "--namespace=s"],
      ["--namespace=shop", ":4"],
    ],
    [
      ["plan", "--if", "node/worker-1"],
      ["node/worker-1=", ":6"],
    ],
    [
      ["plan", "--if", "ip/203.0.113.2"],
      ["ip/203.0.113.20=", ":6"],
    ],
    [
      ["plan", "--if=node/worker-3"],
      ["--if=node/worker-3=", ":6"],
    ],
  ])("%j", async ([words, candidates]) => {
    expect(await offered(words, world())).toEqual(candidates);
  });

  test("come with a few words: how ready an object is, where an address is, whether a node is ready", async () => {
    const lines = async (word: string): Promise<string> =>
      (await invoke(["__complete", "--", "plan", word], world())).stdout;
    expect(await lines("pool/ingress/w")).toBe("pool/ingress/web\tWaitingForAssignment\n:4\n");
    expect(await lines("pool/shop")).toBe("pool/shop/shop\tno run has looked at it yet\n:4\n");
    expect(await lines("ip/203.0.113.11")).toBe("ip/203.0.113.11\tactive, worker-2\n:4\n");
    expect(await lines("node/worker-1")).toBe("node/worker-1\tNotReady\n:4\n");
  });

  test("a node with a name that no shell takes as it is is left out", async () => {
    const nodes = [aNode(1), { ...aNode(2), name: "$(reboot)" }, { ...aNode(3), name: "a\nb" }];
    const scene = { ...world(), observation: { ...afterFailure(), nodes } };
    expect(await offered(["plan", "node/"], scene)).toEqual(["node/worker-1", ":4"]);
  });

  test("each list is read once, and only those that the word can be of", async () => {
    const read: string[] = [];
    const counting = (words: readonly string[]) => {
      const scene = world();
      const observed = scene.observation;
      return offered(words, {
        ...scene,
        get observation() {
          if (observed === undefined) throw new Error("no world");
          return {
            ...observed,
            get pools() {
              read.push("pools");
              return observed.pools;
            },
            get recordSets() {
              read.push("recordSets");
              return observed.recordSets;
            },
            get nodes() {
              read.push("nodes");
              return observed.nodes;
            },
          };
        },
      });
    };
    await counting(["plan", "www.exa"]);
    const whole = read.splice(0);
    expect(new Set(whole)).toEqual(new Set(["pools", "recordSets"]));
    await counting(["plan", "node/"]);
    expect(new Set(read.splice(0))).toEqual(new Set(["nodes"]));
    await counting(["plan", "dns/"]);
    expect(new Set(read.splice(0))).toEqual(new Set(["recordSets"]));
  });

  test("the flags before choose the cluster, and calls get no more than 0.3 s", async () => {
    const { configs } = await invoke(
      ["__complete", "--", "plan", "--context", "prod", "--as", "ann", "pool/"],
      world(),
    );
    expect(configs).toMatchObject([{ kube: { context: "prod", as: "ann" }, requestTimeoutMs: 300 }]);
  });
});

describe("a failure offers nothing, and says nothing", () => {
  const refused = new KubeError({
    failure: "forbidden",
    operation: "list pools",
    subject: "",
    status: 403,
    message: "no",
  });

  test("a list that is refused: the other lists are offered", async () => {
    expect(await offered(["status", "pool/"], { ...world(), error: refused })).toEqual([":4"]);
    expect(await offered(["plan", "node/"], { ...world(), error: refused })).toContain("node/worker-1");
    expect(await offered(["plan", "no"], { ...world(), error: refused })).toEqual(["node/", ":6"]);
  });

  test("no world at all", async () => {
    expect(await offered(["status", ""])).toEqual([":4"]);
  });

  test.for<[string, number, Scene["env"]]>([
    ["0.3 s", 300, {}],
    ["the time that a variable gives it", 2000, { FLIPOP_COMPLETION_TIMEOUT: "2s" }],
    ["0.3 s, where the variable means nothing", 300, { FLIPOP_COMPLETION_TIMEOUT: "soon" }],
  ])("a cluster that does not answer within %s", async ([, limitMs, env = {}]) => {
    const clock = new FakeClock();
    let isCallLeft = false;
    const scene: Scene = {
      ...world(),
      env,
      clock,
      delay: () => new Promise(() => undefined),
      abandon: () => {
        isCallLeft = true;
      },
    };
    const running = offered(["plan", "no"], scene);
    expect(await clock.settle(running)).toEqual(["node/", ":6"]);
    expect(clock.monotonicMs()).toBe(limitMs);
    expect([clock.sleeping(), isCallLeft]).toEqual([0, true]);
  });

  test.for<[string, readonly string[], Scene["env"]]>([
    ["a flag with a value that it cannot have", ["status", "--max-age", "soon", "pool/"], {}],
    ["a variable with a value that its flag cannot have", ["status", "pool/"], { FLIPOP_MAX_AGE: "soon" }],
    ["flags that contradict each other", ["plan", "--from", "world.yaml", "--context", "prod", "pool/"], {}],
    ["a snapshot that is to be read from stdin", ["plan", "--from", "-", "pool/"], {}],
  ])("%s", async ([, words, env]) => {
    const { stdout, stderr, exitCode, configs } = await invoke(["__complete", "--", ...words], {
      ...world(),
      env: env ?? {},
    });
    expect({ stdout, stderr, exitCode, configs }).toEqual({ stdout: ":4\n", stderr: "", exitCode: 0, configs: [] });
  });

  test("an embedded world that does not exist yet is not made", async () => {
    const dir = join(root, "new-world");
    const { stdout, configs } = await invoke(["__complete", "--", "--sandbox", dir, "status", "pool/"], world());
    expect({ stdout, configs, exists: existsSync(dir) }).toEqual({ stdout: ":4\n", configs: [], exists: false });
  });
});

describe("flipop completion", () => {
  test.for([
    ["bash", "# bash completion of flipop.", "__complete -- "],
    ["zsh", "#compdef flipop\n# zsh completion of flipop.", "__complete -- "],
    ["fish", "# fish completion of flipop.", "__complete -- "],
    ["powershell", "# PowerShell completion of flipop,", "'--then-new-word'"],
  ])("prints the script of %s", async ([shell = "", head = "", asked]) => {
    const { stdout, stderr, exitCode } = await invoke(["completion", shell]);
    expect([stderr, exitCode]).toEqual(["", 0]);
    expect([stdout.startsWith(head), stdout]).toEqual([true, expect.stringContaining(asked ?? "")]);
  });

  test.for([[["completion", "tcsh"]], [["completion"]], [["completion", "bash", "zsh"]]] as const)(
    "%j is wrong usage",
    async ([argv]) => {
      const { stdout, stderr, exitCode } = await invoke(argv);
      expect([stdout, exitCode]).toEqual(["", 64]);
      if (argv[1] === "tcsh") expect(stderr).toContain("bash, zsh, fish, powershell");
    },
  );

  test("the hidden command stands in no help", async () => {
    expect((await invoke(["--help"])).stdout).not.toContain("__complete");
  });
});
