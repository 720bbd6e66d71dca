import { type ChildProcessWithoutNullStreams, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readVersion } from "../../src/cli/environment.ts";
import { CHECKOUT } from "../programs/entry.ts";

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const [, oldest = "", major = "", minor = ""] = /^>=((\d+)\.(\d+)\.0)$/.exec(engines.node) ?? [];

const dir = realpathSync(mkdtempSync(join(tmpdir(), "flipop-launcher-")));
afterAll(() => rmSync(dir, { recursive: true }));

/** A folder that holds the launcher and nothing else of flipop. */
interface Bare {
  readonly root: string;
  /** Runs the launcher. */
  run(...args: readonly string[]): SpawnSyncReturns<string>;
  /** Starts it, to be looked at while it runs. */
  start(...args: readonly string[]): ChildProcessWithoutNullStreams;
}

/** What is around a launcher that stands alone. */
interface Surroundings {
  /** The version that the Node which runs the launcher has. Absent = its real one. */
  readonly version?: string;
  /** Whether that Node can become another program, as its version can. */
  readonly canBecome?: boolean;
  /** What npm put beside it as Node: a script, or the Node of the tests itself. Absent = nothing. */
  readonly bundled?: string;
  /** What starts, in the place of flipop. */
  readonly program?: string;
  readonly isCheckout?: boolean;
  /** The name by which the launcher is called. */
  readonly name?: string;
}

let folders = 0;

function bare(surroundings: Surroundings): Bare {
  const { version, canBecome = true, bundled, program = "", isCheckout = false, name = "flipop" } = surroundings;
  folders += 1;
  const root = join(dir, `bare-${folders}`);
  mkdirSync(join(root, "bin"), { recursive: true });
  cpSync(realpathSync(CHECKOUT), join(root, "bin/flipop.cjs"));
  if (name !== "flipop.cjs") symlinkSync("flipop.cjs", join(root, "bin", name));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  writeFileSync(join(root, "bin/start.js"), program);
  if (isCheckout) writeFileSync(join(root, "package-lock.json"), "{}");
  const link = join(root, "node_modules/.bin/node");
  if (bundled !== undefined) mkdirSync(dirname(link), { recursive: true });
  if (bundled?.startsWith("#!") === true) writeFileSync(link, bundled, { mode: 0o755 });
  else if (bundled !== undefined) symlinkSync(bundled, link);
  const disguise = [
    version === undefined ? "" : `Object.defineProperty(process, "version", { value: ${JSON.stringify(version)} });`,
    canBecome ? "" : "delete process.execve;",
  ];
  writeFileSync(join(root, "disguise.cjs"), disguise.join("\n"));
  const command = ["-r", join(root, "disguise.cjs"), join(root, "bin", name)];
  return {
    root,
    run: (...args) => spawnSync(process.execPath, [...command, ...args], { encoding: "utf8", env: {} }),
    // Away from the terminal of whoever runs the tests, if there is one.
    start: (...args) => spawn(process.execPath, [...command, ...args], { env: {}, detached: true }),
  };
}

/** A Node that says its version, and of everything else what it was given. */
const sayingNode = (version: string): string =>
  `#!/bin/sh\n[ "$1" = -v ] && echo ${version} && exit\nprintf '%s\\n' "$@"\n`;

/** A link of that name to the launcher of the checkout, in a folder of its own. */
function called(name: string): string {
  const link = join(mkdtempSync(join(dir, "called-")), name);
  symlinkSync(CHECKOUT, link);
  return link;
}

async function until(stream: NodeJS.ReadableStream, word: string): Promise<string> {
  let text = "";
  while (!text.includes(word)) text += String((await once(stream, "data"))[0]);
  return text;
}

describe("bin/flipop", () => {
  test("runs the program, also through a chain of links and from elsewhere", () => {
    symlinkSync(CHECKOUT, join(dir, "first"));
    symlinkSync("first", join(dir, "kubectl-flipop"));
    const { stdout, stderr, status } = spawnSync(join(dir, "kubectl-flipop"), ["--version"], {
      cwd: dir,
      encoding: "utf8",
    });
    expect({ stdout, stderr, status }).toEqual({ stdout: `flipop ${readVersion()}\n`, stderr: "", status: 0 });
  });

  test("passes usage errors and their code through", () => {
    const { stderr, status } = spawnSync(CHECKOUT, ["plann"], { encoding: "utf8" });
    expect({ stderr, status }).toEqual({
      stderr: "flipop: Unknown command 'plann'. Did you mean plan? See flipop --help.\n",
      status: 64,
    });
  });

  test("says what to do when no cluster is configured", () => {
    const env = { PATH: process.env["PATH"], HOME: dir };
    const { stdout, stderr, status } = spawnSync(CHECKOUT, ["status"], { encoding: "utf8", env });
    expect({ stdout, status }).toEqual({ stdout: "", status: 78 });
    expect(stderr).toMatch(/^flipop: No cluster is configured: .*--sandbox\.\n$/);
  });

  test.for([
    ["kubectl-flipop", "Usage: kubectl flipop plan [options] [TARGET...]\n"],
    ["flipop", "Usage: flipop plan [options] [TARGET...]\n"],
  ] as const)("%s says in its help how it is called", ([name, usage]) => {
    const { stdout, status } = spawnSync(called(name), ["plan", "--help"], { encoding: "utf8" });
    expect(stdout.startsWith(usage)).toBe(true);
    expect(status).toBe(0);
  });

  test("kubectl_complete-flipop offers what follows", () => {
    const { stdout, stderr, status } = spawnSync(called("kubectl_complete-flipop"), ["pl"], { encoding: "utf8" });
    expect([stdout.replace(/\t.*/g, ""), stderr, status]).toEqual(["plan\n:4\n", "", 0]);
  });
});

