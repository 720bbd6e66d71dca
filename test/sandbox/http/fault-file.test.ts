import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/model/errors.ts";
import { faultFile } from "../../../src/sandbox/faults.ts";

let directory = "";
let path = "";
const call = { server: "digitalocean", method: "POST", path: "/v2/reserved_ips" };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flipop-faults-"));
  path = join(directory, "faults.yaml");
});

afterEach(() => rmSync(directory, { recursive: true }));

describe("faults.yaml", () => {
  test("is made with an explanation and no fault when it does not exist", () => {
    expect(faultFile(path).take(call)).toBeUndefined();
    expect(readFileSync(path, "utf8")).toMatch(/^# Planned misbehaviour[\s\S]*\n\n\[\]\n$/);
  });

  test("is used up over restarts", () => {
    writeFileSync(path, "- {server: digitalocean, method: post, status: 500, times: 2}\n");
    expect(faultFile(path).take(call)?.status).toBe(500);
    expect(faultFile(path).take(call)?.status).toBe(500);
    expect(faultFile(path).take(call)).toBeUndefined();
  });

  test("is read again when a person adds a fault", () => {
    const faults = faultFile(path);
    expect(faults.take(call)).toBeUndefined();
    writeFileSync(path, "- {server: digitalocean, path: reserved_ips$, cut: after}\n");
    expect(faults.take(call)).toEqual({ server: "digitalocean", path: "reserved_ips$", cut: "after" });
    expect(faults.take(call)).toBeUndefined();
  });

  test.for([
    ["- {status: 500}", "[0] must have required property 'server'"],
    ["- {server: digitalocean, stauts: 500}", "[0] must NOT have additional properties: stauts"],
    ["- {server: digitalocean, status: 5000}", "[0].status must be <= 599"],
    ["- {server: aws}", "[0].server must be equal to one of the allowed values: kubernetes, digitalocean, cloudflare"],
    ["- {server: digitalocean, path: (}", "[0].path is no regular expression: "],
    ["server: digitalocean", "the file must be array"],
  ] as const)("%s is an error that names file and path", ([text, message]) => {
    writeFileSync(path, `${text}\n`);
    expect(() => faultFile(path)).toThrow(ConfigError);
    expect(() => faultFile(path)).toThrow(`cannot read ${path}:1:`);
    expect(() => faultFile(path)).toThrow(`: ${message}`);
  });
});
