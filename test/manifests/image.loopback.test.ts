import { execSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOf } from "../../bin/oci-archive.ts";
import { withoutWaiting } from "../cli/without-waiting.ts";
import { IN_IMAGE } from "../programs/entry.ts";
import { dockerfileStages } from "./dockerfile.ts";
import { shippedText } from "./shipped.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const [BUILD] = dockerfileStages();
const RUN = dockerfileStages().at(-1);
/** What stands for the image's root folder. */
const image = mkdtempSync(join(tmpdir(), "flipop-image-"));
const app = join(image, "app");

beforeAll(() => {
  const source = join(image, "src");
  mkdirSync(source);
  for (const name of BUILD?.copied ?? []) cpSync(join(ROOT, name), join(source, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  const [install, ...runs] = BUILD?.runs ?? [];
  expect(install).toMatch(/^npm ci /);
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"]}`;
  for (const command of runs) {
    execSync(command.replaceAll("/app", app), {
      cwd: source,
      env: { ...process.env, PATH },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
  rmSync(source, { recursive: true });
  // A copy, because the checkout may lie where only its owner may look.
  cpSync(process.execPath, join(image, "nodejs/bin/node"));
  chmodSync(image, 0o755);
  for (const name of ["", ...readdirSync(app, { recursive: true, encoding: "utf8" })]) {
    const path = join(app, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444);
  }
});

afterAll(() => {
  for (const name of ["", ...readdirSync(app, { recursive: true, encoding: "utf8" })]) {
    const path = join(app, name);
    if (statSync(path).isDirectory()) chmodSync(path, 0o755);
  }
  rmSync(image, { recursive: true, force: true });
});

/**
 * Runs the image's entry point as a pod would: no home, no PATH, a user that has no name (where the tests may choose one),
 * the image's files read-only, and only the temporary folder to write to.
 */
function runImage(args: readonly string[], env: Readonly<Record<string, string>> = {}): SpawnSyncReturns<string> {
  const [node = "", ...argv] = (RUN?.entrypoint ?? []).map((name) => name.replace(/^(?=\/)/, image));
  const nobody = process.getuid?.() === 0 ? { uid: 65_532, gid: 65_532 } : {};
  const run = spawnSync(node, [...argv, ...args], { cwd: app, env, encoding: "utf8", ...nobody });
  return { ...run, stderr: withoutWaiting(run.stderr) };
}

test("prints the manifests that are shipped", () => {
  expect(runImage(["manifests", "--only=cronjob"])).toMatchObject({
    status: 0,
    stderr: "",
    stdout: shippedText("cronjob.yaml"),
  });
});

test("plans, reconciles and tells with nothing installed beside it, and writes only to the temporary folder", () => {
  const planned = runImage(["--sandbox", "plan"]);
  expect(planned).toMatchObject({ status: 64, stdout: "" });
  expect(planned.stderr).toContain("name a directory that can be written");
  const world = mkdtempSync(join(tmpdir(), "flipop-world-"));
  chmodSync(world, 0o777);
  try {
    const reconciled = runImage([`--sandbox=${join(world, "w")}`, "reconcile", "-q", "-o", "json"]);
    expect(reconciled).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(reconciled.stdout)).toMatchObject({ kind: "RunResult", exitCode: 0 });
  } finally {
    rmSync(world, { recursive: true });
  }
  expect(existsSync(join(app, "node_modules"))).toBe(false);
});

test("says in a pod without any cluster what is missing, as one JSON line", () => {
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" };
  const { status, stdout, stderr } = runImage(["status"], env);
  expect({ status, stdout }).toEqual({ status: 78, stdout: "" });
  expect(JSON.parse(stderr)).toMatchObject({ level: "error", exitCode: 78 });
});

test("holds a list of the packages that are in it, for scanners", () => {
  const { spdxVersion, packages } = JSON.parse(readFileSync(join(app, "sbom.spdx.json"), "utf8"));
  expect(spdxVersion).toMatch(/^SPDX-/);
  const names = (packages as readonly { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["flipop", "commander", "prom-client"]));
  for (const absent of ["vitest", "undici"]) expect(names).not.toContain(absent);
});

test("is, file by file, the package that the image without Docker holds", () => {
  expect(IN_IMAGE).not.toBe("");
  expect(contents(app)).toEqual(contents(IN_IMAGE));
});

/** Every file below a folder with the digest of its content. */
function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" });
  const paths = files.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), digestOf(readFileSync(path))]));
}
