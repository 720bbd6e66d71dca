import { describe, expect, test } from "vitest";
import { type HostKeeping, keepHost } from "../../src/host/keep-host.ts";
import { ConfigError, KubeError } from "../../src/model/errors.ts";
import { FakeClock } from "../fake/fake-clock.ts";
import { FakeHost, FakeNode, present, refusal } from "./fake-host.ts";

const IP = "203.0.113.7";
const OTHER = "203.0.113.8";
const annotated = (annotation: string) => ({ kind: "known", annotation }) as const;

function unreachable(failure: KubeError["failure"] = "unavailable"): KubeError {
  return new KubeError({ failure, operation: "list nodes", subject: "", status: 503, message: "no answer" });
}

/** A host that is kept in virtual time. */
class Kept {
  readonly host = new FakeHost();
  readonly node = new FakeNode();
  readonly clock = new FakeClock();
  readonly told: string[] = [];
  readonly #stop = new AbortController();
  #end: Promise<unknown> | undefined;

  /** Begins; the first pass has been made when that resolves. */
  async begin(some: Partial<HostKeeping> = {}): Promise<void> {
    this.#end = keepHost({
      ...{ network: this.host, node: this.node, clock: this.clock, random: () => 0.5, chosen: undefined },
      signal: this.#stop.signal,
      onPass: ({ done, failed, untold }) => {
        for (const { error } of failed) this.told.push(`failed: ${error.message}`);
        for (const { ip } of untold) this.told.push(`untold: ${ip}`);
        if (done.length > 0) this.told.push(`done: ${done.length}`);
      },
      onTrouble: ({ message }) => this.told.push(`trouble: ${message}`),
      onReading: ({ kind }) => {
        if (kind !== "known") this.told.push(kind);
      },
      onSilence: (_, failures) => this.told.push(`silence ${failures}`),
      ...some,
    }).catch((error: unknown) => error);
    await this.clock.advance(1);
  }

  /** Lets time pass, and returns what was done meanwhile. */
  async after(ms: number): Promise<readonly string[]> {
    await this.clock.advance(ms);
    return this.host.takeCalls();
  }

  /** Ends it, and returns what it threw. */
  async end(): Promise<unknown> {
    this.#stop.abort();
    return await this.#end;
  }
}

