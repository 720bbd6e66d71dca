import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readVersion } from "../../src/cli/environment.ts";
import { CHECKOUT } from "../programs/entry.ts";

const dir = realpathSync(mkdtempSync(join(tmpdir(), "flipop-launcher-")));
afterAll(() => rmSync(dir, { recursive: true }));

/** A folder with nothing but the launcher, and a PATH with a `node` that says the version given. */
function bareFolder(
  name: string,
  version: string,
): { readonly launcher: string; readonly path: string; readonly root: string } {
  const root = join(dir, name);
  mkdirSync(join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "path"));
  cpSync(CHECKOUT, join(root, "bin/flipop"));
  const script = `#!/bin/sh\n[ "$1" = -v ] && echo ${version} && exit\necho "ran $*"\n`;
  if (version !== "") writeFileSync(join(root, "path/node"), script, { mode: 0o755 });
  return { launcher: join(root, "bin/flipop"), path: `${join(root, "path")}:/usr/bin:/bin`, root };
}

/** A link of that name to the launcher of the checkout, in a folder of its own. */
function called(name: string): string {
  const link = join(mkdtempSync(join(dir, "called-")), name);
  symlinkSync(CHECKOUT, link);
  return link;
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

  test("uses the system's Node from 24 on when there is none beside it", () => {
    const { launcher, path, root } = bareFolder("new", "v24.0.0");
    const { stdout } = spawnSync(launcher, ["plan", "a b"], { encoding: "utf8", env: { PATH: path } });
    expect(stdout).toBe(`ran --max-semi-space-size=8 ${root}/bin/start.js plan a b\n`);
  });

  test("says by which name kubectl called it, and asks what to offer under the other one", () => {
    const { path, root } = bareFolder("plugin", "v24.0.0");
    const run = (name: string): string => {
      symlinkSync("flipop", join(root, "bin", name));
      return spawnSync(join(root, "bin", name), ["plan", ""], { encoding: "utf8", env: { PATH: path } }).stdout;
    };
    const node = "ran --max-semi-space-size=8";
    expect(run("kubectl-flipop")).toBe(`${node} --title=kubectl flipop ${root}/bin/start.js plan \n`);
    expect(run("kubectl_complete-flipop")).toBe(`${node} ${root}/bin/start.js __complete -- plan \n`);
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

  test.for([
    ["v22.19.0", "v22.19.0"],
    ["v9.0.0", "v9.0.0"],
    ["weird", "weird"],
  ] as const)("says which Node it needs when the only one is %s", ([version, found]) => {
    const { launcher, path } = bareFolder(version, version);
    const { stderr, status } = spawnSync(launcher, ["plan"], { encoding: "utf8", env: { PATH: path } });
    expect(stderr).toBe(`flipop: needs Node.js 24 or newer, found ${found}. Install a newer one.\n`);
    expect(status).toBe(78);
  });

  test("says how a checkout gets the Node it needs", () => {
    const { launcher, path, root } = bareFolder("checkout", "v20.0.0");
    writeFileSync(join(root, "package-lock.json"), "{}");
    const { stderr, status } = spawnSync(launcher, ["plan"], { encoding: "utf8", env: { PATH: path } });
    expect(stderr).toBe(
      `flipop: needs Node.js 24 or newer, found v20.0.0. Run 'npm ci' in ${root}, which brings one along.\n`,
    );
    expect(status).toBe(78);
  });
});
