import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { FLIPOP } from "../programs/entry.ts";

function piped(input: string, ...argv: readonly string[]): object {
  const { status, stdout, stderr } = spawnSync(FLIPOP, argv, { input, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("standard input", () => {
  test("is checked by validate - like a file, and called stdin", () => {
    const pool = "apiVersion: flipop.digitalocean.com/v1alpha1\r\nkind: FloatingIPPool\r\nmetadata: {name: web}\r\n";
    expect(piped(`\uFEFF${pool}spec: {provider: linode, desiredIPs: 1, region: fsn1}\r\n`, "validate", "-")).toEqual({
      status: 6,
      stdout: 'stdin:4:18   error   FLP211   spec.provider: unknown provider "linode"\n1 object in 1 file: 1 error.\n',
      stderr: "",
    });
    expect(piped(" \n", "validate", "-")).toMatchObject({
      status: 78,
      stdout: "",
      stderr: "flipop: There is nothing on standard input.\n",
    });
    expect(piped("# nothing of ours\n", "validate", "-")).toMatchObject({ status: 0 });
  });

  test("is no snapshot when it is something else", () => {
    expect(piped("kind: Pod\n", "status", "--from", "-")).toEqual({
      status: 78,
      stdout: "",
      stderr: "flipop: Cannot use stdin. It is no snapshot: its kind is not Snapshot.\n",
    });
  });
});
