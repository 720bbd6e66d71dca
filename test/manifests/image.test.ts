import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type CronJobOnWire, shippedText } from "./shipped.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOCKERFILE = shippedText("Dockerfile");
const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** What the last stage copies out of the repository. */
const COPIED = [...DOCKERFILE.slice(DOCKERFILE.lastIndexOf("\nFROM ")).matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(
  ([, names]) => (names ?? "").split(" "),
);
const app = mkdtempSync(join(tmpdir(), "flipop-image-"));

afterAll(() => rmSync(app, { recursive: true, force: true }));

/** Runs the image's entry point on a copy of what the image holds. */
function runImage(...args: readonly string[]): string {
  for (const name of COPIED) cpSync(join(ROOT, name), join(app, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(app, "node_modules"));
  const [, entry] = /^ENTRYPOINT \["\/nodejs\/bin\/node", "\/app\/(.+)"\]$/m.exec(DOCKERFILE) ?? [];
  return execFileSync(process.execPath, [join(app, entry ?? ""), ...args], { cwd: app, encoding: "utf8" });
}

test("what the image holds is enough to plan and to print the manifests", { timeout: 60_000 }, () => {
  const printed = runImage("manifests", "--only=cronjob");
  expect(printed).toBe(shippedText("cronjob.yaml"));
  const planned = execFileSync(process.execPath, [join(app, "bin/start.js"), "--sandbox", "plan"], {
    cwd: app,
    encoding: "utf8",
  });
  expect(planned).toContain("pool/ingress/web");
});

test("nothing that the image needs is kept from it by the ignore file", () => {
  const admitted = shippedText("Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  expect([...admitted].sort()).toEqual(["package-lock.json", ...COPIED].sort());
});

test("the image runs as the user that the CronJob names, and says which version and licence it has", () => {
  const { securityContext } = (parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec.template.spec;
  expect(DOCKERFILE).toContain(`\nUSER ${securityContext.runAsUser}:${securityContext.runAsGroup}\n`);
  expect(DOCKERFILE).toContain(`image.version="${version}"`);
  expect(DOCKERFILE).toContain(`image.licenses="${license}"`);
});
