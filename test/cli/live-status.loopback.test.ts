import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Document, isMap, parseAllDocuments } from "yaml";
import { type AnswerRecord, serveDNS } from "../../src/sandbox/dns-server.ts";
import { type Fault, FaultList } from "../../src/sandbox/faults.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { startSandbox } from "../../src/sandbox/start.ts";
import { envOf } from "../doctor/world.ts";
import { schemaErrors } from "../report/schemas.ts";
import { type Printed, realCommand } from "./real-command.ts";
import { withoutWaiting } from "./without-waiting.ts";

const root = mkdtempSync(join(tmpdir(), "flipop-live-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A world in which a run has just ended well. */
const QUIET = join(root, "quiet");
beforeAll(async () => {
  const { exitCode } = await realCommand(["--sandbox", QUIET, "reconcile"], { identity: "live" });
  expect(exitCode).toBe(0);
});

let count = 0;

/** How a world is made otherwise than the quiet one, and asked. */
interface Otherwise {
  /** File → change of each of its documents. */
  readonly files?: Readonly<Record<string, (document: Document) => void>>;
  readonly faults?: readonly Fault[];
  /** What DNS answers, where it is not what the accounts have. */
  readonly answers?: readonly AnswerRecord[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Asked extends Printed {
  readonly calls: readonly RecordedCall[];
}

async function ask(argv: readonly string[], { files = {}, faults = [], answers, env }: Otherwise = {}): Promise<Asked> {
  count += 1;
  const dir = join(root, `world-${count}`);
  cpSync(QUIET, dir, { recursive: true });
  for (const [file, change] of Object.entries(files)) {
    const documents = parseAllDocuments(readFileSync(join(dir, file), "utf8")) as Document[];
    for (const document of documents) if (isMap(document.contents)) change(document);
    writeFileSync(join(dir, file), documents.map(String).join("---\n"));
  }
  const list = new FaultList();
  for (const fault of faults) list.add(fault);
  const calls: RecordedCall[] = [];
  const sandbox = await startSandbox({ dir, faults: list, onCall: (call) => void calls.push(call) });
  const dns = answers === undefined ? undefined : await serveDNS(() => answers, undefined);
  const { FLIPOP_RESOLVER } = envOf(sandbox);
  try {
    const all = { ...envOf(sandbox), FLIPOP_RESOLVER: dns?.address ?? FLIPOP_RESOLVER, ...env };
    const printed = await realCommand(argv, { env: all, identity: "live" });
    return { ...printed, stderr: withoutWaiting(printed.stderr), calls };
  } finally {
    await Promise.all([sandbox.close(), dns?.close()]);
  }
}

/** The part of the document that tests look at. */
interface LiveDocument {
  readonly live: {
    readonly objects: readonly {
      readonly addresses: readonly { readonly ip: string; readonly live: { readonly answered: readonly unknown[] } }[];
    }[];
    readonly differences: readonly { readonly message: string; readonly isDue: boolean; readonly why: string }[];
    readonly unread: readonly { readonly subjects: readonly string[]; readonly message: string }[];
  };
}

function documentOf({ stdout }: Printed): LiveDocument {
  const document = JSON.parse(stdout);
  expect(schemaErrors(document, "Status")).toEqual([]);
  return document;
}

const isNamed = (name: string) => (document: Document) => document.getIn(["metadata", "name"]) === name;

/** Sets the machine of a reserved address. */
const attach = (ip: string, machine: number | null) => (document: Document) => {
  const list = document.toJS().reserved_ips as readonly { ip: string }[];
  document.setIn(["reserved_ips", list.findIndex((one) => one.ip === ip), "droplet_id"], machine);
};

const droplet = (id: number) => (document: Document) =>
  document.addIn(["droplets"], {
    id,
    name: `other-${id}`,
    region: "nyc3",
    public_ip: "192.0.2.99",
    private_ip: "10.0.0.99",
  });

const WWW = ["203.0.113.10", "203.0.113.11", "203.0.113.12"];
const NODES = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"];
const a = (fqdn: string, address: string): AnswerRecord => ({ fqdn, address, ttl: 60 });
const ALL = [...WWW.map((ip) => a("www.example.com", ip)), ...NODES.map((ip) => a("nodes.example.net", ip))];

test("with --live status tells that everybody agrees, from reads alone, each made once", async () => {
  const { calls, exitCode, stdout, stderr } = await ask(["status", "--live", "--check"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain("203.0.113.10   active worker-1   =          =            yes      1 of 1 server\n");
  expect(stdout).toContain("192.0.2.5   published   yes      1 of 1 server\n");
  expect(stdout.endsWith("\nEverything is as status says.\n")).toBe(true);
  expect(calls.filter(({ method }) => method !== "GET")).toEqual([]);
  const ofProviders = calls
    .filter(({ server }) => server !== "kubernetes")
    .map(({ server, path }) => `${server} ${path}`);
  expect(new Set(ofProviders).size).toBe(ofProviders.length);
  // As many as one run that finds nothing to do.
  const run = await ask(["reconcile"]);
  expect(ofProviders.length).toBe(run.calls.filter(({ server }) => server !== "kubernetes").length);
});

describe("with --live status tells what differs where", () => {
  const cases: readonly (readonly [
    title: string,
    otherwise: Otherwise,
    wanted: readonly string[],
    /** What --check ends with. */
    checked: 0 | 6,
  ])[] = [
    [
      "a foreign machine has an address",
      {
        files: {
          "digitalocean.yaml": (document) => {
            droplet(9001)(document);
            attach("203.0.113.10", 9001)(document);
          },
        },
      },
      ["203.0.113.10: status says worker-1, digitalocean says machine 9001, no node of this cluster"],
      6,
    ],
    [
      "an address was moved to another node",
      { files: { "digitalocean.yaml": attach("203.0.113.11", 1005) } },
      ["203.0.113.11: status says worker-2, digitalocean says worker-5"],
      0,
    ],
    [
      "an address was moved, and its pool is suspended",
      {
        files: {
          "digitalocean.yaml": attach("203.0.113.11", 1005),
          "pools.yaml": (document) => document.setIn(["spec", "suspend"], true),
        },
      },
      ["203.0.113.11: status says worker-2, digitalocean says worker-5"],
      6,
    ],
    [
      "an address was taken off its machine",
      { files: { "digitalocean.yaml": attach("203.0.113.11", null) } },
      ["203.0.113.11: status says worker-2, digitalocean says that it is on no machine"],
      0,
    ],
    [
      "an annotation was removed",
      {
        files: {
          "nodes.yaml": (document) => {
            if (isNamed("worker-3")(document)) document.deleteIn(["metadata", "annotations"]);
          },
        },
      },
      ["203.0.113.12: it is active on worker-3, and no node carries its annotation"],
      0,
    ],
    [
      "a record was removed, and another one made",
      {
        files: {
          "digitalocean.yaml": (document) => {
            const { records } = document.toJS().domains[0] as { records: readonly { data: string }[] };
            const at = records.findIndex(({ data }) => data === "203.0.113.12");
            document.setIn(["domains", 0, "records", at, "data"], "198.51.100.9");
          },
        },
      },
      [
        "www.example.com: status says that it shows 203.0.113.12, digitalocean does not",
        "www.example.com: digitalocean shows 198.51.100.9, which status does not say",
      ],
      0,
    ],
    [
      "the servers of a zone answer otherwise than its records",
      { answers: [...ALL.filter(({ address }) => address !== "203.0.113.12"), a("www.example.com", "198.51.100.9")] },
      [
        "www.example.com: SERVER answers 198.51.100.9, 203.0.113.10 and 203.0.113.11, the records have 203.0.113.10, 203.0.113.11 and 203.0.113.12",
      ],
      6,
    ],
    [
      "the servers of a zone know no such name",
      { answers: ALL.filter(({ fqdn }) => fqdn !== "nodes.example.net") },
      [`nodes.example.net: SERVER answers no address, the records have ${NODES.slice(0, -1).join(", ")} and 192.0.2.5`],
      6,
    ],
  ];
  test.for(cases)("%s", async ([, otherwise, wanted, checked]) => {
    const json = await ask(["status", "--live", "-o", "json"], otherwise);
    const { differences, unread } = documentOf(json).live;
    const told = differences.map(({ message }) => message.replace(/127\.0\.0\.1:\d+/, "SERVER"));
    expect({ told, unread, exitCode: json.exitCode }).toEqual({ told: wanted, unread: [], exitCode: 0 });
    expect(differences.every(({ isDue, why }) => isDue === (checked === 0) && why !== "")).toBe(true);
    const { exitCode, stderr, calls } = await ask(["status", "--live", "--check"], otherwise);
    const said = stderr.replaceAll(/127\.0\.0\.1:\d+/g, "SERVER");
    const lines = checked === 0 ? [] : wanted.map((text) => `flipop: ${text}\n`);
    expect({ exitCode, isSaid: said.startsWith(lines.join("")), isSilent: said === "" }).toEqual({
      exitCode: checked,
      isSaid: true,
      isSilent: checked === 0,
    });
    expect(calls.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("with --live status tells what could not be read, and --check ends with 6", () => {
  const cases: readonly (readonly [string, Otherwise, wanted: readonly (readonly [string, RegExp])[]])[] = [
    [
      "without a token",
      { env: { DIGITALOCEAN_ACCESS_TOKEN: undefined } },
      [["203.0.113.10, 203.0.113.11, 203.0.113.12, www.example.com", /DIGITALOCEAN_ACCESS_TOKEN/]],
    ],
    [
      "from a provider that is down",
      { faults: [{ server: "cloudflare", status: 503, times: 0, body: "down" }] },
      [["nodes.example.net", /503/]],
    ],
    [
      "from half a response",
      { faults: [{ server: "cloudflare", path: "dns_records", times: 0, cut: "middle" }] },
      [["nodes.example.net", /cloudflare/i]],
    ],
    [
      "from a DNS server that is not there",
      { env: { FLIPOP_RESOLVER: "127.0.0.1:1" } },
      [["www.example.com, nodes.example.net", /127\.0\.0\.1:1 did not answer: queryA ECONNREFUSED$/]],
    ],
  ];
  test.for(cases)("%s", async ([, otherwise, wanted]) => {
    const json = await ask(["status", "--live", "-o", "json"], otherwise);
    const { unread, differences } = documentOf(json).live;
    expect(json.exitCode).toBe(0);
    expect(differences).toEqual([]);
    expect(unread.map(({ subjects, message }) => [subjects.join(", "), message])).toEqual(
      wanted.map(([subjects, why]) => [subjects, expect.stringMatching(why)]),
    );
    const { exitCode, stderr } = await ask(["status", "--live", "--check"], otherwise);
    expect(exitCode).toBe(6);
    expect(stderr).toContain(": not known now: ");
  });
});

test("status --live needs the rights of plan, and refuses what cannot go with it", async () => {
  const denied = await ask(["status", "--live"], {
    faults: [
      {
        server: "kubernetes",
        path: "/nodes$",
        status: 403,
        times: 0,
        body: { kind: "Status", code: 403, message: "no" },
      },
    ],
  });
  expect(denied.exitCode).toBe(77);
  const refused: readonly (readonly [readonly string[], string])[] = [
    [["--live", "--watch"], "leave out --live or --watch."],
    [["--live", "--check", "--wait", "2m"], "leave out --live or --wait."],
    [["--live", "--from", "world.yaml"], "leave out --from or --live."],
    [["--live", "--resolver", "dns.example.com"], "Write an address, such as 9.9.9.9"],
  ];
  for (const [words, said] of refused) {
    const { exitCode, stderr } = await realCommand(["status", ...words], { identity: "live" });
    expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 64, stderr: expect.stringContaining(said) });
  }
  const unknown = await ask(["status", "--live", "pool/ingress/nobody"]);
  expect([unknown.exitCode, unknown.stdout]).toEqual([78, ""]);
});
