// What a person gets who presses TAB: the real shells, at a terminal, with the real program.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { debianProgram } from "./debian-program.ts";
import { FLIPOP } from "./entry.ts";

const bash = await debianProgram("bash", "bash");
const zsh = await debianProgram("zsh", "zsh", ["zsh-common"]);
const fish = await debianProgram("fish", "fish", ["fish-common", "libpcre2-32-0"]);

const root = mkdtempSync(join(tmpdir(), "flipop-shells-"));
mkdirSync(join(root, "bin"));
writeFileSync(join(root, "manifests.yaml"), "");
writeFileSync(join(root, "config"), JSON.stringify({ contexts: [{ name: "arn:aws:eks:eu/prod", context: {} }] }));
// Completes with the real program. Of every other call it prints what it was given.
writeFileSync(
  join(root, "bin/flipop"),
  `#!/bin/sh
case $1 in __complete | completion) exec '${FLIPOP}' "$@" ;; esac
printf 'RAN'; printf ' [%s]' "$@"; echo .
`,
  { mode: 0o755 },
);

// The cluster whose names are offered: the example, and a pool whose addresses have colons, as a person wrote them.
cpSync(new URL("../../src/sandbox/example/", import.meta.url), join(root, "world"), { recursive: true });
appendFileSync(
  join(root, "world/pools.yaml"),
  `---
metadata: { name: six, namespace: ingress }
spec:
  provider: digitalocean
  ipFamily: IPv6
  ips: ["2001:DB8:0:0::10", "2001:db8:0:1:0:0:0:11", "2001:db8::1:0:0:12"]
  dnsRecordSet: { zone: example.com, recordName: only6 }
`,
);
const world = spawn(FLIPOP, ["sandbox", join(root, "world"), "-o", "json"], { stdio: ["ignore", "pipe", "ignore"] });
const worldEnd = once(world, "exit");
let exported = "";
world.stdout.setEncoding("utf8").on("data", (text: string) => {
  exported += text;
});
afterAll(async () => {
  world.kill();
  await worldEnd;
  rmSync(root, { recursive: true });
});

/** What leads to the cluster, with more time than a person has: a shell may be slow to get its turn here. */
async function served(): Promise<Readonly<Record<string, string>>> {
  await expect.poll(() => exported).toMatch(/\n}\n$/);
  return { ...JSON.parse(exported).environment, FLIPOP_COMPLETION_TIMEOUT: "10m" };
}

