import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AssetsError, findAssets, skipOrFail } from "./assets.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-assets-"));
  for (const name of ["etcd", "kube-apiserver", "other"]) {
    writeFileSync(join(directory, name), "");
    chmodSync(join(directory, name), 0o755);
  }
  for (const name of ["TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER", "KUBEBUILDER_ASSETS", "CI"]) vi.stubEnv(name, "");
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
