import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AssetsError, ensureProgram, findAssets, skipOrFail } from "./assets.ts";
import { KUBECTL } from "./build.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-assets-"));
  for (const name of ["etcd", "kube-apiserver", "other"]) {
    writeFileSync(join(directory, name), "");
    chmodSync(join(directory, name), 0o755);
  }
  for (const name of ["TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_KUBECTL", "KUBEBUILDER_ASSETS", "CI"])
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

describe("ensureProgram", () => {
  test("takes it from KUBEBUILDER_ASSETS, and rather from its own variable", async () => {
    writeFileSync(join(directory, "kubectl"), "", { mode: 0o755 });
    vi.stubEnv("KUBEBUILDER_ASSETS", directory);
    expect(await ensureProgram(KUBECTL)).toBe(join(directory, "kubectl"));
    vi.stubEnv("TEST_ASSET_KUBECTL", join(directory, "other"));
    expect(await ensureProgram(KUBECTL)).toBe(join(directory, "other"));
  });

  test("fails when a variable names something that is not there", async () => {
    vi.stubEnv("TEST_ASSET_KUBECTL", join(directory, "missing"));
    await expect(ensureProgram(KUBECTL)).rejects.toThrow("TEST_ASSET_KUBECTL leads to");
  });

  test("says what to install where it cannot be built", async () => {
    vi.stubEnv("PATH", directory);
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await expect(ensureProgram(KUBECTL)).rejects.toThrow(
      "kubectl cannot be found and cannot be built: there is no `go` on the PATH\nInstall Go 1.25 or later, or set TEST_ASSET_KUBECTL to its path.",
    );
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