describe("keepHost", () => {
  test("adds what the node asks for, tells the neighbours, and then has nothing to do", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(`${OTHER},${IP}`);
    await kept.begin();
    expect(kept.host.takeCalls()).toEqual([
      ...[`add ${IP} eth0`, `announce ${IP} eth0`, `add ${OTHER} eth0`, `announce ${OTHER} eth0`],
    ]);
    expect(await kept.after(60_000)).toEqual([]);
    expect(await kept.end()).toBeUndefined();
    expect(kept.host.takeCalls()).toEqual([]);
    expect(kept.host.addresses.map(({ ip }) => ip)).toEqual([IP, OTHER]);
  });

  test("follows the node at once, and removes what it asks for no longer", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    await kept.begin();
    kept.host.takeCalls();
    kept.node.become(annotated(OTHER));
    expect(await kept.after(1)).toEqual([`add ${OTHER} eth0`, `announce ${OTHER} eth0`, `remove ${IP} eth0`]);
    kept.node.become({ kind: "known" });
    expect(await kept.after(1)).toEqual([`remove ${OTHER} eth0`]);
    await kept.end();
  });

  test("puts back within five seconds what somebody took away", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    await kept.begin();
    kept.host.takeCalls();
    kept.host.addresses = [];
    expect(await kept.after(4990)).toEqual([]);
    expect(await kept.after(20)).toEqual([`add ${IP} eth0`, `announce ${IP} eth0`]);
    await kept.end();
  });

  test("changes nothing before the node was read once, whatever is on the host", async () => {
    const kept = new Kept();
    kept.node.reading = unreachable();
    kept.host.addresses = [present(IP, "eth0", true)];
    await kept.begin();
    expect(await kept.after(300_000)).toEqual([]);
    kept.node.become(annotated(OTHER));
    expect(await kept.after(1)).toEqual([`add ${OTHER} eth0`, `announce ${OTHER} eth0`, `remove ${IP} eth0`]);
    await kept.end();
  });

  test("keeps the addresses while the API server is away, puts them back, and asks it ever less often", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    await kept.begin();
    kept.host.takeCalls();
    kept.node.reading = unreachable();
    kept.node.reads = 0;
    expect(await kept.after(10_000)).toEqual([]);
    kept.host.addresses = [];
    expect(await kept.after(5000)).toEqual([`add ${IP} eth0`, `announce ${IP} eth0`]);
    expect(await kept.after(585_000)).toEqual([]);
    // 5 + 10 + 20 + 40 + 60 + 60 … seconds apart.
    expect(kept.node.reads).toBeGreaterThan(8);
    expect(kept.node.reads).toBeLessThan(16);
    await kept.end();
  });

  test("keeps the addresses of a node that was deleted, and goes by the one that comes in its place", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    await kept.begin();
    kept.host.takeCalls();
    kept.node.become({ kind: "missing" });
    expect(await kept.after(600_000)).toEqual([]);
    expect(kept.told).toContain("missing");
    kept.node.become({ kind: "known" });
    expect(await kept.after(1)).toEqual([`remove ${IP} eth0`]);
    await kept.end();
  });

  test("keeps the addresses while the annotation cannot be read", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    await kept.begin();
    kept.host.takeCalls();
    kept.node.become({ kind: "unreadable", part: "metadata.annotations" });
    expect(await kept.after(60_000)).toEqual([]);
    await kept.end();
  });

  test("goes on with the others when one address is refused, and tries it again", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(`${IP},${OTHER}`);
    kept.host.failures.set(`add ${IP} eth0`, refusal());
    await kept.begin();
    expect(kept.host.takeCalls()).toEqual([`add ${OTHER} eth0`, `announce ${OTHER} eth0`]);
    expect(kept.told).toContain("failed: RTNETLINK answers: Invalid argument");
    kept.host.failures.clear();
    expect(await kept.after(5000)).toEqual([`add ${IP} eth0`, `announce ${IP} eth0`]);
    await kept.end();
  });

  test("counts an address as there when only its neighbours could not be told", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    kept.host.failures.set(`announce ${IP} eth0`, refusal());
    await kept.begin();
    expect(kept.told).toEqual([`untold: ${IP}`, "done: 1"]);
    expect(kept.host.takeCalls()).toEqual([`add ${IP} eth0`]);
    expect(await kept.after(60_000)).toEqual([]);
    await kept.end();
  });

  test("waits for a host that cannot be read", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    kept.host.failures.set("read", refusal("it did not end within 10 s"));
    await kept.begin();
    expect(kept.told).toEqual(["trouble: it did not end within 10 s"]);
    kept.host.failures.clear();
    expect(await kept.after(5000)).toEqual([`add ${IP} eth0`, `announce ${IP} eth0`]);
    await kept.end();
  });

  test("ends when it may not change the host", async () => {
    const kept = new Kept();
    kept.node.reading = annotated(IP);
    kept.host.failures.set(`add ${IP} eth0`, new ConfigError("permission", "NET_ADMIN is missing"));
    await kept.begin();
    expect(await kept.end()).toMatchObject({ kind: "permission" });
  });

  test("ends when it may not read the node and never could, and goes on when it once could", async () => {
    const never = new Kept();
    never.node.reading = unreachable("forbidden");
    await never.begin();
    expect(await never.end()).toMatchObject({ failure: "forbidden" });
    const once = new Kept();
    once.node.reading = annotated(IP);
    await once.begin();
    once.node.reading = unreachable("forbidden");
    await once.after(60_000);
    expect(await once.end()).toBeUndefined();
  });

  test("without a node it removes what is its own, and what comes later", async () => {
    const kept = new Kept();
    kept.host.addresses = [present(IP, "eth0", true), present(OTHER, "eth0", false)];
    await kept.begin({ node: undefined } as unknown as Partial<HostKeeping>);
    expect(kept.host.takeCalls()).toEqual([`remove ${IP} eth0`]);
    kept.host.addresses.push(present(IP, "eth0", true));
    expect(await kept.after(5000)).toEqual([`remove ${IP} eth0`]);
    expect(kept.host.addresses).toEqual([present(OTHER, "eth0", false)]);
    await kept.end();
  });
});