describe("what starts the program", () => {
  test.for<readonly [text: string, variables: Readonly<Record<string, string>>]>([
    ["colour", { NO_COLOR: "1", FORCE_COLOR: "1" }],
    ["no", { NO_COLOR: "1", FORCE_COLOR: "0" }],
    ["colour", { NO_COLOR: "", FORCE_COLOR: "1" }],
    ["colour", { NODE_DISABLE_COLORS: "1", FORCE_COLOR: "1" }],
  ])(
    "lets Node say nothing of variables that contradict each other, and gives %s where they are %j",
    ([text, variables]) => {
      const env = { PATH: process.env["PATH"], HOME: dir, ...variables };
      const { stdout, stderr } = spawnSync(CHECKOUT, ["plan", `--sandbox=${mkdtempSync(join(dir, "sandbox-"))}`], {
        encoding: "utf8",
        env,
      });
      expect(stderr).not.toContain("Warning");
      expect(stdout.includes("\u001b[")).toBe(text === "colour");
    },
  );

  test.for<readonly [name: string, program: string]>([
    ["bin/flipop", CHECKOUT],
    ["bin/start.js", join(dirname(realpathSync(CHECKOUT)), "start.js")],
  ])("goes on after a stray SIGUSR1, and opens no door for a debugger: %s", async ([, program]) => {
    const sandbox = mkdtempSync(join(dir, "sandbox-"));
    const env = { PATH: process.env["PATH"], HOME: dir };
    const child = spawn(process.execPath, [program, "reconcile", "--watch", `--sandbox=${sandbox}`], { env });
    try {
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          text += chunk;
        });
      const closed = once(child, "close");
      await expect.poll(() => text).toContain("watching for changes");
      child.kill("SIGUSR1");
      await new Promise((resolve) => setTimeout(resolve, 500));
      child.kill("SIGTERM");
      expect(await closed).toEqual([143, null]);
      expect(text).not.toContain("Debugger");
    } finally {
      child.kill("SIGKILL");
    }
  });
});

/** What the launcher gives every Node that it starts. */
const FLAGS = ["--max-semi-space-size=8", "--disable-sigusr1"];

const GIVEN = `console.log(JSON.stringify([process.execArgv, process.title, process.argv.slice(2), process.exitCode = 7]))`;

