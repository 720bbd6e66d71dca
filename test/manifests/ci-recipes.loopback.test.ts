// What a person gets who copies a recipe of cronjob/ci: its shell lines, run as the runners of GitHub and GitLab run them, with the real program on the embedded world.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type ProgramRun, runCommand } from "../cli/cluster-run.ts";
import { debianProgram } from "../programs/debian-program.ts";
import { FLIPOP } from "../programs/entry.ts";
import { shippedText } from "./shipped.ts";

const TOKEN = "ghs_a-token-for-comments";
const MARKER = "<!-- flipop plan -->\n";

interface Comment {
  readonly id: number;
  readonly by: "Bot" | "User";
  body: string;
}

/** The comments of one pull request or merge request, by the ways that both APIs have to them. */
let comments: Comment[];
/** Method and path of every request. */
let requests: string[];
let folder: string;
let programs: readonly string[];

const server = createServer((request, response) => void answer(request, response));
const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const { method = "", headers } = request;
  const url = new URL(request.url ?? "", base());
  requests.push(`${method} ${url.pathname}`);
  const send = (status: number, value: unknown): void => void response.writeHead(status).end(JSON.stringify(value));
  if (headers.authorization !== `token ${TOKEN}` && headers["private-token"] !== TOKEN) return send(401, {});
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  const body = (): string => (isForm ? (new URLSearchParams(text).get("body") ?? "") : JSON.parse(text).body);
  const shown = ({ id, by, body: of }: Comment): object => ({ id, body: of, system: false, user: { type: by } });
  const id = /\/(?:comments|notes)\/(\d+)$/.exec(url.pathname)?.[1];
  const own = comments.find((comment) => String(comment.id) === id);
  if (method === "GET") {
    const from = (Number(url.searchParams.get("page") ?? 1) - 1) * 2;
    return send(200, comments.slice(from, from + 2).map(shown));
  }
  if (id === undefined) {
    comments.push({ id: 100 + comments.length, by: "Bot", body: body() });
    return send(201, {});
  }
  if (own === undefined) return send(404, {});
  own.body = body();
  return send(200, {});
}

/** What the recipe uses of GitHub's program: it asks page after page, and a filter is jq's. */
const GH = `#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { paginate: { type: "boolean" }, silent: { type: "boolean" }, method: { type: "string" }, jq: { type: "string" }, field: { type: "string" } },
});
const [command, path] = positionals;
if (command !== "api") throw new Error("unknown command " + command);
const call = async (page) => {
  const [name, value] = values.field?.split("=") ?? [];
  const body = name && JSON.stringify({ [name]: value.startsWith("@") ? readFileSync(value.slice(1), "utf8") : value });
  const answer = await fetch(process.env.GH_STUB_URL + "/" + path + "?page=" + page, {
    method: values.method ?? "GET", body, headers: { authorization: "token " + process.env.GH_TOKEN },
  });
  if (!answer.ok) { console.error("gh: HTTP " + answer.status); process.exit(1); }
  return await answer.json();
};
for (let page = 1; ; page += 1) {
  const found = await call(page);
  if (values.jq) process.stdout.write(spawnSync("jq", ["-r", values.jq], { input: JSON.stringify(found), encoding: "utf8" }).stdout);
  if (!values.paginate || found.length === 0) break;
}
`;

beforeAll(async () => {
  const found = await Promise.all([
    debianProgram("bash", "bash"),
    debianProgram("jq", "jq", ["libjq1", "libonig5"]),
    debianProgram("curl", "curl", ["libcurl4"]),
  ]);
  programs = found.flatMap((program) => program ?? []);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}, 180_000);

afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(({ skip }) => {
  if (programs.length < 3) return skip("needs bash, jq and curl");
  folder = mkdtempSync(join(tmpdir(), "flipop-ci-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "manifests"));
  symlinkSync(FLIPOP, join(folder, "bin/flipop"));
  writeFileSync(join(folder, "bin/gh"), GH, { mode: 0o755 });
  symlinkSync(process.execPath, join(folder, "bin/node"));
  comments = [
    { id: 1, by: "User", body: "Looks good" },
    { id: 2, by: "User", body: "I prefer another name" },
    { id: 3, by: "User", body: "Why?" },
  ];
  requests = [];
  wish("desiredIPs: 1");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the manifest that the pull request is about: the pool of the embedded world with another wish. */
function wish(more: string): void {
  const text = `apiVersion: flipop.digitalocean.com/v1alpha1
kind: FloatingIPPool
metadata: { name: web, namespace: ingress }
spec:
  provider: digitalocean
  region: nyc3
  ips: [203.0.113.10, 203.0.113.11, 203.0.113.12]
  match: { podNamespace: ingress, podLabel: app=web }
  ${more}
`;
  writeFileSync(join(folder, "manifests/web.yaml"), text);
}

/** Runs lines as both runners do: in one bash that ends with the first command that fails. */
function runLines(lines: string, env: Readonly<Record<string, string>>): Promise<ProgramRun> {
  const path = [join(folder, "bin"), ...new Set(programs.map((program) => dirname(program)))].join(delimiter);
  const [bash = ""] = programs;
  return runCommand([bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", `cd '${folder}'\n${lines}`], {
    PATH: `${path}:/usr/bin:/bin`,
    HOME: folder,
    FLIPOP_SANDBOX: join(folder, "world"),
    ...env,
  });
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the named steps of the workflow one after the other, each with its environment. Returns what the last one did. */
async function runWorkflow(): Promise<ProgramRun> {
  const { jobs, defaults } = parse(shippedText("ci/github.yaml"));
  expect(defaults.run.shell).toBe("bash");
  const steps: readonly Step[] = jobs.plan.steps;
  const values = new Map([
    ["vars.FLIPOP_PACKAGE", ""],
    ["secrets.FLIPOP_KUBECONFIG", "a kubeconfig"],
    ["secrets.DIGITALOCEAN_READ_TOKEN", ""],
    ["secrets.CLOUDFLARE_READ_TOKEN", ""],
    ["github.token", TOKEN],
    ["github.event.pull_request.number", "7"],
  ]);
  const given = (env: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(env).map(([name, text]) => {
        const value = text.replace(/\$\{\{ (\S+) \}\}/g, (_, key: string) => {
          const known = values.get(key);
          if (known === undefined) throw new Error(`the recipe asks for ${key}`);
          return known;
        });
        return [name, value];
      }),
    );
  let last: ProgramRun | undefined;
  for (const { id, name, run, env } of steps.filter((step) => step.name !== undefined)) {
    const output = join(folder, "output");
    writeFileSync(output, "");
    last = await runLines(run ?? "", {
      ...given(jobs.plan.env),
      ...given(env),
      GITHUB_REPOSITORY: "shop/infra",
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
      RUNNER_TEMP: folder,
      GH_STUB_URL: base(),
    });
    for (const [, key = "", value = ""] of readFileSync(output, "utf8").matchAll(/^(\w+)=(.*)$/gm))
      values.set(`steps.${id}.outputs.${key}`, value);
    if (last.code !== 0 && name !== "Result") throw new Error(`${name}: ${last.stderr}`);
  }
  if (last === undefined) throw new Error("the recipe has no steps");
  return last;
}

function runPipeline(): Promise<ProgramRun> {
  const { "flipop-plan": job } = parse(shippedText("ci/gitlab.yaml"));
  return runLines(job.script.join("\n"), {
    FLIPOP_FILES: job.variables.FLIPOP_FILES,
    GITLAB_TOKEN: TOKEN,
    CI_API_V4_URL: `${base()}/api/v4`,
    CI_PROJECT_ID: "12",
    CI_MERGE_REQUEST_IID: "7",
  });
}

const RECIPES = [
  ["GitHub", runWorkflow, "/repos/shop/infra/issues/7/comments", "PATCH /repos/shop/infra/issues/comments"],
  [
    "GitLab",
    runPipeline,
    "/api/v4/projects/12/merge_requests/7/notes",
    "PUT /api/v4/projects/12/merge_requests/7/notes",
  ],
] as const;

describe.for(RECIPES)("the recipe for %s", ([, run, list, edit]) => {
  test("comments with the plan, and writes its own comment anew at the next push", async () => {
    const first = await run();
    expect(first).toMatchObject({ code: 0 });
    expect(comments.map(({ id }) => id)).toEqual([1, 2, 3, 103]);
    expect(comments[3]?.body.startsWith(MARKER)).toBe(true);
    expect(comments[3]?.body).toMatch(/^### flipop plan: .*1 DNS name/m);
    expect(requests.at(-1)).toBe(`POST ${list}`);
    wish("desiredIPs: 0");
    await run();
    expect(comments.map(({ id }) => id)).toEqual([1, 2, 3, 103]);
    expect(comments[3]?.body).toMatch(/^### flipop plan: 2 to assign/m);
    expect(requests.at(-1)).toBe(`${edit}/103`);
    expect(comments.slice(0, 3).map(({ body }) => body)).toEqual(["Looks good", "I prefer another name", "Why?"]);
  });

  test("comments with what is wrong, and fails the job", async () => {
    writeFileSync(join(folder, "manifests/web.yaml"), "kind: [");
    const failed = await run();
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.stdout).toMatch(/flipop plan ended with \d+: see the/);
    expect(comments[3]?.body).toContain("### flipop could not do it");
    wish("desiredIPs: 1");
    expect(await run()).toMatchObject({ code: 0 });
    expect(comments).toHaveLength(4);
    expect(comments[3]?.body.startsWith(MARKER)).toBe(true);
  });

  test("fails when the comment cannot be written", async () => {
    const listen = server.listeners("request");
    server.removeAllListeners("request");
    server.on(
      "request",
      (request, response) => void request.resume().on("end", () => response.writeHead(500).end("{}")),
    );
    try {
      const outcome = await run().then(
        ({ code }) => code,
        () => "threw",
      );
      expect(outcome).not.toBe(0);
    } finally {
      server.removeAllListeners("request");
      for (const one of listen) server.on("request", one as never);
    }
  });
});

test("no comment of a person is written anew, whatever it begins with", async () => {
  comments.push({ id: 4, by: "User", body: `${MARKER}mine` });
  await runWorkflow();
  expect(comments.map(({ id, body }) => [id, body.includes("mine")])).toContainEqual([4, true]);
  expect(comments).toHaveLength(5);
});

test("a kubeconfig on a runner is for its user alone", async () => {
  await runWorkflow();
  const { stdout } = spawnSync("stat", ["-c", "%a", join(folder, "kubeconfig")], { encoding: "utf8" });
  expect(stdout).toBe("600\n");
});
