import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { type Printed, realCommand } from "../cli/real-command.ts";
import { envOf } from "../doctor/world.ts";
import { uncomment } from "../setup/uncomment.ts";

/** `SECRETS=all` plants one in every text of every answer, one after the other; else in one of so many, the same at every run. */
const ONE_IN = process.env["SECRETS"] === "all" ? 1 : 8;

const TOKEN = "dop_v1_5ec4e7f00d5ec4e7f00d5ec4e7f00d5ec4e7f00d";

type JSONValue = string | number | boolean | null | readonly JSONValue[] | { readonly [name: string]: JSONValue };
/** Returns the answer that a client gets in the place of this one. */
type Change = (answer: JSONValue, path: string) => JSONValue;

/** Stands between flipop and one server. */
class Between {
  change: Change = (answer) => answer;
  readonly #server: Server;

  constructor(target: string) {
    this.#server = createServer((request, response) => {
      this.#pass(target, request, response).catch(() => response.destroy());
    });
  }

  async #pass(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = new Headers({ accept: "application/json" });
    for (const name of ["authorization", "content-type"] as const) {
      const value = request.headers[name];
      if (value !== undefined) headers.set(name, value);
    }
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const answer = await fetch(new URL(request.url ?? "/", target), { method: request.method ?? "GET", headers, body });
    const text = await answer.text();
    const path = (request.url ?? "").replace(/\?.*$/, "");
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "",
      date: answer.headers.get("date") ?? "",
    });
    response.end(text.startsWith("{") ? JSON.stringify(this.change(JSON.parse(text) as JSONValue, path)) : text);
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const root = mkdtempSync(join(tmpdir(), "flipop-planted-"));
const between: Between[] = [];
let sandbox: Sandbox;
let env: Record<string, string>;

beforeAll(async () => {
  const dir = join(root, "world");
  await realCommand([`--sandbox=${dir}`, "status"], { identity: "planted" });
  const routed = join(dir, "routed-ips.yaml");
  writeFileSync(routed, uncomment(readFileSync(routed, "utf8")));
  const { exitCode } = await realCommand([`--sandbox=${dir}`, "reconcile"], { identity: "planted" });
  expect(exitCode).toBe(0);
  const nodes = join(dir, "nodes.yaml");
  // Somebody still waits for something, so that all kinds of answers are asked for.
  writeFileSync(
    nodes,
    readFileSync(nodes, "utf8").replace('type: Ready\n        status: "True"', 'type: Ready\n        status: "False"'),
  );
  sandbox = await startSandbox({ dir });
  const through = async (target: string): Promise<string> => {
    const one = new Between(target);
    between.push(one);
    return one.open();
  };
  const config = readFileSync(sandbox.kubeconfig, "utf8");
  const [server = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(config) ?? [];
  const kubeconfig = join(root, "kubeconfig");
  writeFileSync(kubeconfig, config.replace(server, await through(server)), { mode: 0o600 });
  env = {
    ...envOf(sandbox),
    KUBECONFIG: kubeconfig,
    DIGITALOCEAN_API_URL: await through(sandbox.digitaloceanURL),
    CLOUDFLARE_API_URL: `${await through(new URL(sandbox.cloudflareURL).origin)}/client/v4`,
  };
}, 60_000);

afterAll(async () => {
  for (const one of between) one.close();
  await sandbox?.close();
  rmSync(root, { recursive: true, force: true });
});

/** Takes a snapshot while answers are changed. */
async function taken(change: Change, ...args: readonly string[]): Promise<Printed> {
  for (const one of between) one.change = change;
  return await realCommand(["snapshot", ...args], { env, identity: "planted" });
}

/** Without the times that pass. A rule of a firewall that has fields which flipop does not know is no plain one: it is left alone. */
function timeless(text: string): string {
  return text
    .replace(/(takenAt|digest|planId): .*/g, "$1")
    .replace(/isPlain: .*/g, "isPlain")
    .replace(/(observedAtMs|nodesReadAtMs|readAtMs|renewTimeMs): \d+/g, "$1");
}

/** Every object of an answer has a field more, and one with fields of its own. Maps whose names flipop reads, whatever they are, stay as they are. */
function withUnknown(value: JSONValue, path: string): JSONValue {
  if (Array.isArray(value)) return value.map((one) => withUnknown(one, path));
  if (typeof value !== "object" || value === null) return value;
  const planted = (name: string, one: JSONValue): JSONValue => {
    if (name === "labels" && /(nodes|pods)$/.test(path)) return { ...(one as object), "example.com/planted": TOKEN };
    return ["ips", "selector", "labels"].includes(name) ? one : withUnknown(one, path);
  };
  const members = Object.entries(value as { readonly [name: string]: JSONValue }).map(([name, one]) => [
    name,
    planted(name, one),
  ]);
  const more = { planted: TOKEN, "example.com/planted": { token: TOKEN, list: [TOKEN] } };
  return { ...(Object.fromEntries(members) as object), ...more };
}

/** Where texts stand in answers, the places of a list counted as one: `/api/v1/nodes items[].metadata.name`. */
function textsIn(value: JSONValue, path: string, found: Set<string>): void {
  if (typeof value === "string") found.add(path);
  else if (Array.isArray(value)) for (const one of value) textsIn(one, `${path}[]`, found);
  else if (typeof value === "object" && value !== null)
    for (const [name, one] of Object.entries(value)) textsIn(one as JSONValue, `${path}.${name}`, found);
}

/** The answer with a text in the place of every one at this place. */
function withText(value: JSONValue, path: string, wanted: string, text: string): JSONValue {
  if (typeof value === "string") return path === wanted ? text : value;
  if (Array.isArray(value)) return value.map((one) => withText(one, `${path}[]`, wanted, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withText(one as JSONValue, `${path}.${name}`, wanted, text)]),
  );
}

describe("a secret in an answer", () => {
  test("that stands in a field that flipop does not know, of any object, changes nothing of a snapshot", async () => {
    const plain = await taken((answer) => answer);
    expect(plain).toMatchObject({ stderr: "", exitCode: 0 });
    const planted = await taken(withUnknown);
    expect(planted).toMatchObject({ stderr: "", exitCode: 0 });
    expect(timeless(planted.stdout)).toBe(timeless(plain.stdout));
    expect(plain.stdout).not.toContain(sandbox.token);
  });

  test("that stands in the place of any text is in no snapshot: it is left out, or none is made", {
    timeout: 600_000,
  }, async () => {
    const places = new Set<string>();
    await taken((answer, path) => {
      textsIn(answer, path, places);
      return answer;
    });
    expect(places.size).toBeGreaterThan(100);
    const planted = [...places].toSorted().filter((_, at) => at % ONE_IN === 0);
    const codes: number[] = [];
    for (const place of planted) codes.push(await planting(place), await planting(place, "--anonymize"));
    expect(codes).toContain(0);
    if (ONE_IN === 1) expect(codes).toContain(1);
  });
});

/** Takes a snapshot with the secret at one place. Returns the exit code. */
async function planting(place: string, ...args: readonly string[]): Promise<number> {
  const { stdout, exitCode } = await taken((answer, path) => withText(answer, path, place, TOKEN), ...args);
  expect({ place, args, holds: stdout.includes("5ec4e7f00d") }).toEqual({ place, args, holds: false });
  expect([0, 1, 3, 75, 77, 78]).toContain(exitCode);
  if (exitCode === 1) expect(stdout).toBe("");
  return exitCode;
}
