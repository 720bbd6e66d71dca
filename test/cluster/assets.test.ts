import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AssetsError, ensureTool, findAssets, skipOrFail } from "./assets.ts";
import type { Tool } from "./build.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-assets-"));
  for (const name of ["etcd", "kube-apiserver", "other"]) {
    writeFileSync(join(directory, name), "");
    chmodSync(join(directory, name), 0o755);
  }
  for (const name of [
    "TEST_ASSET_ETCD",
    "TEST_ASSET_KUBE_APISERVER",
    "TEST_ASSET_KUBECTL",
    "TEST_ASSET_KREW",
    "TEST_ASSET_ACTIONLINT",
    "KUBEBUILDER_ASSETS",
    "CI",
  ])
    vi.stubEnv(name, "");
  // An empty cache, so that what this machine has built does not matter.
  vi.stubEnv("XDG_CACHE_HOME", directory);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

describe("findAssets", () => {
  test("finds nothing when no variable is set and the cache is empty", async () => {
    expect(await findAssets()).toBeUndefined();
  });

  test("takes both programs from KUBEBUILDER_ASSETS", async () => {
    vi.stubEnv("KUBEBUILDER_ASSETS", directory);
    expect(await findAssets()).toEqual({
      etcd: join(directory, "etcd"),
      kubeAPIServer: join(directory, "kube-apiserver"),
    });
  });

  test("prefers the variable of one program to the directory", async () => {
    vi.stubEnv("KUBEBUILDER_ASSETS", directory);
    vi.stubEnv("TEST_ASSET_ETCD", join(directory, "other"));
    expect(await findAssets()).toEqual({
      etcd: join(directory, "other"),
      kubeAPIServer: join(directory, "kube-apiserver"),
    });
  });

  test("fails, and does not look further, when a variable names something that is not there", async () => {
    vi.stubEnv("TEST_ASSET_ETCD", join(directory, "missing"));
    await expect(findAssets()).rejects.toThrow(
      `TEST_ASSET_ETCD leads to ${join(directory, "missing")}, which is not an executable file`,
    );
  });
});

describe("ensureTool", () => {
  test("takes it from KUBEBUILDER_ASSETS, and rather from its own variable", async () => {
    writeFileSync(join(directory, "kubectl"), "", { mode: 0o755 });
    vi.stubEnv("KUBEBUILDER_ASSETS", directory);
    expect(await ensureTool("kubectl")).toBe(join(directory, "kubectl"));
    vi.stubEnv("TEST_ASSET_KUBECTL", join(directory, "other"));
    expect(await ensureTool("kubectl")).toBe(join(directory, "other"));
  });

  test("fails when a variable names something that is not there", async () => {
    vi.stubEnv("TEST_ASSET_KUBECTL", join(directory, "missing"));
    await expect(ensureTool("kubectl")).rejects.toThrow("TEST_ASSET_KUBECTL leads to");
  });

  test("says what to install where it cannot be built", async () => {
    vi.stubEnv("PATH", directory);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await expect(ensureTool("kubectl")).rejects.toThrow(
      "kubectl cannot be found and cannot be built: there is no `go` on the PATH\nInstall Go 1.25 or later, or set TEST_ASSET_KUBECTL to its path.",
    );
  });
});

describe("a build", () => {
  /** A compiler that says when it begins and ends, and leaves what it was asked for. */
  function compiler(): string {
    const log = join(directory, "log");
    const script = `#!/bin/sh
echo begin >>'${log}'
sleep 0.3
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\n' >"$2"
chmod 755 "$2"
echo end >>'${log}'
`;
    writeFileSync(join(directory, "go"), script, { mode: 0o755 });
    vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    return log;
  }

  test("is done once, however many ask for it, and one after the other", async () => {
    const log = compiler();
    const paths = await Promise.all(["krew", "krew", "actionlint", "krew"].map((tool) => ensureTool(tool as Tool)));
    expect(new Set(paths).size).toBe(2);
    expect(readFileSync(log, "utf8")).toBe("begin\nend\nbegin\nend\n");
  });

  test("is not held up by one that was killed", async () => {
    const log = compiler();
    const { pid } = spawnSync("true");
    mkdirSync(join(directory, "flipop-test"));
    writeFileSync(join(directory, "flipop-test/building"), `${pid}`);
    await ensureTool("krew");
    expect(readFileSync(log, "utf8")).toBe("begin\nend\n");
  });
});

describe("skipOrFail", () => {
  test("says loudly on stderr that the tests are skipped when CI is not set", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    skipOrFail(new AssetsError("no go"));
    expect(write).toHaveBeenCalledWith("\n*** CLUSTER TESTS SKIPPED: no go ***\n\n");
  });

  test("fails with CI=true", () => {
    vi.stubEnv("CI", "true");
    expect(() => skipOrFail(new AssetsError("no go"))).toThrow("no go");
  });
});
