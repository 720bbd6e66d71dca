import { describe, expect, test } from "vitest";
import {
  APPROVED_ANNOTATION,
  approvalText,
  hashOfTaken,
  notApproved,
  parseApproval,
} from "../../src/model/approval.ts";
import { aNode, anObservation, aPool, NOW_MS } from "../report/world.ts";
import { invoke, type Scene } from "./invoke.ts";

const IPS = ["203.0.113.10", "203.0.113.11"] as const;

/** A pool that acquired two addresses and asks for one now. */
function scene(approval: "Voluntary" | "None", annotation?: string): Scene {
  const web = aPool("web", [], {
    spec: { desiredIPs: 1, reclaimPolicy: "Delete", approval },
    status: { acquired: IPS.map((ip) => ({ ip, acquiredAt: "2026-08-01T10:00:00Z" })) },
  });
  const meta = { ...web.meta, ...(annotation === undefined ? {} : { approval: parseApproval(annotation) }) };
  const observation = anObservation([{ ...web, meta }], [aNode(1), aNode(2)], { [IPS[0]]: "1", [IPS[1]]: "2" });
  return { observation, env: { USER: "ana" } };
}

const yes = { ask: async (): Promise<boolean> => true };

describe("flipop approve", () => {
  test("shows what it would let through, asks, and writes what the planner then takes for an approval", async () => {
    const { stdout, exitCode, annotated } = await invoke(["approve", "web"], { ...scene("Voluntary"), ...yes });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`pool/ingress/web would\n`);
    expect(stdout).toContain(`delete ${IPS[1]} (given back to digitalocean for good)`);
    expect(stdout).toContain("Approved until 12:15:00 UTC (in 15m). The next run carries it out: flipop reconcile.");
    const text = annotated[0]?.annotations[APPROVED_ANNOTATION] ?? "";
    const plan = await invoke(["plan"], scene("Voluntary", text));
    expect(plan.stdout).toContain(`- delete ${IPS[1]}`);
    const again = await invoke(["approve", "pool/ingress/web", "--yes"], scene("Voluntary", text));
    expect(again.stdout).toBe("pool/ingress/web: nothing waits for an approval.\n");
    expect({ exitCode: again.exitCode, annotated: again.annotated }).toEqual({ exitCode: 0, annotated: [] });
  });

  test("no means exit 4, and nothing is written", async () => {
    const ask = async (): Promise<boolean> => false;
    const { exitCode, annotated } = await invoke(["approve", "web"], { ...scene("Voluntary"), ask });
    expect({ exitCode, annotated }).toEqual({ exitCode: 4, annotated: [] });
  });

  test("an object that waits for a person for another cause says which", async () => {
    const web = aPool("web", [IPS[0]], { spec: { approval: "Voluntary" } });
    const observation = anObservation([web], [aNode(1)], { [IPS[0]]: "777" });
    const { stdout, exitCode } = await invoke(["approve", "web", "--yes"], { observation });
    expect({ stdout, exitCode }).toEqual({
      stdout:
        `pool/ingress/web: nothing waits for an approval. It waits for something else: ${IPS[0]}: The address is on a machine that never was a node of this cluster: machine 777. ` +
        "Take it off that machine, or set spec.foreignHolder: TakeOver.\n",
      exitCode: 0,
    });
  });

  test("what needs none is said, exit 0", async () => {
    const { stdout, exitCode, annotated } = await invoke(["approve", "web", "--yes"], scene("None"));
    expect({ stdout, exitCode, annotated }).toEqual({
      stdout: "pool/ingress/web: nothing waits for an approval.\n",
      exitCode: 0,
      annotated: [],
    });
  });

  test.for([
    ["approve", "Name one object to approve, such as pool/ingress/web."],
    ["approve web pool/ingress/web --yes", "Name one object to approve, such as pool/ingress/web."],
    ["approve web", "Nobody can be asked here: run approve on a terminal, or pass --yes."],
    ["approve node/worker-1 --yes", "approve takes nothing else"],
    ["approve web --yes --for 2d", "Write it like 500ms, 30s, 5m or 1h: more than 0s, at most 24h."],
  ])("%s is wrong usage", async ([line = "", text = ""]) => {
    const { stderr, exitCode, annotated } = await invoke(line.split(" "), scene("Voluntary"));
    expect({ exitCode, annotated }).toEqual({ exitCode: 64, annotated: [] });
    expect(stderr).toContain(text);
  });
});

describe("an approval", () => {
  const { meta } = aPool("web", []);
  const hash = hashOfTaken(meta, { what: IPS[0], impact: "reduction" });

  test("covers its things or fewer, until its time", () => {
    const approval = parseApproval(
      approvalText([hash, hashOfTaken(meta, { what: IPS[1], impact: "reduction" })], "ana", NOW_MS + 1000),
    );
    expect(notApproved(approval, [hash], NOW_MS)).toBeUndefined();
    expect(notApproved(approval, [hash], NOW_MS + 1000)).toContain("is over since");
    expect(notApproved(approval, [hash, "0".repeat(14)], NOW_MS)).toBe("the approval by ana is for something else");
    expect(notApproved(undefined, [hash], NOW_MS)).toBe("nobody has approved it");
  });

  test("is another one for another object, spec, address or class of harm", () => {
    const others = [
      hashOfTaken({ ...meta, uid: "other" }, { what: IPS[0], impact: "reduction" }),
      hashOfTaken({ ...meta, generation: meta.generation + 1 }, { what: IPS[0], impact: "reduction" }),
      hashOfTaken(meta, { what: IPS[1], impact: "reduction" }),
      hashOfTaken(meta, { what: IPS[0], impact: "takeover" }),
    ];
    expect(new Set([hash, ...others]).size).toBe(5);
  });

  test.for([
    ["", "it is no JSON object"],
    ["true", "it is no JSON object"],
    ['{"plan":["x"],"until":"2026-01-02T10:00:00Z"}', '"plan" is no hash'],
    ['{"plan":"","until":"2026-01-02T10:00:00Z"}', '"plan" is no hash'],
    [`{"plan":"${hash}"}`, '"until" is missing'],
    [`{"plan":"${hash}","until":"soon"}`, '"until" must be a time like 2026-01-02T10:00:00Z'],
    [`{"plan":"${hash}","until":"2026-01-02T10:00:00Z","all":true}`, 'it has no field "all"'],
    [`{"plan":"${"0".repeat(250_000)}","until":"2026-01-02T10:00:00Z"}`, '"plan" is no hash'],
  ])("%s cannot be read", ([text = "", problem]) => {
    expect(parseApproval(text).problem).toBe(problem);
    expect(notApproved(parseApproval(text), [hash], 0)).toContain("cannot be read");
  });
});
