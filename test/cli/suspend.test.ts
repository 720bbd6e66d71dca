import { describe, expect, test } from "vitest";
import { parseSuspension, SUSPEND_ANNOTATION } from "../../src/model/suspension.ts";
import { aRoutedIP } from "../report/routed-world.ts";
import { aLease, anObservation, aPool, aRecordSet, NOW_MS } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const scene: Scene = {
  observation: {
    ...anObservation([aPool("web", ["203.0.113.1"]), aPool("mail", [])], [], {}),
    recordSets: [aRecordSet("nodes")],
  },
  routedIPs: [aRoutedIP("vip")],
  lease: aLease(),
  env: { USER: "ana" },
};

/** A world whose pool web, and all objects, are suspended so. */
function suspended(own: string | undefined, ofAll?: string, suspend = false): Scene {
  const web = aPool("web", ["203.0.113.1"], { spec: { suspend } });
  const meta = own === undefined ? web.meta : { ...web.meta, suspension: parseSuspension(own) };
  const lease = aLease();
  const annotations = ofAll === undefined ? lease.annotations : { ...lease.annotations, [SUSPEND_ANNOTATION]: ofAll };
  return {
    observation: anObservation([{ ...web, meta }], [], {}),
    lease: { ...lease, annotations },
    env: scene.env ?? {},
  };
}

const iso = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

describe("flipop suspend", () => {
  test("writes who, why, since when and until when onto the object, and says what that means", async () => {
    const { stdout, stderr, exitCode, annotated } = await invoke(
      ["suspend", "pool/ingress/web", "--for", "2h", "--reason", " maintenance\n4711 "],
      scene,
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "pool/ingress/web is suspended until 14:00:00 UTC (in 2h): a failed node keeps its address.\n",
      stderr: "",
      exitCode: 0,
    });
    expect(annotated).toEqual([
      {
        what: "pool/ingress/web",
        annotations: {
          [SUSPEND_ANNOTATION]: `{"by":"ana","reason":"maintenance 4711","since":"${iso(NOW_MS)}","until":"${iso(NOW_MS + 7_200_000)}"}`,
        },
      },
    ]);
  });

  test("takes several objects of every kind, each once, and warns where nothing ends it", async () => {
    const argv = ["suspend", "web", "pool/ingress/web", "dns/ingress/nodes", "routedip/ingress/vip", "--reason", "x"];
    const { stderr, annotated } = await invoke(argv, scene);
    expect(annotated.map(({ what }) => what)).toEqual([
      "pool/ingress/web",
      "dns/ingress/nodes",
      "routedip/ingress/vip",
    ]);
    expect(stderr).toContain(
      "It stays suspended until somebody runs flipop resume dns/ingress/nodes; --for 2h would end it by itself.",
    );
  });

  test("--all writes onto the Lease that runs work under, and reads no object", async () => {
    const argv = ["suspend", "--all", "--for", "7d", "--reason", "x", "--lease-name", "other"];
    const { stdout, annotated, exitCode } = await invoke(argv, { ...scene, error: new Error("objects are not read") });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("All objects under the Lease flipop/other are suspended until");
    expect(annotated.map(({ what }) => what)).toEqual(["lease flipop/other"]);
  });

  test.for([
    [
      "suspend --reason x",
      "Name objects to suspend, such as pool/ingress/web, or pass --all for every object; not both.",
    ],
    ["suspend web --all --reason x", "Name objects to suspend"],
    ["suspend web", "--reason is needed: a sentence of at most 200 characters"],
    ["suspend web --reason=", "--reason is needed"],
    [`suspend web --reason ${"x".repeat(201)}`, "--reason is needed"],
    ["suspend web --reason x --for 169h", "Write it like 30m, 2h or 3d: more than 0s, at most 7d."],
    ["suspend web --reason x --for 0s", "Write it like 30m, 2h or 3d: more than 0s, at most 7d."],
    ["suspend web --reason x --for -1h", "Write it like 30m, 2h or 3d: more than 0s, at most 7d."],
    ["suspend web --reason x --for soon", "Write it like 30m, 2h or 3d: more than 0s, at most 7d."],
    [
      "suspend node/n1 --reason x",
      "The target 'node/n1' is no pool, routed IP or record set: suspend takes nothing else.",
    ],
    ["suspend web --reason x -o json", "Unknown option '-o'"],
    ["resume", "Name objects to resume"],
    ["resume web --all", "Name objects to resume"],
  ])("%s is wrong usage, and nothing is written", async ([line = "", text = ""]) => {
    const { stderr, exitCode, annotated } = await invoke(line.split(" "), scene);
    expect({ exitCode, annotated }).toEqual({ exitCode: 64, annotated: [] });
    expect(stderr).toContain(text);
  });

  test("one name that nobody has, and nothing is written for the others either", async () => {
    for (const missing of ["pool/ingress/wbe", "wbe", "dns/ingress/web"]) {
      const { stderr, exitCode, annotated } = await invoke(["suspend", "web", missing, "--reason", "x"], scene);
      expect({ exitCode, annotated }).toEqual({ exitCode: 78, annotated: [] });
      expect(stderr).toContain("There is no ");
    }
  });

  test("without $USER the host is named", async () => {
    const { annotated } = await invoke(["suspend", "web", "--reason", "x"], { ...scene, env: {} });
    expect(annotated[0]?.annotations[SUSPEND_ANNOTATION]).toContain('"by":"laptop"');
  });
});

