import { describe, expect, test } from "vitest";
import { NotSent, ProviderError } from "../../../src/model/errors.ts";
import type { RecordSetChange, RecordSetResult } from "../../../src/ports/providers.ts";
import { type HetznerProject, inProject } from "./project.ts";

const ZONE = { id: "example.com", name: "example.com" };
const WWW = "www.example.com";
const [A, B, C] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;

function state(rrset: object | undefined, zone: object = {}): object {
  return { zones: [{ name: "example.com", ttl: 600, rrsets: rrset === undefined ? [] : [rrset], ...zone }] };
}

const WWW_SET = { name: "www", ttl: 60, records: [{ value: A, comment: "the old one" }] };

async function write(
  { hetzner }: Pick<HetznerProject, "hetzner">,
  before: readonly string[],
  after: readonly string[],
  more: Partial<RecordSetChange> = {},
): Promise<RecordSetResult> {
  return await hetzner.dns.writeRecords(ZONE, WWW, { before, after: { addresses: after, ttlSeconds: 60 }, ...more });
}

async function failure(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`no ProviderError, but ${String(error)}`);
}

/** The records of `www` as the project holds them. */
function held({ sandbox }: HetznerProject): unknown {
  return sandbox.project().state.zones[0]?.rrsets.find(({ name }) => name === "www");
}

