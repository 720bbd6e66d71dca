import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/model/errors.ts";
import { aRoutedIP } from "../report/routed-world.ts";
import { aQuietRun, steady } from "../report/runs.ts";
import { afterFailure, aRecordSet } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const quiet: Scene = { observation: steady(), answer: async () => ({ kind: "done", value: aQuietRun() }) };

describe("flags", () => {
  test("reconcile passes its defaults on when no flag is given", async () => {
    const { requests } = await invoke(["reconcile"], quiet);
    expect(requests[0]).toMatchObject({
      selection: {},
      deadlineMs: 50_000,
      settle: false,
      lock: {
        identity: "laptop_42_0f1e2d3c",
        onLocked: "fail",
        durationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryMs: 2000,
      },
    });
  });

  test("reconcile without a lock asks for none", async () => {
    const { requests } = await invoke(["reconcile", "--no-lock"], quiet);
    expect(requests[0]).not.toHaveProperty("lock");
  });

  test("a flag is taken after a target as well as before", async () => {
    const { requests } = await invoke(["reconcile", "ingress/web", "--settle", "--timeout=1m30s"], quiet);
    expect(requests[0]).toMatchObject({
      selection: { objects: ["pool/ingress/web"] },
      settle: true,
      deadlineMs: 90_000,
    });
  });

  test.for([
    "-q -n ingress reconcile --settle",
    "-qn ingress --settle reconcile",
    "--settle --namespace=ingress -q reconcile",
    "-n ingress reconcile -q --settle",
    "reconcile -n=ingress --settle",
    "-n=ingress -q reconcile --settle",
  ])("%s: flags before the command mean the same as behind it", async (line) => {
    const { requests, stderr } = await invoke(line.split(" "), quiet);
    expect(stderr).toBe("");
    expect(requests[0]).toMatchObject({ selection: { namespace: "ingress" }, settle: true });
  });

  test("a value that is called like a command is none, before the command either", async () => {
    const { requests } = await invoke(["-n", "plan", "reconcile"], { ...quiet, namespaces: ["plan"] });
    expect(requests[0]?.selection).toEqual({ namespace: "plan" });
  });

  test("a variable gives a flag its value, and the flag on the command line wins", async () => {
    const env = { FLIPOP_TIMEOUT: "20s", FLIPOP_ON_LOCKED: "wait", FLIPOP_SETTLE: "true", FLIPOP_NO_LOCK: "false" };
    const { requests } = await invoke(["reconcile", "--on-locked", "skip"], { ...quiet, env });
    expect(requests[0]).toMatchObject({ deadlineMs: 20_000, settle: true, lock: { onLocked: "skip" } });
  });

  test.for([
    ["fail", "Wait for it to end, or pass --on-locked wait or skip."],
    ["wait", "It was waited for as long as --timeout allows. Give the run more time, or pass --on-locked skip."],
  ] as const)(
    "with --on-locked %s a lock that another run keeps advises what was not tried",
    async ([mode, advice]) => {
      const scene: Scene = { ...quiet, answer: async () => ({ kind: "locked", holder: "pod-2" }) };
      const { stderr, exitCode } = await invoke(["reconcile", "--on-locked", mode, "--timeout", "20s"], scene);
      const what = "Another run works now: pod-2 holds the Lease flipop/flipop. This one changed nothing.";
      expect({ stderr, exitCode }).toEqual({ stderr: `flipop: ${what} ${advice}\n`, exitCode: 5 });
    },
  );

  test.for([
    ["FLIPOP_TIMEOUT", "soon", "Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h."],
    ["FLIPOP_SETTLE", "perhaps", "It takes true or false."],
    ["FLIPOP_OUTPUT", "xml", "Allowed choices are table, wide, json, yaml, name, jsonl."],
  ] as const)("the variable %s with the value %s is refused by name", async ([name, value, hint]) => {
    const { stderr, exitCode, requests } = await invoke(["reconcile"], { ...quiet, env: { [name]: value } });
    expect(stderr).toBe(`flipop: The environment variable ${name} is '${value}'. ${hint}\n`);
    expect({ exitCode, requests }).toEqual({ exitCode: 64, requests: [] });
  });

  test.for([
    [
      "reconcile",
      { FLIPOP_METRICS_ADDR: ":8080" },
      "--metrics-addr needs --watch: a single run serves nothing. Use --pushgateway for it. The environment variable FLIPOP_METRICS_ADDR sets --metrics-addr.",
    ],
    [
      "plan",
      { FLIPOP_DNS_WEBHOOK: "foo" },
      "--dns-webhook 'foo' is no URL. Write it like webhook=http://127.0.0.1:8888. The environment variable FLIPOP_DNS_WEBHOOK sets --dns-webhook.",
    ],
    [
      "reconcile --plan saved.json",
      { FLIPOP_NAMESPACE: "ingress", FLIPOP_SETTLE: "true" },
      "A saved plan is carried out once, as it was saved: leave out --settle and -n, or --plan. The environment variables FLIPOP_SETTLE and FLIPOP_NAMESPACE set --settle and -n.",
    ],
    [
      "reconcile --no-lock",
      { FLIPOP_ON_LOCKED: "wait" },
      "--no-lock takes no lock and waits for nobody, so --on-locked wait means nothing. Leave one of them out. The environment variable FLIPOP_ON_LOCKED sets --on-locked.",
    ],
    ["plan --save -", { FLIPOP_OUTPUT: "wide" }, "--save needs the name of a file: standard output shows the plan."],
  ] as const)("flipop %s with %j says which variable set what is wrong", async ([line, env, text]) => {
    const { stderr } = await invoke(line.split(" "), { ...quiet, env });
    expect(stderr).toBe(`flipop: ${text}\n`);
  });

  test("-A wins over -n and over FLIPOP_NAMESPACE", async () => {
    const { requests } = await invoke(["reconcile", "-A"], { ...quiet, env: { FLIPOP_NAMESPACE: "ingress" } });
    expect(requests[0]?.selection).toEqual({});
  });

  test.for([
    ["ingress/nodes", "dns/ingress/nodes"],
    ["nodes", "dns/ingress/nodes"],
    ["dns/web", "dns/ingress/web"],
    ["pool/web", "pool/ingress/web"],
    ["vip", "routedip/ingress/vip"],
    ["ingress/vip", "routedip/ingress/vip"],
    ["routedip/vip", "routedip/ingress/vip"],
    ["routedip/ingress/web", "routedip/ingress/web"],
  ] as const)("the target %s means the object %s", async ([target, object]) => {
    const observation = { ...steady(), recordSets: [aRecordSet("nodes"), aRecordSet("web")] };
    const routedIPs = [aRoutedIP("vip"), aRoutedIP("web")];
    const { requests } = await invoke(["reconcile", target], { ...quiet, observation, routedIPs });
    expect(requests[0]?.selection).toEqual({ objects: [object] });
  });

  test("a bare name means a pool where the cluster knows no routed IPs", async () => {
    const routedIPsError = new KubeError({
      failure: "missing-resource",
      operation: "list routedips",
      subject: "",
      status: 404,
      message: "no such kind",
    });
    const { requests } = await invoke(["reconcile", "web"], { ...quiet, routedIPsError });
    expect(requests[0]?.selection).toEqual({ objects: ["pool/ingress/web"] });
  });

  test("-n and -l narrow the selection without looking anything up", async () => {
    const { requests } = await invoke(["reconcile", "-n", "ingress", "-l", "app=web"], quiet);
    expect(requests[0]?.selection).toEqual({ namespace: "ingress", labelSelector: "app=web" });
  });

  test.for([
    [["--sandbox", "plan"], "sandbox"],
    [["--sandbox", "world", "plan"], "world"],
    [["plan", "--sandbox=world"], "world"],
    [["plan", "--sandbox"], "sandbox"],
  ] as const)("the command line %j runs on the world in the directory %s", async ([argv, dir]) => {
    const { configs } = await invoke(argv, quiet);
    expect(configs[0]).toMatchObject({ sandboxDir: dir });
  });

  test("-q leaves the hint away on a terminal, and it is there without", async () => {
    const scene: Scene = { observation: afterFailure(), terminal: 80 };
    expect((await invoke(["plan", "-q"], scene)).stderr).toBe("");
    expect((await invoke(["plan"], scene)).stderr).toBe("flipop: to make these changes, run flipop reconcile\n");
  });

  test("-vv shows the stack of a refusal and -v does not", async () => {
    const line = ["plan", "ingress/none"];
    const scene: Scene = { observation: afterFailure() };
    expect((await invoke([...line, "-vv"], scene)).stderr).toMatch(/\n +at /);
    expect((await invoke([...line, "-v"], scene)).stderr).not.toMatch(/\n +at /);
  });

  test("a run that a signal ended while it waited for the lock says nothing of a lock", async () => {
    const stop = new AbortController();
    stop.abort();
    const locked: Scene = { ...quiet, signal: stop.signal, answer: async () => ({ kind: "locked", holder: "" }) };
    const stderr = "flipop: Interrupted. Nothing was changed.\n";
    expect(await invoke(["reconcile"], locked)).toMatchObject({ stdout: "", stderr, exitCode: 130 });
  });

  test("a plan ends at once when a signal has come", async () => {
    const stop = new AbortController();
    stop.abort();
    const { stdout, exitCode } = await invoke(["plan"], { observation: afterFailure(), signal: stop.signal });
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 130 });
  });
});
