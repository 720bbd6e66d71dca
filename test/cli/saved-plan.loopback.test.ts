import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Document, isMap, parseAllDocuments } from "yaml";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-saved-"));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string): string => join(root, name);

/** Runs a command line in this process. */
async function flipop(...argv: readonly string[]): Promise<Printed> {
  return await realCommand(argv, { identity: "saved" });
}

/** Changes every document of a file of a world. */
function change(world: string, file: string, by: (document: Document) => void): void {
  const path = join(at(world), file);
  const documents = parseAllDocuments(readFileSync(path, "utf8")) as Document[];
  for (const document of documents) if (isMap(document.contents)) by(document);
  writeFileSync(path, documents.map(String).join("---\n"));
}

function setReady(world: string, node: string, status: "True" | "False"): void {
  change(world, "nodes.yaml", (document) => {
    if (document.getIn(["metadata", "name"]) === node) document.setIn(["status", "conditions", 0, "status"], status);
  });
}

/** What was printed, without the times that pass, and what names the plan. */
function timeless({ stdout }: Printed): string {
  return stdout
    .replace(/plan [0-9a-f]{14}/g, "plan ID")
    .replace(/\(since [^()]*(\([^)]*\))?\)/g, "(since TIME)")
    .replace(/\b\d+m?s old|\b\d+m\d+s old/g, "AGE old")
    .replace(/\(\d+\.\d s\)/g, "(0.0 s)");
}

describe("plan --save and reconcile --plan on the example world", () => {
  test("do what was read, refuse by name what no longer holds, and name what is not in the plan", async () => {
    const sandbox = `--sandbox=${at("story")}`;
    const file = at("friday.json");
    expect(await flipop(sandbox, "plan", "--save", file)).toMatchObject({ exitCode: 0 });
    setReady("story", "worker-3", "False");
    const printed = await flipop(sandbox, "reconcile", "--plan", file);
    expect(printed.exitCode).toBe(4);
    expect(timeless(printed)).toMatchInlineSnapshot(`
      "pool/ingress/web
        + assigned 203.0.113.11 to worker-2 (0.0 s)
            worker-2 matches and waits for an address; this one is free.
        ~ 2 annotations followed (-o wide shows them)
        ! refused: assign 203.0.113.12 to worker-3
            worker-3 does not match now: not ready (since TIME).
        ! refused: annotate node worker-3 with 203.0.113.12
            "assign 203.0.113.12 to worker-3" is refused.
        ! refused: update DNS www.example.com at digitalocean
            + 203.0.113.11, 203.0.113.12
            = 203.0.113.10
            "assign 203.0.113.12 to worker-3" is refused.
        . not in the saved plan: assign 203.0.113.12 to worker-5
        . not in the saved plan: annotate node worker-5 with 203.0.113.12

      dns/ingress/nodes
        ! refused: update DNS nodes.example.net at cloudflare
            + 192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4, 192.0.2.5
            TTL 60 s
            192.0.2.3 is the address of worker-3, which does not match now.
        . not in the saved plan: update DNS nodes.example.net at cloudflare (+192.0.2.1 +192.0.2.2 +192.0.2.4 +192.0.2.5, TTL 60 s)

      Saved plan ID, AGE old: 3 of 7 applied, 4 refused, 3 more not in it. Make a new plan: flipop plan --save FILE.
      "
    `);
    const again = await flipop(sandbox, "reconcile", "--plan", file, "-o", "json");
    const document = JSON.parse(again.stdout);
    expect(schemaErrors(document, "RunResult")).toEqual([]);
    expect(document.saved.done.map(({ kind }: { readonly kind: string }) => kind)).toContain("assign-ip");
    expect(document.outcomes.find(({ kind }: { readonly kind: string }) => kind === "assign-ip")).toMatchObject({
      subject: "203.0.113.12",
      outcome: "skipped",
      reason: "Stale",
      precondition: { path: "node/worker-3.matches(pool/ingress/web)", was: "yes", is: "no" },
    });
    expect((await flipop(sandbox, "reconcile")).exitCode).toBe(0);
  });

  test("leave no secret in the file, and the last success of the runs as it was", async () => {
    const sandbox = `--sandbox=${at("secret")}`;
    const file = at("secret.json");
    await flipop(sandbox, "plan", "--save", file);
    expect(readFileSync(file, "utf8")).not.toMatch(/127\.0\.0\.1|token|bearer|dop_v1/i);
    expect((await flipop(sandbox, "reconcile", "--plan", file)).exitCode).toBe(0);
    const { reconciler } = JSON.parse((await flipop(sandbox, "status", "-o", "json")).stdout);
    expect(reconciler).toMatchObject({ lastRun: expect.any(String) });
    expect(reconciler.lastSuccess ?? null).toBeNull();
  });

  test("refuse a plan that was saved for another world", async () => {
    const file = at("other.json");
    await flipop(`--sandbox=${at("one")}`, "plan", "--save", file);
    const { exitCode, stderr } = await flipop(`--sandbox=${at("two")}`, "reconcile", "--plan", file);
    expect([exitCode, stderr]).toEqual([
      4,
      expect.stringContaining("This plan was saved for another cluster than this one, http://127.0.0.1:"),
    ]);
  });
});