describe("a set of A records", () => {
  test("is replaced by one call, and keeps the comments of what stays", async () => {
    await inProject(state(WWW_SET), async (project) => {
      expect(await write(project, [A], [A, B])).toMatchObject({ kind: "written", records: { addresses: [A, B] } });
      expect(held(project)).toMatchObject({ records: [{ value: A, comment: "the old one" }, { value: B }] });
      const writes = project.calls.filter((call) => call.startsWith("POST"));
      expect(writes).toEqual(["POST /v1/zones/example.com/rrsets/www/A/actions/set_records 201"]);
    });
  });

  test("is made where there is none, with its TTL, and deleted where none is wanted", async () => {
    await inProject(state(undefined), async (project) => {
      expect(await write(project, [], [A])).toMatchObject({ kind: "written", records: { ttlSeconds: 60 } });
      expect(held(project)).toMatchObject({ type: "A", ttl: 60, records: [{ value: A }] });
      expect(await write(project, [A], [])).toMatchObject({ kind: "written", records: { addresses: [] } });
      expect(held(project)).toBeUndefined();
    });
  });

  test("without a TTL of its own has that of the zone, which is changed to the wanted one", async () => {
    await inProject(state({ ...WWW_SET, ttl: null }), async (project) => {
      const zone = (await project.hetzner.dns.findZone("example.com")) ?? ZONE;
      expect(await project.hetzner.dns.readRecords(zone, WWW)).toMatchObject({ ttlSeconds: 600 });
      expect((await write(project, [A], [A])).kind).toBe("written");
      expect(held(project)).toMatchObject({ ttl: 60 });
    });
  });

  test("of the zone itself stands under @", async () => {
    await inProject(state(undefined), async ({ hetzner, sandbox }) => {
      const change = { before: [], after: { addresses: [A], ttlSeconds: 60 } };
      expect((await hetzner.dns.writeRecords(ZONE, "example.com", change)).kind).toBe("written");
      expect(sandbox.project().state.zones[0]?.rrsets).toMatchObject([{ name: "@", type: "A" }]);
      expect(await hetzner.dns.readRecords(ZONE, "example.com")).toMatchObject({ addresses: [A] });
    });
  });

  test("that somebody else made meanwhile is not written over", async () => {
    await inProject(state(undefined), async (project) => {
      project.faults.add({
        server: "hetzner",
        method: "POST",
        path: "/rrsets$",
        status: 409,
        body: { error: { code: "uniqueness_error", message: "there is one" } },
      });
      expect((await write(project, [], [A])).kind).toBe("written");
      expect(project.calls.filter((call) => call.startsWith("POST")).map((call) => call.slice(-3))).toEqual([
        "409",
        "201",
      ]);
    });
  });

  test("of a zone that is busy is tried again, and in the end left to a later run", async () => {
    await inProject(state(WWW_SET), async (project) => {
      const body = { error: { code: "locked", message: "there is already an action running" } };
      const busy = { server: "hetzner", method: "POST", status: 423, body } as const;
      project.faults.add({ ...busy, times: 2 });
      expect((await write(project, [A], [B])).kind).toBe("written");
      project.faults.add({ ...busy, times: 0 });
      expect(await failure(write(project, [B], [C]))).toMatchObject({ failure: "busy", isAmbiguous: false });
      expect(held(project)).toMatchObject({ records: [{ value: B }] });
    });
  });

  test.for([
    ["locked", 423],
    ["conflict", 409],
  ] as const)("that somebody else changes while a change is refused as %s is left as it is", async ([code, status]) => {
    await inProject(state(WWW_SET), async (project) => {
      const body = { error: { code, message: "please retry" } };
      project.faults.add({ server: "hetzner", method: "POST", status, body });
      const [www] = project.sandbox.project().state.zones[0]?.rrsets ?? [];
      let asked = 0;
      const mayWrite = (): boolean => {
        asked += 1;
        if (asked === 1) www?.records.push({ value: C });
        return true;
      };
      expect(await write({ hetzner: project.again({ mayWrite }) }, [A], [B])).toMatchObject({
        kind: "stale",
        records: { addresses: [A, C] },
      });
      expect(held(project)).toMatchObject({ records: [{ value: A }, { value: C }] });
      expect(project.calls.filter((call) => call.startsWith("POST"))).toHaveLength(1);
    });
  });

  test("of a zone that is busy is not tried again where this run may not write any more", async () => {
    await inProject(state(WWW_SET), async (project) => {
      const body = { error: { code: "locked", message: "there is already an action running" } };
      project.faults.add({ server: "hetzner", method: "POST", status: 423, body });
      let asked = 0;
      const mayWrite = (): boolean => {
        asked += 1;
        return asked === 1;
      };
      await expect(write({ hetzner: project.again({ mayWrite }) }, [A], [B])).rejects.toThrow(NotSent);
      expect(held(project)).toMatchObject({ records: [{ value: A }] });
    });
  });

  test("of a zone that is busy between two requests gets its TTL all the same", async () => {
    await inProject(state({ ...WWW_SET, ttl: 300 }), async (project) => {
      const body = { error: { code: "locked", message: "there is already an action running" } };
      project.faults.add({ server: "hetzner", method: "POST", path: "/change_ttl$", status: 423, body });
      expect((await write(project, [A], [B])).kind).toBe("written");
      expect(held(project)).toMatchObject({ ttl: 60, records: [{ value: B }] });
      const writes = project.calls
        .filter((call) => call.startsWith("POST"))
        .map((call) => call.replace(/^.*actions./, ""));
      expect(writes).toEqual(["set_records 201", "change_ttl 423", "change_ttl 201"]);
    });
  });

  test("that another writer gave the desired addresses while the zone was busy is not written again", async () => {
    await inProject(state(WWW_SET), async (project) => {
      const body = { error: { code: "conflict", message: "changed during the request, please retry" } };
      project.faults.add({ server: "hetzner", method: "POST", status: 409, body, effect: true });
      expect((await write(project, [A], [B])).kind).toBe("written");
      expect(project.calls.filter((call) => call.startsWith("POST"))).toHaveLength(1);
    });
  });

  test("that is protected is left as it is, and the refusal says why", async () => {
    await inProject(state({ ...WWW_SET, protected: true }), async (project) => {
      const error = await failure(write(project, [A], [B]));
      expect(error).toMatchObject({ failure: "refused", status: 423, operation: "write", subject: WWW });
      expect(error.message).toContain("protected against changes");
    });
  });

  test("of a secondary zone is refused, and the refusal says why", async () => {
    await inProject(state(WWW_SET, { mode: "secondary" }), async (project) => {
      expect((await failure(write(project, [A], [B]))).message).toContain("not supported for zones in secondary mode");
    });
  });

  test("beside a CNAME is refused", async () => {
    await inProject(state({ name: "www", type: "CNAME", records: [{ value: "a.example." }] }), async (project) => {
      expect((await failure(write(project, [], [A]))).message).toContain("CNAME");
    });
  });

  test("whose change is accepted and never shown is doubtful", async () => {
    await inProject(state(WWW_SET), async (project) => {
      const action = { id: 7, command: "set_rrset_records", status: "running" };
      project.faults.add({ server: "hetzner", method: "POST", status: 201, body: { action } });
      const error = await failure(write(project, [A], [B]));
      expect(error).toMatchObject({ failure: "unavailable", isAmbiguous: true });
      expect(error.message).toContain(`it accepted the change and shows ${A}`);
    });
  });

  test("of more than 50 records is refused before anything is sent", async () => {
    await inProject(state(WWW_SET), async (project) => {
      const many = Array.from({ length: 51 }, (_, at) => `198.18.0.${at + 1}`);
      const { message } = await failure(write(project, [A], many));
      expect(message).toContain("takes 50 records for a name at most, and it would have 51");
      expect(project.calls.filter((call) => call.startsWith("POST"))).toEqual([]);
    });
  });

  test("ends between two requests where it may not go on", async () => {
    await inProject(state({ ...WWW_SET, ttl: 300 }), async (project) => {
      let asked = 0;
      const mayWrite = (): boolean => {
        asked += 1;
        return asked < 2;
      };
      await expect(write({ hetzner: project.again({ mayWrite }) }, [A], [B])).rejects.toThrow(NotSent);
      expect(held(project)).toMatchObject({ ttl: 300, records: [{ value: B }] });
    });
  });
});

