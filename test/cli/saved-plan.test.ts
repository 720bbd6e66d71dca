import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schemaErrors } from "../report/schemas.ts";
import { afterFailure, NOW_MS } from "../report/world.ts";
import { CLUSTER_UID, invoke } from "./invoke.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-saved-"));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string): string => join(root, name);
const observation = afterFailure();
const file = at("friday.json");
beforeAll(async () => {
  await invoke(["plan", "--save", file], { observation });
});

interface Document {
  readonly actions: readonly { readonly text: string }[];
  readonly followUps: readonly unknown[];
}

function read(name: string): Document & Record<string, unknown> {
  return JSON.parse(readFileSync(name, "utf8"));
}

/** Writes the saved plan with something else in it. */
function edited(by: (text: string) => string): string {
  writeFileSync(at("edited.json"), by(readFileSync(file, "utf8")));
  return at("edited.json");
}

describe("plan --save", () => {
  test("writes the plan that it prints, with what every action depends on, to a file for its owner alone", async () => {
    const path = at("new.json");
    const { stdout, stderr, exitCode } = await invoke(["plan", "--save", path], { observation });
    expect([stdout, exitCode]).toEqual([
      (await invoke(["plan"], { observation })).stdout,
      (await invoke(["plan"], { observation })).exitCode,
    ]);
    expect(stderr).toBe(`flipop: saved 3 actions to ${path}; to carry them out, run flipop reconcile --plan ${path}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const document = read(path);
    expect(schemaErrors(document, "SavedPlan")).toEqual([]);
    expect(document).toMatchObject({
      cluster: { uid: CLUSTER_UID },
      savedAt: new Date(NOW_MS).toISOString().replace(".000", ""),
      selection: {},
    });
    expect([...document.actions, ...document.followUps]).toHaveLength(3);
  });

  test("keeps the selection and the limits of the plan", async () => {
    const path = at("narrow.json");
    await invoke(["plan", "--save", path, "-n", "ingress", "--max-removals", "2", "pool/web"], { observation });
    expect(read(path)).toMatchObject({
      selection: { namespace: "ingress", objects: ["pool/ingress/web"] },
      limits: { removals: 2 },
    });
  });

  test("replaces a file only when told to", async () => {
    const again = await invoke(["plan", "--save", file], { observation });
    expect([again.exitCode, again.stderr]).toEqual([64, `flipop: ${file} exists. --force replaces it.\n`]);
    const nameless = await invoke(["plan", "--save", "-"], { observation });
    expect([nameless.exitCode, nameless.stderr]).toEqual([
      64,
      expect.stringContaining("--save needs the name of a file"),
    ]);
    for (const force of [[], ["--force"]]) {
      const folder = await invoke(["plan", "--save", at("."), ...force], { observation });
      expect([folder.exitCode, folder.stderr]).toEqual([64, `flipop: ${at(".")} is a folder: name a file.\n`]);
    }
    const path = at("mine");
    writeFileSync(path, "mine", { mode: 0o644 });
    expect((await invoke(["plan", "--save", path, "--force"], { observation })).stderr).toContain("saved 3 actions");
    expect([statSync(path).mode & 0o777, read(path)["kind"]]).toEqual([0o600, "SavedPlan"]);
  });

  test.for([
    [
      ["--save", "x", "--if", "node/worker-1=Ready"],
      64,
      "A plan is saved for a cluster as it is: leave out --if, or --save.",
    ],
    [["--save", "x", "--from", "world.yaml", "--if", "+1m"], 64, "leave out --from and --if, or --save."],
    [["--save", "x", "node/worker-1"], 64, "'node/worker-1' only chooses what is shown."],
    [["--save", "x", "ip/203.0.113.10"], 64, "'ip/203.0.113.10' only chooses what is shown."],
    [["--force"], 64, "--force needs --save"],
    [["--save", "/no/such/folder/x"], 78, "Cannot write /no/such/folder/x"],
  ] as const)("%s is refused", async ([words, exitCode, said]) => {
    const printed = await invoke(["plan", ...words], { observation });
    expect([printed.exitCode, printed.stderr]).toEqual([exitCode, expect.stringContaining(said)]);
  });

  test("writes no file that holds what looks like a token", async () => {
    const uid = "dop_v1_0123456789abcdef0123456789abcdef";
    const pools = observation.pools.map((pool) => ({ ...pool, meta: { ...pool.meta, uid } }));
    const path = at("secret.json");
    const { exitCode, stderr } = await invoke(["plan", "--save", path], {
      observation: { ...observation, pools },
    });
    expect([exitCode, stderr]).toEqual([
      1,
      "flipop: The saved plan would hold a token, so none was written. Please report it as a bug.\n",
    ]);
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("reconcile --plan", () => {
  test("asks the run for what stands in the plan, with its selection and limits, and asks nobody", async () => {
    const path = at("limited.json");
    await invoke(["plan", "--save", path, "--max-removals", "0", "pool/ingress/web"], { observation });
    const { requests } = await invoke(["reconcile", "--plan", path], { observation });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ selection: { objects: ["pool/ingress/web"] }, settle: false });
    expect(requests[0]?.saved).toBeDefined();
    expect(requests[0]?.restraint?.current).toMatchObject({ limits: { removals: 0 } });
    expect(requests[0]?.restraint?.current.confirmed).toBeUndefined();
  });

  test.for([
    [["--watch"], "leave out --watch, or --plan."],
    [["--settle"], "leave out --settle, or --plan."],
    [["--confirm"], "leave out --confirm, or --plan."],
    [["-n", "ingress"], "leave out -n, or --plan."],
    [["-l", "a=b"], "leave out -l, or --plan."],
    [["--max-purchases", "1"], "leave out --max-purchases, or --plan."],
    [["pool/ingress/web", "--settle"], "leave out --settle and pool/ingress/web, or --plan."],
  ] as const)("is wrong usage beside %s", async ([words, said]) => {
    const printed = await invoke(["reconcile", "--plan", file, ...words], { observation });
    expect([printed.exitCode, printed.stderr, printed.requests]).toEqual([64, expect.stringContaining(said), []]);
  });

  test("--all-or-nothing means nothing without it", async () => {
    const { exitCode, stderr } = await invoke(["reconcile", "--all-or-nothing"], { observation });
    expect([exitCode, stderr]).toEqual([64, expect.stringContaining("--all-or-nothing needs --plan")]);
  });

  test.for([
    ["edited", (text: string) => text.replace("worker-3", "worker-4"), "It was edited since it was saved"],
    [
      "newer",
      (text: string) => text.replace("digitalocean.com/v1", "digitalocean.com/v2"),
      "Its apiVersion is cli.flipop.digitalocean.com/v2",
    ],
    ["cut off", (text: string) => text.slice(0, 500), "It is no YAML"],
    ["of references", () => "kind: &kind SavedPlan\nother: *kind\n", "It has *kind, a reference of YAML."],
    ["of another kind", () => "kind: Snapshot\n", "It is no saved plan: its kind is not SavedPlan."],
    ["empty", () => "", "It is no saved plan"],
  ] as const)("refuses a file that is %s", async ([, by, said]) => {
    const printed = await invoke(["reconcile", "--plan", edited(by)], { observation });
    expect([printed.exitCode, printed.stderr, printed.requests]).toEqual([78, expect.stringContaining(said), []]);
    expect(printed.stderr).toMatch(/[^.:]\.\n$/);
  });

  test("refuses a file that is not there", async () => {
    const { exitCode, stderr } = await invoke(["reconcile", "--plan", at("nowhere")], { observation });
    expect([exitCode, stderr]).toEqual([78, `flipop: There is no file ${at("nowhere")}. Nothing was changed.\n`]);
  });

  test("refuses a plan for another cluster, and one that is too old: exit code 4, and one document with -o json", async () => {
    const other = await invoke(["reconcile", "--plan", file], { observation, clusterUID: "9a40" });
    expect([other.exitCode, other.stderr, other.requests]).toEqual([
      4,
      `flipop: This plan was saved for another cluster than this one, https://kubernetes.example:6443: the uid of its namespace kube-system was ${CLUSTER_UID}, here it is 9a40. Choose the other context, or make a new plan. Nothing was changed.\n`,
      [],
    ]);
    const old = at("old.json");
    await invoke(["plan", "--save", old], { observation: { ...observation, observedAtMs: NOW_MS - 2 * 3_600_000 } });
    const printed = await invoke(["reconcile", "--plan", old, "--max-age", "1h", "-o", "json"], { observation });
    expect([printed.exitCode, printed.requests]).toEqual([4, []]);
    const document = JSON.parse(printed.stdout);
    expect(schemaErrors(document, "Error")).toEqual([]);
    expect(document.message).toBe("This plan is 2h old, and --max-age is 1h. Make a new plan. Nothing was changed.");
    expect((await invoke(["reconcile", "--plan", old], { observation })).requests).toHaveLength(1);
  });
});