/** Of a shell that may have been unpacked and not installed. */
function environment(shell: string): Record<string, string> {
  const libraries = globSync(join(dirname(shell), "{../lib,../usr/lib}/*-linux-gnu")).join(":");
  return {
    PATH: `${join(root, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: root,
    KUBECONFIG: join(root, "config"),
    TERM: "dumb",
    LD_LIBRARY_PATH: libraries,
  };
}

/** Types each line at a terminal, TAB and Enter behind it. Returns what flipop was run with for each. */
async function typed(
  shell: string,
  flags: string,
  setUp: readonly string[],
  lines: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const child = spawn("/usr/bin/script", ["-qec", `'${shell}' ${flags}`, "/dev/null"], {
    cwd: root,
    env: { ...environment(shell), ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let shown = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    shown += text;
  });
  const runs = (): readonly string[] => [...shown.matchAll(/RAN (.*)\.\r/g)].map(([, args = ""]) => args);
  const enter = async (line: string): Promise<void> => {
    const before = runs().length;
    child.stdin.write(`${line}\n`);
    await expect.poll(() => runs().length).toBe(before + 1);
  };
  try {
    await enter([...setUp, "flipop ready"].join("; "));
    for (const line of lines) await enter(`${line}\t`);
    return runs().slice(1);
  } catch (error) {
    throw new Error(`${shell} showed: ${shown}`, { cause: error });
  } finally {
    child.kill();
    await exit;
  }
}

/** What a person begins to type, and what it becomes. */
const LINES: readonly (readonly [typed: string, ran: string])[] = [
  ["flipop stat", "[status]"],
  ["flipop --sandbox rec", "[--sandbox] [reconcile]"],
  ["flipop status --wat", "[status] [--watch]"],
  ["flipop status -o ya", "[status] [-o] [yaml]"],
  ["flipop status --output=ya", "[status] [--output=yaml]"],
  ["flipop plan node", "[plan] [node/]"],
  ["flipop plan --if node/worker-1=N", "[plan] [--if] [node/worker-1=NotReady]"],
  ["flipop plan --if=ip/203.0.113.1=U", "[plan] [--if=ip/203.0.113.1=Unattached]"],
  ["flipop plan --context a", "[plan] [--context] [arn:aws:eks:eu/prod]"],
  ["flipop plan --context=arn:aws:e", "[plan] [--context=arn:aws:eks:eu/prod]"],
  ["flipop explain Quota", "[explain] [QuotaExceeded]"],
  ["flipop manifests --only crds,rb", "[manifests] [--only] [crds,rbac]"],
  ["flipop validate mani", "[validate] [manifests.yaml]"],
  ["flipop plan --from=mani", "[plan] [--from=manifests.yaml]"],
  ["true; flipop appr", "[approve]"],
  ["./bin/flipop vers", "[version]"],
];

/** The same with names that only the cluster knows. */
const NAMES: readonly (readonly [typed: string, ran: string])[] = [
  ["flipop status pool/ingress/w", "[status] [pool/ingress/web]"],
  ["flipop explain node/worker-5", "[explain] [node/worker-5]"],
  ["flipop plan ip/203.0.113.10", "[plan] [ip/203.0.113.10]"],
  ["flipop history www.ex", "[history] [www.example.com]"],
  ["flipop status -n ingr", "[status] [-n] [ingress]"],
  ["flipop explain ip/2001:db8::10", "[explain] [ip/2001:db8::10]"],
  ["flipop explain ip/2001:db8:0", "[explain] [ip/2001:db8:0:1::11]"],
  ["flipop plan ip/2001:db8::1:", "[plan] [ip/2001:db8::1:0:0:12]"],
  ["flipop history ip/2001:db8:0:1::", "[history] [ip/2001:db8:0:1::11]"],
  ["flipop plan --if ip/2001:db8:0:1", "[plan] [--if] [ip/2001:db8:0:1::11=]"],
  ["flipop plan --if=ip/2001:db8::1:", "[plan] [--if=ip/2001:db8::1:0:0:12=]"],
  ["flipop plan --if ip/2001:db8::10=U", "[plan] [--if] [ip/2001:db8::10=Unattached]"],
  ["flipop plan --if=ip/2001:db8::10=on:m", "[plan] [--if=ip/2001:db8::10=on:machine/]"],
  ["flipop status only6.e", "[status] [only6.example.com]"],
];

/** What several begin with, as far as they do. */
const SHARED: readonly (readonly [typed: string, ran: string])[] = [
  ["flipop plan --if=ip/2001:db8::", "[plan] [--if=ip/2001:db8::1]"],
];

/** Returns what a shell says of the syntax of its script. */
function syntaxErrors(shell: string, name: string): string {
  const { stdout: script } = spawnSync(FLIPOP, ["completion", name], { encoding: "utf8" });
  expect(script).toContain("__complete");
  const path = join(root, `script.${name}`);
  writeFileSync(path, script);
  const { stderr, status } = spawnSync(shell, ["-n", path], { encoding: "utf8", env: environment(shell) });
  return `${stderr}${status === 0 ? "" : `exit code ${status}`}`;
}

describe.skipIf(bash === undefined)("bash", () => {
  const shell = bash ?? "";

  test("takes the script as it is", () => {
    expect(syntaxErrors(shell, "bash")).toBe("");
  });

  test("completes what is typed", async () => {
    const setUp = ["source <(flipop completion bash)"];
    expect(
      await typed(
        shell,
        "--norc -i",
        setUp,
        LINES.map(([line]) => line),
      ),
    ).toEqual(LINES.map(([, ran]) => ran));
  });

  test("completes names that the cluster has", async () => {
    const all = [...NAMES, ...SHARED];
    const lines = all.map(([line]) => line);
    const ran = await typed(shell, "--norc -i", ["source <(flipop completion bash)"], lines, await served());
    expect(ran).toEqual(all.map(([, wanted]) => wanted));
  });

  test("completes within a line, and lets be what nothing is known of", async () => {
    const back = "\u0002".repeat(" --check".length);
    const ran = await typed(
      shell,
      "--norc -i",
      ["source <(flipop completion bash)"],
      [`flipop stat --check${back}`, "flipop nonsense x"],
    );
    expect(ran).toEqual(["[status] [--check]", "[nonsense] [x]"]);
  });
});

describe.skipIf(zsh === undefined)("zsh", () => {
  const shell = zsh ?? "";
  const home = join(dirname(shell), shell.endsWith("/usr/bin/zsh") ? "../.." : "..");
  const found = (pattern: string): string => globSync(join(home, pattern)).join(" ");
  const setUp = [
    `module_path=(${found("usr/lib/*-linux-gnu/zsh/*")})`,
    `fpath=(${found("usr/share/zsh/functions/**/")})`,
    "autoload -Uz compinit",
    "compinit -u -D",
    "source <(flipop completion zsh)",
  ];

  test("takes the script as it is", () => {
    expect(syntaxErrors(shell, "zsh")).toBe("");
  });

  test("completes what is typed", async () => {
    expect(
      await typed(
        shell,
        "-f -i",
        setUp,
        LINES.map(([line]) => line),
      ),
    ).toEqual(LINES.map(([, ran]) => ran));
  });

  test("completes names that the cluster has", async () => {
    const lines = NAMES.map(([line]) => line);
    const ran = await typed(shell, "-f -i", setUp, lines, await served());
    expect(ran).toEqual(NAMES.map(([, wanted]) => wanted));
  });
});

describe.skipIf(fish === undefined)("fish", () => {
  const shell = fish ?? "";

  /** The candidates of each line, without what is said about them. */
  function candidates(lines: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
    const commands = lines.map((line) => `complete -C '${line}'; echo ==`);
    const functions = join(dirname(shell), "../share/fish/functions");
    const program = [`set fish_function_path ${functions}`, "flipop completion fish | source", ...commands].join("; ");
    const { stdout, stderr, status } = spawnSync(shell, ["--no-config", "-c", program], {
      cwd: root,
      encoding: "utf8",
      env: { ...environment(shell), ...env },
    });
    expect([stderr, status]).toEqual(["", 0]);
    return stdout
      .split("==\n")
      .slice(0, -1)
      .map((part) => part.replace(/\t.*/g, "").trimEnd());
  }

  test("takes the script as it is", () => {
    expect(syntaxErrors(shell, "fish")).toBe("");
  });

  test("completes what is typed", () => {
    // fish completes one word, and inserts it where there is one candidate.
    const offered = candidates(LINES.map(([line]) => line));
    expect(offered.map((word) => `[${word}]`)).toEqual(LINES.map(([, ran]) => ran.split(" ").at(-1)));
  });

  test("completes names that the cluster has", async () => {
    const env = await served();
    const offered = candidates(
      NAMES.map(([line]) => line),
      env,
    );
    expect(offered.map((word) => `[${word}]`)).toEqual(NAMES.map(([, ran]) => ran.split(" ").at(-1)));
  });

  test("shows a few words about each", () => {
    const functions = join(dirname(shell), "../share/fish/functions");
    const program = `set fish_function_path ${functions}; flipop completion fish | source; complete -C 'flipop vers'`;
    const { stdout } = spawnSync(shell, ["--no-config", "-c", program], { encoding: "utf8", env: environment(shell) });
    expect(stdout).toBe("version\tPrint the version.\n");
  });
});