describe("what is read", () => {
  test("of a zone that the project lacks says so, and that Hetzner has no zones of subdomains", async () => {
    await inProject({}, async ({ hetzner: { dns } }) => {
      expect(await dns.findZone("example.com")).toBeUndefined();
      const { message, failure: kind } = await failure(dns.readRecords(ZONE, WWW));
      expect(kind).toBe("not-found");
      expect(message).toContain("Hetzner has no zones of subdomains");
    });
  });

  test("of a name with an address that is none is a fault, and other names are listed all the same", async () => {
    const other = { name: "api", records: [{ value: B }] };
    const bad = { name: "www", records: [{ value: "not an address" }] };
    await inProject({ zones: [{ name: "example.com", rrsets: [bad, other] }] }, async ({ hetzner: { dns } }) => {
      expect(await failure(dns.readRecords(ZONE, WWW))).toMatchObject({ failure: "malformed" });
      const listed = await dns.listRecords(ZONE, 1);
      expect([...(listed?.names.keys() ?? [])]).toEqual(["api.example.com"]);
      expect([...(listed?.unclear ?? [])]).toEqual([WWW]);
    });
  });

  test("marks of external-dns are found, in quotes as Hetzner keeps them", async () => {
    const value = '"heritage=external-dns,external-dns/owner=prod"';
    const mark = { name: "a-www", type: "TXT", records: [{ value }] };
    await inProject({ zones: [{ name: "example.com", rrsets: [mark, WWW_SET] }] }, async ({ hetzner: { dns } }) => {
      expect(await dns.readTexts(ZONE, "a-www.example.com")).toEqual([{ fqdn: "a-www.example.com", text: value }]);
      const all = await dns.listTexts(ZONE, 1);
      expect(all?.names).toEqual(new Map([[WWW, new Set(["A"])]]));
    });
  });
});
