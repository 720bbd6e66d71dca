import { describe, expect, test } from "vitest";
import { afterFailureWithDNS } from "../report/dns-world.ts";
import { aQuietRun } from "../report/runs.ts";
import { afterFailure, aLease } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const answer: Scene["answer"] = async () => ({ kind: "done", value: aQuietRun() });
const scene: Scene = { observation: afterFailureWithDNS(), lease: aLease(), namespaces: ["ingress", "empty"], answer };
const THERE =
  "There is pool/ingress/broken, pool/ingress/mail, pool/ingress/web, dns/ingress/nodes and dns/ingress/rival.";

describe("a selection of nothing", () => {
  test.for([
    ["-n empty", "No object in namespace empty."],
    ["-l app=nothing", "No object has the labels app=nothing."],
    ["-n ingress -l app=nothing", "No object in namespace ingress has the labels app=nothing."],
    ["pool/ingress/web -l app=nothing", "No object that was named has the labels app=nothing."],
  ] as const)("%s says so and what there is, and exits 0", async ([line, text]) => {
    for (const command of ["plan", "status"]) {
      const { stdout, stderr, exitCode } = await invoke([command, ...line.split(" ")], scene);
      expect({ stdout, stderr, exitCode }).toEqual({
        stdout: expect.stringContaining(`${text} ${THERE}\n`),
        stderr: "",
        exitCode: 0,
      });
      expect(stdout).not.toContain("No pools");
    }
    const { stderr, exitCode } = await invoke(["reconcile", ...line.split(" ")], scene);
    expect([stderr, exitCode]).toEqual([`flipop: ${text} ${THERE}\n`, 0]);
  });

  test.for(["plan", "status", "reconcile"])(
    "of flipop %s in a namespace that does not exist is refused with 78",
    async (command) => {
      const { stdout, stderr, exitCode, requests } = await invoke([command, "-n", "ingres"], scene);
      expect({ stdout, stderr, exitCode, requests }).toEqual({
        stdout: "",
        stderr: `flipop: There is no namespace ingres. ${THERE}${command === "reconcile" ? " Nothing was changed." : ""}\n`,
        exitCode: 78,
        requests: [],
      });
    },
  );

  test("in a namespace that nobody may look at says that there is no object, and exits 0", async () => {
    const { namespaces: _, ...secret } = scene;
    const { stdout, exitCode } = await invoke(["plan", "-n", "ingres"], secret);
    expect(stdout).toContain(`No object in namespace ingres. ${THERE}\n`);
    expect(exitCode).toBe(0);
  });

  test("leaves documents and names alone, and says so on stderr", async () => {
    for (const output of ["json", "name"]) {
      const { stdout, stderr } = await invoke(["plan", "-n", "empty", "-o", output], scene);
      expect(stderr).toBe(`flipop: No object in namespace empty. ${THERE}\n`);
      if (output === "json") expect(JSON.parse(stdout)).toMatchObject({ kind: "Plan", pools: [], recordSets: [] });
      else expect(stdout).toBe("");
    }
    const { stdout, stderr } = await invoke(["status", "-n", "empty", "-o", "json"], scene);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "Status", pools: [] });
    expect(stderr).toContain("No object in namespace empty.");
  });

  test("of an address and of a node that no object has to do with says so", async () => {
    const world = afterFailure();
    const [facts] = world.providers.values();
    const addresses = new Map([
      ...(facts?.addresses ?? []),
      ["203.0.113.99", { kind: "known", address: { ip: "203.0.113.99", region: "ams3", isLocked: false } }] as const,
    ]);
    if (facts === undefined) throw new Error("no provider");
    const observation = { ...world, providers: new Map([["digitalocean", { ...facts, addresses }]]) };
    const { stdout, exitCode } = await invoke(["plan", "ip/203.0.113.99"], { ...scene, observation });
    expect(stdout).toContain(
      "No object has to do with ip/203.0.113.99. There is pool/ingress/broken, pool/ingress/mail and pool/ingress/web.\n",
    );
    expect(exitCode).toBe(0);
  });

  test("in a cluster without any object says how to begin", async () => {
    const observation = { ...afterFailure(), pools: [] };
    const { stdout } = await invoke(["plan"], { ...scene, observation });
    expect(stdout).toContain("No pools. Create a FloatingIPPool to begin.");
    const narrowed = await invoke(["plan", "-n", "empty"], { ...scene, observation });
    expect(narrowed.stdout).toContain("No object in namespace empty. There is none at all.");
  });
});