describe("the launcher", () => {
  const saying = (name: string): Surroundings => ({ name, bundled: sayingNode("v24.0.0") });

  test.for<[name: string, before: readonly string[], after: readonly string[]]>([
    ["flipop", [], []],
    ["flipop.cjs", [], []],
    ["kubectl-flipop", ["--title=kubectl flipop"], []],
    ["kubectl_complete-flipop", [], ["__complete", "--"]],
  ])("starts the Node beside it, called as %s", ([name, before, after]) => {
    const { root, run } = bare(saying(name));
    const start = [join(root, "bin/start.js"), ...after, "plan", "a b", ""];
    const own = ["-r", join(root, "disguise.cjs")];
    const { stdout, stderr, status } = run("plan", "a b", "");
    expect(stdout.split("\n").slice(0, -1)).toEqual([...FLAGS, ...before, ...own, ...start]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  test.for<[string, Surroundings]>([
    ["there is none beside it", {}],
    ["the one beside it cannot be run", { bundled: "#!/lib/ld-that-is-not-here.so.2\n" }],
    ["the one beside it only complains", { bundled: "#!/bin/sh\necho 'Could not start it' >&2\nexit 127\n" }],
    ["the one beside it is too old", { bundled: sayingNode("v20.19.0") }],
    ["the link beside it leads nowhere", { bundled: "/nowhere/node" }],
  ])("starts the Node that runs it where %s", ([, surroundings]) => {
    const { root, run } = bare({ ...surroundings, version: `v${oldest}`, program: GIVEN, isCheckout: true });
    mkdirSync(join(root, "node_modules"), { recursive: true });
    const { stdout, stderr, status } = run("plan");
    expect({ stderr, status }).toEqual({ stderr: "", status: 7 });
    expect(JSON.parse(stdout)).toEqual([expect.arrayContaining(FLAGS), expect.any(String), ["plan"], 7]);
  });

  test("runs the program in its own process where that can become no other one, as on Windows", () => {
    const { run } = bare({ canBecome: false, name: "kubectl-flipop", program: GIVEN });
    const { stdout, stderr, status } = run("plan");
    expect({ stderr, status }).toEqual({ stderr: "", status: 7 });
    expect(JSON.parse(stdout)).toEqual([
      expect.not.arrayContaining(["--max-semi-space-size=8"]),
      "kubectl flipop",
      ["plan"],
      7,
    ]);
  });

  const needs = `flipop: needs Node.js ${major}.${minor} or newer, found`;
  test.for<[string, Surroundings, string]>([
    ["a package on an old Node", {}, `${needs} VERSION. Install a newer one.\n`],
    [
      "a checkout on an old Node, where npm had none",
      { isCheckout: true, bundled: "#!/lib/ld-that-is-not-here.so.2\n" },
      `${needs} VERSION, and npm brought none that runs here. Install a newer one.\n`,
    ],
    [
      "a checkout without packages",
      { isCheckout: true },
      "flipop: its packages are not installed. Run 'npm ci' in ROOT, which brings Node.js along, too.\n",
    ],
  ])("says what is missing: %s", ([, surroundings, message]) => {
    for (const version of [`v${major}.${Number(minor) - 1}.9`, "v9.11.2", "weird"]) {
      const { root, run } = bare({ ...surroundings, version, canBecome: false });
      const { stdout, stderr, status } = run("plan");
      expect(stderr).toBe(message.replace("VERSION", version).replace("ROOT", root));
      expect({ stdout, status }).toEqual({ stdout: "", status: 78 });
    }
  });
});

/** Says which signals it gets, ends with 9 at the third or when it is asked to, and stays otherwise. */
const LISTENER = `
let count = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
  process.on(signal, () => { console.log(signal); if ((count += 1) === 3) process.exit(9); });
process.on("disconnect", () => { console.log("alone"); process.exit(0); });
setInterval(() => {}, 1000);
console.log("pid " + process.pid);`;

describe("the launcher on an old Node, which stays beside the program", () => {
  const old = (program: string): Bare =>
    bare({ version: "v20.0.0", canBecome: false, bundled: process.execPath, program, name: "kubectl-flipop" });

  test("ends with the program's code, and gives it its arguments and its name", () => {
    const { stdout, stderr, status } = old(GIVEN).run("plan", "a b");
    expect({ stderr, status }).toEqual({ stderr: "", status: 7 });
    expect(JSON.parse(stdout).slice(1, 3)).toEqual(["kubectl flipop", ["plan", "a b"]]);
  });

  test("keeps SIGUSR1 from the program, which it would reach as a wish for a debugger, and goes on", async () => {
    const child = old(LISTENER).start();
    const closed = once(child, "close");
    await until(child.stdout, "pid");
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        text += chunk;
      });
    child.kill("SIGUSR1");
    for (const count of [1, 2, 3]) {
      child.kill("SIGTERM");
      await expect.poll(() => text).toBe("SIGTERM\n".repeat(count));
    }
    expect(await closed).toEqual([9, null]);
  });

  test.for(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const)(
    "passes each %s on once, also two in a row",
    async (signal) => {
      const child = old(LISTENER).start();
      const closed = once(child, "close");
      await until(child.stdout, "pid");
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      for (const count of [1, 2]) {
        child.kill(signal);
        await expect.poll(() => text).toBe(`${signal}\n`.repeat(count));
      }
      child.kill("SIGTERM");
      expect(await closed).toEqual([9, null]);
    },
  );

  test.for(["SIGTERM", "SIGKILL", "SIGABRT"] as const)("ends by %s when that ended the program", (signal) => {
    const { signal: endedBy } = old(`process.kill(process.pid, "${signal}"); setInterval(() => {}, 1000);`).run();
    expect(endedBy).toBe(signal);
  });

  test("a program whose launcher is killed learns of it", async () => {
    const child = old(LISTENER).start();
    await until(child.stdout, "pid");
    const rest = until(child.stdout, "alone");
    child.kill("SIGKILL");
    expect(await rest).toBe("alone\n");
  });

  test("the program itself ends when it is done: nothing that the two say to each other keeps it", async () => {
    const file = join(dir, "old.cjs");
    writeFileSync(file, 'Object.defineProperty(process, "version", { value: "v20.0.0" }); delete process.execve;');
    const child = spawn(process.execPath, ["-r", file, CHECKOUT, "--version"]);
    try {
      const text = until(child.stdout, "\n");
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(await text).toBe(`flipop ${readVersion()}\n`);
    } finally {
      child.kill("SIGKILL");
    }
  }, 60_000);

  test("Ctrl-C at a terminal reaches the program once", async () => {
    const { root } = old(LISTENER);
    const line = `exec '${process.execPath}' -r '${root}/disguise.cjs' '${root}/bin/kubectl-flipop'`;
    const child = spawn("script", ["-qec", line, "/dev/null"], { env: { PATH: process.env["PATH"] } });
    const closed = once(child, "close");
    await until(child.stdout, "pid");
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    for (const count of [1, 2, 3]) {
      child.stdin.write("\u0003");
      await expect.poll(() => text.split("SIGINT").length - 1).toBe(count);
    }
    expect(await closed).toEqual([9, null]);
  });
});
