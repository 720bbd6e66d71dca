import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NotedRun, ReconcileAnswer, WatchRequest } from "../../src/cli/wiring.ts";
import { KubeError } from "../../src/model/errors.ts";
import { LAST_RESULT_ANNOTATION } from "../../src/model/lease-annotations.ts";
import type { PassNotice } from "../../src/model/notice.ts";
import type { PassResult } from "../../src/model/run.ts";
import { noticesOf } from "../../src/report/notices.ts";
import { type ScriptedGateway, scriptedGateway } from "../adapters/pushgateway/scripted-gateway.ts";
import { HOOK_PATH, SIGNING_SECRET } from "../fake/fake-tokens.ts";
import { aToldRun } from "../report/metrics/told-run.ts";
import { applied, aQuietRun, aRun, failed, steady } from "../report/runs.ts";
import { afterFailure, unreadable } from "../report/world.ts";
import { invoke, type Scene, type Transcript } from "./invoke.ts";

let receiver: ScriptedGateway;
let folder: string;
const others: ScriptedGateway[] = [];

beforeEach(async () => {
  receiver = await scriptedGateway();
  folder = mkdtempSync(join(tmpdir(), "flipop-notify-"));
});
afterEach(async () => {
  await Promise.all([receiver, ...others.splice(0)].map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

/** Another receiver, which answers as a test says. */
async function another(answer: (response: ServerResponse, before: number) => void): Promise<ScriptedGateway> {
  const made = await scriptedGateway(answer);
  others.push(made);
  return made;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A run with what is new after it. */
function told(result: PassResult): PassResult {
  const { plan, outcomes, remaining } = result;
  const pass = { seen: afterFailure(), planned: plan, outcomes, remaining, stored: () => [] };
  return { ...result, notices: noticesOf(pass, () => ({ before: 0, after: 1 })) };
}

const moved = (): PassResult => told(aRun(afterFailure(), steady(), applied));
const done = (value: PassResult, notes: NotedRun["end"]["notes"] = {}): ReconcileAnswer => {
  return { kind: "done", value, noted: { end: aToldRun({ result: value, notes }), isNoted: true } };
};
const quiet: Scene = { observation: steady(), answer: async () => done(aQuietRun()) };
const failover: Scene = { observation: steady(), answer: async () => done(moved()) };

const reconcile = (scene: Scene, ...flags: readonly string[]): Promise<Transcript> =>
  invoke(["reconcile", ...flags], scene);

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject?: string;
  readonly source: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const events = (from: ScriptedGateway = receiver): readonly Event[] =>
  from.requests.map(({ body }) => JSON.parse(body));
const hook = (): string => `${receiver.url}${HOOK_PATH}`;

describe("a run with --notify", () => {
  test("posts one CloudEvent for each change once it has ended, and prints nothing of it", async () => {
    const plain = await reconcile(failover);
    expect(await reconcile(failover, "--notify", hook())).toEqual({
      ...plain,
      requests: expect.anything(),
      configs: expect.anything(),
    });
    expect(receiver.requests.map(({ method, path, headers }) => [method, path, headers["content-type"]])).toEqual(
      Array(3).fill(["POST", HOOK_PATH, "application/cloudevents+json; charset=utf-8"]),
    );
    expect(events().map(({ type, subject }) => [type.replace(/^.*flipop\./, ""), subject])).toEqual(
      Array(3).fill(["change.applied", "pool/ingress/web"]),
    );
    expect(events()[0]).toMatchObject({
      source: "/apis/coordination.k8s.io/v1/namespaces/flipop/leases/flipop",
      data: { runId: "0f1e2d3c", cluster: "https://kubernetes.example:6443" },
    });
    expect(receiver.requests[0]?.headers["user-agent"]).toMatch(/^flipop\/\d/);
    expect(receiver.requests[0]?.headers["x-flipop-signature"]).toBeUndefined();
  });

  test("says nothing where nothing is new, also to Slack", async () => {
    await reconcile(quiet, "--notify", hook(), "--notify", `slack+${hook()}`);
    expect(receiver.requests).toEqual([]);
  });

  test("names the cluster as it is asked to, by its Lease unless it is told otherwise", async () => {
    await reconcile(failover, "--notify", hook(), "--lease-namespace", "net", "--lease-name", "blue");
    expect(events()[0]?.source).toBe("/apis/coordination.k8s.io/v1/namespaces/net/leases/blue");
    await reconcile(failover, "--notify", hook(), "--notify-source", "https://k8s.example.com/production");
    expect(events().at(-1)?.source).toBe("https://k8s.example.com/production");
  });

  test("signs each body with the secret of a file, which no text shows", async () => {
    const secretFile = file("secret", `${SIGNING_SECRET}\n`);
    const { stdout, stderr } = await reconcile(failover, "--notify", hook(), "--notify-secret-file", secretFile, "-vv");
    expect(receiver.requests).toHaveLength(3);
    for (const { body, headers } of receiver.requests) {
      const digest = createHmac("sha256", SIGNING_SECRET).update(body).digest("hex");
      expect(headers["x-flipop-signature"]).toBe(`sha256=${digest}`);
    }
    expect(stdout + stderr).not.toContain(SIGNING_SECRET);
  });

  test("posts in the format that stands before a URL: for Slack one message, for the Alertmanager what failed", async () => {
    const refused = told(aRun(afterFailure(), steady(), (action) => failed(action)));
    const scene: Scene = { observation: steady(), answer: async () => done(refused) };
    await reconcile(scene, "--notify", `slack+${hook()}`, "--notify", `Alertmanager+${receiver.url}/api/v2/alerts`);
    const bodies = new Map(receiver.requests.map(({ path, body }) => [path, JSON.parse(body)]));
    expect(receiver.requests).toHaveLength(2);
    expect(bodies.get(HOOK_PATH).text.split("\n")).toHaveLength(4);
    expect(bodies.get("/api/v2/alerts").map(({ labels }: { labels: object }) => labels)).toMatchObject(
      Array(3).fill({ alertname: "FlipopChangeFailed", name: "web" }),
    );
    await reconcile(failover, "--notify", `alertmanager+${receiver.url}/api/v2/alerts`);
    expect(receiver.requests).toHaveLength(2);
  });

  test("reads URLs from a file, too, and from variables", async () => {
    const urls = file("urls", `# on call\n\n${hook()}\r\n  slack+${hook()}  \n`);
    await reconcile(failover, "--notify-file", urls);
    expect(receiver.requests).toHaveLength(4);
    const env = { FLIPOP_NOTIFY: `slack+${hook()},${hook()}`, FLIPOP_NOTIFY_SOURCE: "/production" };
    await reconcile({ ...failover, env });
    expect(receiver.requests).toHaveLength(8);
    await reconcile({ ...failover, env: { FLIPOP_NOTIFY_FILE: urls } });
    expect(receiver.requests).toHaveLength(12);
  });

  test("logs in as the URL says, which stands in no request line", async () => {
    const url = receiver.url.replace("//", "//on%20call:pa%2Fss-word@");
    await reconcile(failover, "--notify", `${url}/hook`);
    expect(receiver.requests[0]).toMatchObject({
      path: "/hook",
      headers: { authorization: `Basic ${Buffer.from("on call:pa/ss-word").toString("base64")}` },
    });
  });

  test("takes secrets out of what it posts", async () => {
    const { notices = [], ...result } = moved();
    const secret = (notice: PassNotice): PassNotice =>
      notice.kind === "blocked" ? notice : { ...notice, planID: `p ${hook()} dop_v1_invoked_0123456789` };
    const scene: Scene = {
      observation: steady(),
      answer: async () => done({ ...result, notices: notices.map(secret) }),
    };
    await reconcile(scene, "--notify", hook());
    expect(events()[0]?.data["planId"]).toBe("p [redacted] [redacted]");
  });
});

describe("a run that failed", () => {
  const away = new KubeError({
    failure: "unavailable",
    operation: "list",
    subject: "",
    status: 0,
    message: "It is away.",
  });

  test("is told when it could not read the cluster", async () => {
    const { exitCode } = await reconcile({ error: away }, "--notify", hook());
    expect(exitCode).toBe(75);
    expect(events().map(({ type }) => type)).toEqual(["com.digitalocean.flipop.run.failed"]);
    expect(events()[0]?.data).toMatchObject({ run: { exitCode: 75, category: "temporary", message: "It is away." } });
  });

  test("is told when it came to its end, unless the run before it ended so, too", async () => {
    const { remaining, plan } = aRun(unreadable(), unreadable(), applied);
    const value: PassResult = { ...aQuietRun(), plan, remaining };
    const ended = (before: string): Scene => ({
      observation: steady(),
      answer: async () => done(value, { [LAST_RESULT_ANNOTATION]: before }),
    });
    const { exitCode } = await reconcile(ended("0 done"), "--notify", hook());
    expect(exitCode).toBe(78);
    expect(events().map(({ data }) => data["run"])).toMatchObject([{ exitCode: 78 }]);
    await reconcile(ended("78 invalid configuration"), "--notify", hook());
    expect(receiver.requests).toHaveLength(1);
  });

  test.for<[string, Scene, readonly string[]]>([
    ["another run holds the lock", { answer: async () => ({ kind: "locked", holder: "x" }) }, []],
    ["its target does not exist", {}, ["pool/ingress/nothing"]],
    ["it was interrupted", { signal: AbortSignal.abort("SIGTERM"), answer: async () => done(aQuietRun()) }, []],
  ])("is none when %s", async ([, scene, targets]) => {
    await reconcile({ observation: steady(), ...scene }, ...targets, "--notify", hook());
    expect(receiver.requests).toEqual([]);
  });

  test("tells what was done before the signal came", async () => {
    const scene = { ...failover, signal: AbortSignal.abort("SIGTERM") };
    await reconcile(scene, "--notify", hook());
    expect(receiver.requests).toHaveLength(3);
  });
});

describe("a receiver that takes nothing", () => {
  const warning = async (url: string): Promise<string> => {
    const plain = await reconcile(failover);
    const { stdout, stderr, exitCode } = await reconcile(failover, "--notify", url);
    expect({ stdout, exitCode }).toEqual({ stdout: plain.stdout, exitCode: plain.exitCode });
    return stderr;
  };

  test.for<[string, (response: ServerResponse) => void, string]>([
    ["refuses", (response) => response.writeHead(404).end("no_service"), "it answered 404: no_service"],
    [
      "redirects",
      (response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      "it answered 307; it redirects, which is not followed",
    ],
    [
      "says what it was asked",
      (response) => response.writeHead(400).end(`Cannot POST ${HOOK_PATH}`),
      "Cannot POST [redacted]",
    ],
  ])("changes nothing of a run but a line on stderr, where it %s", async ([, answer, why]) => {
    const { url, requests } = await another(answer);
    const stderr = await warning(url + HOOK_PATH);
    expect(stderr).toContain(`flipop: Could not notify ${url}: `);
    expect(stderr).toContain(why);
    expect(stderr).toContain("It did not get 3 of 3. The run itself is not affected.\n");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(requests).toHaveLength(3);
  });
});

test("several receivers are notified each by itself, and told apart where they have one address", async () => {
  const picky = await another((response) => response.writeHead(422).end());
  const flags = [hook(), `slack+${picky.url}/a`, `slack+${picky.url}/b`].flatMap((url) => ["--notify", url]);
  const { stderr } = await reconcile(failover, ...flags);
  expect(receiver.requests).toHaveLength(3);
  expect(stderr).toContain(`Could not notify ${picky.url} (receiver 2): it answered 422. It did not get 1 of 1.`);
  expect(stderr).toContain(`Could not notify ${picky.url} (receiver 3): it answered 422. It did not get 1 of 1.`);
});

describe("what can never work", () => {
  const secretURL = `hooks.slack.com${HOOK_PATH}`;

  test.for<[readonly string[], number, string]>([
    [["--notify", secretURL], 64, "What --notify says is not where to notify. Write a URL like"],
    [["--notify", `ftp://${secretURL}`], 64, "What --notify says is not where to notify."],
    [["--notify", `teams+https://${secretURL}`], 64, "What --notify says is not where to notify."],
    [
      ["--notify", `https://${secretURL}#x`],
      64,
      "The URL of --notify for hooks.slack.com has a fragment. Leave it out.",
    ],
    [["--notify", "https://"], 64, "What --notify says is not where to notify."],
    [["--notify-source", "/x"], 64, "--notify-source needs --notify: nobody is notified."],
    [["--notify-secret-file", "x"], 64, "--notify-secret-file needs --notify: nobody is notified."],
    [["--notify", `https://${secretURL}`, "--notify-source", "my cluster"], 64, "Write a URI without spaces"],
    [[`--notfy=https://${secretURL}`], 64, "Unknown option '--notfy'. See flipop reconcile --help."],
    [["--notify", `https://${secretURL}`, "--max-purchases", "x"], 64, "--max-purchases"],
  ])("is refused before anything is done, and no URL is shown: %j", async ([flags, code, why]) => {
    for (const mode of [[], ["--watch"]]) {
      const { exitCode, stdout, stderr, configs } = await reconcile({ observation: steady() }, ...flags, ...mode);
      expect({ exitCode, stdout, configs }).toEqual({ exitCode: code, stdout: "", configs: [] });
      expect(stderr).toContain(why);
      expect(stderr).not.toContain(HOOK_PATH);
    }
  });

  test("in a file is an invalid configuration that names the line", async () => {
    const path = file("urls", `${hook()}\nnonsense-0123456789\n`);
    const { exitCode, stderr } = await reconcile(failover, "--notify-file", path);
    expect(exitCode).toBe(78);
    expect(stderr).toContain(`What line 2 of ${path} says is not where to notify.`);
    expect(stderr).not.toContain("nonsense");
  });

  test("a secret that is empty or has two lines is refused, a file that is not there yet is told of when it is needed", async () => {
    const empty = await reconcile(failover, "--notify", hook(), "--notify-secret-file", file("secret", "\n"));
    expect(empty.exitCode).toBe(78);
    expect(empty.stderr).toContain("of --notify-secret-file is empty. Write a secret into it.");
    const broken = await reconcile(failover, "--notify", hook(), "--notify-secret-file", file("secret", "a\nb"));
    expect(broken.stderr).toContain("The secret in ");
    expect(broken.exitCode).toBe(78);
    const { exitCode, stderr } = await reconcile(failover, "--notify-file", join(folder, "none"));
    expect(exitCode).toBe((await reconcile(failover)).exitCode);
    expect(stderr).toContain(
      `Could not notify anybody: Cannot read the file ${join(folder, "none")} of --notify-file (ENOENT).`,
    );
    const unsigned = await reconcile(failover, "--notify", hook(), "--notify-secret-file", join(folder, "none"));
    expect(unsigned.stderr).toContain("Could not notify anybody: Cannot read the token file");
    expect(receiver.requests).toEqual([]);
  });

  test.for(["none", "."])("the file %s is told of by a run with nothing to tell, once", async (name) => {
    const path = join(folder, name);
    const why = `Cannot read the file ${path} of --notify-file (${name === "." ? "EISDIR" : "ENOENT"}). Correct the path or its permissions.`;
    const { exitCode, stderr } = await reconcile(quiet, "--notify-file", path);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `flipop: Nobody could be notified now: ${why}\n` });
    const failed = await reconcile(failover, "--notify-file", path);
    expect(failed.stderr.match(/of --notify-file/g)).toHaveLength(1);
  });

  test.for(["teams+https://alerts.example.com/flipop", "https:", "slack+https://", "alerts.example.com/flipop"])(
    "%s is refused with an example that can be read",
    async (text) => {
      const { stderr } = await reconcile(failover, "--notify-file", file("urls", `${text}\n`));
      expect(stderr).toContain("Write a URL like https://alerts.example.com/flipop, or with another format before it");
      expect(stderr).not.toContain("redacted");
    },
  );

  test("a login over plain HTTP to another machine is warned of", async () => {
    const env = { HTTP_PROXY: receiver.url };
    const { stderr } = await reconcile(
      { ...failover, env },
      "--notify",
      "http://on-call:pa-ss-word@alerts.example.com/x",
    );
    expect(stderr).toContain("What logs in to http://alerts.example.com goes to http://alerts.example.com unencrypted");
    // Through the proxy, as everything else.
    expect(receiver.requests.map(({ path }) => path)).toEqual(Array(3).fill("http://alerts.example.com/x"));
    expect(stderr).not.toContain("pa-ss-word");
  });
});

describe("a process that watches", () => {
  /** Watches, does what the test says, and ends as it says. */
  const watching = (act: (request: WatchRequest) => Promise<void> | void): Scene => ({
    observation: steady(),
    watch: async (request) => {
      request.onLead();
      await act(request);
      return { kind: "stopped" };
    },
  });
  const passed = (request: WatchRequest, result: PassResult): void =>
    request.onPass({ kind: "passed", cause: { kind: "start" }, pass: { result } });
  const watch = (scene: Scene, ...flags: readonly string[]): Promise<Transcript> =>
    reconcile(scene, "--watch", "--notify", ...flags);

  test("tells of each pass what is new after it, and at its end waits for what is not told yet", async () => {
    const scene = watching((request) => {
      passed(request, aQuietRun());
      passed(request, moved());
    });
    expect((await watch(scene, hook())).exitCode).toBe(0);
    expect(events().map(({ data }) => (data["outcome"] as { kind: string }).kind)).toEqual([
      "move-ip",
      "annotate-node",
      "clear-annotation",
    ]);
  });

  test("never waits for a receiver, and drops the oldest of what it could not tell", async () => {
    let answered = 0;
    const held: ServerResponse[] = [];
    const slow = await another((response) => void held.push(response));
    const scene = watching(async (request) => {
      for (let pass = 0; pass < 100; pass += 1) passed(request, moved());
      await expect.poll(() => slow.requests.length).toBe(1);
      answered = held.length;
      slow.close().catch(() => undefined);
      others.length = 0;
    });
    const { stderr, exitCode } = await watch(scene, slow.url);
    expect({ answered, exitCode }).toEqual({ answered: 1, exitCode: 0 });
    // 3 are being posted, 100 wait.
    expect(stderr).toContain("Nobody was notified of 3 things: receivers are too slow.");
    expect(stderr).toMatch(/Could not notify http:\S+: .* It did not get 3 of 3/);
  });

  test("tells of a cluster that cannot be read the 1st, 2nd, 4th, 8th failure in a row", async () => {
    const error = new KubeError({
      failure: "unavailable",
      operation: "x",
      subject: "",
      status: 0,
      message: "It is away.",
    });
    const scene = watching(async (request) => {
      for (let failures = 1; failures <= 9; failures += 1)
        request.onPass({ kind: "failed", cause: { kind: "again" }, error, failures, retryInMs: 1000 });
    });
    await watch(scene, hook());
    expect(events().map(({ data }) => data["failures"])).toEqual([1, 2, 4, 8]);
  });

  test("tells why it ends by itself", async () => {
    const error = new KubeError({
      failure: "forbidden",
      operation: "x",
      subject: "",
      status: 403,
      message: "It is not permitted.",
    });
    const scene: Scene = { observation: steady(), watch: () => Promise.reject(error) };
    expect((await watch(scene, hook())).exitCode).toBe(77);
    expect(events().map(({ data }) => data["run"])).toMatchObject([{ exitCode: 77, message: "It is not permitted." }]);
  });

  test("of a receiver that fails again and again says so the 1st, 2nd, 4th time, and anew once it has worked", async () => {
    let works = false;
    const shaky = await another((response) => response.writeHead(works ? 200 : 400).end());
    const scene = watching(async (request) => {
      const pass = async (): Promise<void> => {
        const before = shaky.requests.length;
        passed(request, moved());
        await expect.poll(() => shaky.requests.length).toBe(before + 3);
        await new Promise((resolve) => setTimeout(resolve, 20));
      };
      for (let times = 0; times < 5; times += 1) await pass();
      works = true;
      await pass();
      works = false;
      await pass();
    });
    const { stderr } = await watch(scene, shaky.url);
    const lines = stderr.split("\n").filter((line) => line.includes("Could not notify"));
    expect(lines.map((line) => /\((\d+) times/.exec(line)?.[1] ?? "first")).toEqual(["first", "2", "4", "first"]);
  });
});