describe("flipop resume", () => {
  const mine = '{"by":"bob","reason":"why not"}';
  test.for([
    ["pool/ingress/web goes on.\n", 1, suspended(mine)],
    ["pool/ingress/web was not suspended by flipop suspend.\n", 0, suspended(undefined)],
    ["pool/ingress/web was not suspended by flipop suspend.\n", 1, suspended('{"until":"2026-01-01T00:00:00Z"}')],
    ["pool/ingress/web goes on.\n", 1, suspended("nonsense")],
    [
      "pool/ingress/web was suspended by bob (why not); that is over. It stays suspended with all objects by bob (why not); run flipop resume --all to let it go on.\n",
      1,
      suspended(mine, mine),
    ],
    [
      "pool/ingress/web was not suspended by flipop suspend. It stays suspended: spec.suspend is true; set it to false to let it go on.\n",
      0,
      suspended(undefined, undefined, true),
    ],
  ] as const)("%s", async ([text, writes, world]) => {
    const { stdout, exitCode, annotated } = await invoke(["resume", "pool/ingress/web"], world);
    expect({ stdout, exitCode }).toEqual({ stdout: text, exitCode: 0 });
    expect(annotated).toEqual(
      writes === 0 ? [] : [{ what: "pool/ingress/web", annotations: { [SUSPEND_ANNOTATION]: null } }],
    );
  });

  test("--all ends what is on the Lease", async () => {
    const { stdout, annotated } = await invoke(["resume", "--all"], suspended(undefined, mine));
    expect(stdout).toBe("All objects under the Lease flipop/flipop go on.\n");
    expect(annotated).toEqual([{ what: "lease flipop/flipop", annotations: { [SUSPEND_ANNOTATION]: null } }]);
    const none = await invoke(["resume", "--all"], scene);
    expect(none.stdout).toBe("All objects under the Lease flipop/flipop were not suspended by flipop suspend.\n");
    expect(none.annotated).toEqual([]);
  });
});

test("status and plan show who suspended what, why and until when", async () => {
  const text = `{"by":"bob","reason":"why not","until":"${iso(NOW_MS + 60_000)}"}`;
  const status = await invoke(["status"], suspended(undefined, text));
  expect(status.stdout).toContain(": suspended until 12:01:00 UTC (in 1m) with all objects by bob (why not)\n");
  expect(status.stdout).toContain("  suspended:      all objects until 12:01:00 UTC (in 1m) by bob (why not)\n");
  const json = JSON.parse((await invoke(["status", "-o", "json"], suspended(text))).stdout);
  expect(json.pools[0].suspension).toEqual({
    source: "object",
    by: "bob",
    reason: "why not",
    since: null,
    until: iso(NOW_MS + 60_000),
  });
  const plan = await invoke(["plan"], suspended(text));
  expect(plan.stdout).toContain(
    "The object is suspended: by bob (why not). Waits until 12:01:00 UTC (in 1m). To go on earlier, run flipop resume pool/ingress/web.",
  );
});
