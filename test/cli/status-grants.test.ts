import { expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { aLease, notGranted } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

function noting(mode?: string): Scene {
  const note = mode === undefined ? {} : { "flipop.digitalocean.com/grants": mode };
  const lease = aLease();
  return { observation: notGranted(), lease: { ...lease, annotations: { ...lease.annotations, ...note } } };
}

const unreadable: Scene = {
  observation: notGranted(),
  leaseError: new KubeError({
    failure: "forbidden",
    operation: "get leases.coordination.k8s.io",
    subject: "flipop/flipop",
    status: 403,
    message: "Cannot get leases.coordination.k8s.io flipop/flipop: not permitted.",
  }),
};

async function status(scene: Scene, ...flags: readonly string[]): Promise<string> {
  const { stdout, exitCode } = await invoke(["status", ...flags], scene);
  expect(exitCode).toBe(0);
  return stdout;
}

const KEPT =
  /^ {2}! pool\/ingress\/mail, since 2h ago: Namespace ingress is not granted the address 203\.0\.113\.20\./m;

test.for<[string, Scene, readonly string[], string | undefined]>([
  ["as the last run required them", noting("require"), [], "required (--grants require)"],
  ["as the last run warned of them", noting("warn"), [], "only warned of (--grants warn)"],
  ["which is not at all where the last run did not look at them", noting(), [], undefined],
  ["which is not at all where the note says nothing known", noting("always"), [], undefined],
  ["where the Lease may not be read, as far as objects tell", unreadable, [], "unreadable"],
  ["not with --grants off", noting("require"), ["--grants", "off"], undefined],
  [
    "with --grants whatever the last run did",
    noting(),
    ["--grants", "require"],
    "off in the last run; flipop plan --grants",
  ],
])("status shows what is not granted, %s", async ([, scene, flags, told]) => {
  const stdout = await status(scene, ...flags);
  if (told === undefined) expect(stdout).not.toContain("Not granted");
  else expect(stdout).toMatch(KEPT);
  expect(stdout.match(/grants: +(.*)/)?.[1] ?? "").toContain(told === "unreadable" ? "" : (told ?? ""));
});

test("status tells nothing of a spec that was changed after the last run", async () => {
  const world = notGranted();
  const pools = world.pools.map((pool) => ({ ...pool, meta: { ...pool.meta, generation: 2 } }));
  const scene = { ...noting("require"), observation: { ...world, pools } };
  expect(await status(scene)).not.toContain("Not granted");
});

test("the JSON names since when, why, and how grants counted", async () => {
  const document = async (scene: Scene, ...flags: string[]): Promise<Record<string, unknown>> => {
    const { reconciler, pools } = JSON.parse(await status(scene, "-o", "json", ...flags));
    return {
      grants: reconciler.grants,
      since: pools.map((pool: { notGranted: { since: string } | null }) => pool.notGranted?.since),
    };
  };
  const since = ["2026-08-01T10:00:00Z", "2026-08-01T10:00:00Z"];
  expect(await document(noting("warn"))).toEqual({ grants: "warn", since });
  expect(await document(noting("warn"), "--grants", "off")).toEqual({ grants: "warn", since: [undefined, undefined] });
  expect(await document(noting())).toEqual({ grants: "off", since: [undefined, undefined] });
  expect(await document(unreadable)).toEqual({ grants: null, since });
});

test.for(["maybe", "", "Require"])("status refuses --grants %j", async (mode) => {
  const { exitCode, stderr } = await invoke(["status", "--grants", mode], noting());
  expect(exitCode).toBe(64);
  expect(stderr).toContain("off, warn, require");
});
