import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { manifestText } from "../../src/cli/manifests.ts";
import { SYSTEM_CLOCK } from "../../src/cli/system-clock.ts";
import { lostFields } from "../../src/doctor/crds.ts";
import { examine, wantedFacts } from "../../src/doctor/examine.ts";
import type { Answers, Reviewed } from "../../src/doctor/facts.ts";
import { gather, type Sources } from "../../src/doctor/gather.ts";
import {
  consequenceOf,
  grantedPermissions,
  installPermissions,
  sortPermissions,
} from "../../src/doctor/permissions.ts";
import { runsAnHour } from "../../src/doctor/runs.ts";
import { CHECK_CODES, CHECK_GROUPS, CHECKS } from "../../src/model/check.ts";
import { KubeError } from "../../src/model/errors.ts";
import { renderChecks } from "../../src/report/text/checks.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { invoke } from "../cli/invoke.ts";

const documents = (text: string): readonly unknown[] => [...parseAllDocuments(text)].map((one) => one.toJS());
const GRANTED = sortPermissions(grantedPermissions(documents(manifestText(["rbac", "watcher"])), "flipop", "flipop"));
const ALL = { only: [], skip: [], isBefore: false };
const OWN = {
  version: "0.1.0",
  lease: { namespace: "flipop", name: "flipop" },
  asker: "you",
  isWatchAsked: false,
  managedLabels: [],
};

test("every permission of the shipped manifest but watches has its own consequence", () => {
  const { reading, writing, leasing, watching } = GRANTED;
  expect([reading.length, writing.length, leasing.length, watching.length]).toEqual([13, 10, 3, 9]);
  const silent = [...reading, ...writing, ...leasing].filter((one) => consequenceOf(one) === undefined);
  expect(silent).toEqual([]);
});

test("what a viewer or a tenant may do is not asked for", () => {
  const verbs = Object.values(GRANTED).flat();
  expect(verbs.filter(({ verb }) => verb === "delete" || verb === "deletecollection")).toEqual([]);
});

test("the Lease is asked for by the name that it has, in its namespace", () => {
  const shipped = documents(manifestText(["rbac"], { namespace: "net" }));
  const { leasing } = sortPermissions(grantedPermissions(shipped, "flipop", "edge"));
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: "net" };
  expect(leasing).toEqual([
    { verb: "create", ...lease },
    { verb: "get", ...lease, name: "edge" },
    { verb: "update", ...lease, name: "edge" },
  ]);
});

test("whoever installs must be able to create each kind of the manifest", () => {
  const names = installPermissions(documents(manifestText())).map(({ group, resource }) => `${resource}.${group}`);
  expect(names.toSorted()).toEqual([
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "cronjobs.batch",
    "customresourcedefinitions.apiextensions.k8s.io",
    "namespaces.",
    "networkpolicies.networking.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "serviceaccounts.",
  ]);
});

test("what is to be deleted of the Go operator is none of what runs of flipop need, but the Deployment", () => {
  const kinds = documents(manifestText(["rbac", "watcher"])).flatMap((one) => {
    const { kind, metadata } = one as { readonly kind: string; readonly metadata: { readonly name: string } };
    return metadata.name === "flipop" ? [kind] : [];
  });
  expect(kinds.filter((kind) => ["Deployment", "Role", "RoleBinding"].includes(kind))).toEqual(["Deployment"]);
});

test("a Deployment looks every minute, and without anything there are no runs", () => {
  const workload = { name: "flipop", isSuspended: false, image: "" };
  expect(runsAnHour([{ ...workload, kind: "Deployment", schedule: "" }])).toBe(60);
  expect(runsAnHour([{ ...workload, kind: "CronJob", schedule: "*/10 * * * *" }])).toBe(6);
  expect(runsAnHour([])).toBe(0);
});

test("a field is lost where the other schema drops it, however deep", () => {
  const text = { type: "string" };
  const wanted = {
    properties: { a: text, b: { items: { properties: { c: text, d: text } } }, e: { additionalProperties: text } },
  };
  expect(lostFields(wanted, wanted)).toEqual([]);
  expect(lostFields(wanted, { "x-kubernetes-preserve-unknown-fields": true })).toEqual([]);
  expect(lostFields(wanted, { properties: { a: text, b: { items: { properties: { c: text } } }, e: {} } })).toEqual([
    "b.*.d",
    "e.*",
  ]);
  expect(lostFields(wanted, undefined)).toEqual(["a", "b", "e"]);
});

const reviewed = (isAllowed: boolean, names: readonly (keyof typeof GRANTED)[]): readonly Reviewed[] =>
  names.flatMap((name) => GRANTED[name]).map((permission) => ({ permission, isAllowed }));
const known = <T>(value: T) => ({ ms: 1, value });
const SERVER = known({ version: "v1.33.2", roundTripMs: 12, nowMs: 0, aheadMs: 0 });
const CLUSTER: Answers = {
  own: known(OWN),
  connection: known({ source: "context prod", server: "https://prod.example" }),
  server: SERVER,
};

test.for([
  ["FLP121", "reading"],
  ["FLP122", "writing"],
  ["FLP123", "leasing"],
] as const)("%s names each permission that is missing, with what follows", ([code, name]) => {
  const answers: Answers = {
    ...CLUSTER,
    reading: known(reviewed(name !== "reading", ["reading"])),
    writing: known(reviewed(name !== "writing", ["writing"])),
    leasing: known(reviewed(name !== "leasing", ["leasing"])),
    watching: known(reviewed(true, ["watching"])),
    workloads: known([]),
  };
  const { findings } = examine({ ...ALL, only: ["permissions"] }, answers);
  const wrong = findings.filter(({ result }) => result === "error");
  expect(wrong.map((one) => one.code)).toEqual(GRANTED[name].map(() => code));
  expect(wrong.every(({ consequence }) => consequence !== undefined)).toBe(true);
});

test("what is missing is told with its consequence, its command and its code", () => {
  const only = GRANTED.writing.filter(({ resource }) => resource === "nodes");
  const answers = { ...CLUSTER, writing: known(only.map((permission) => ({ permission, isAllowed: false }))) };
  const chosen = { only: ["permissions"], skip: ["FLP121", "FLP123", "FLP124"], isBefore: false } as const;
  expect(renderChecks(examine(chosen, answers), { palette: PLAIN, wide: false })).toBe(
    "permissions  ! FLP122 you may not patch nodes\n" +
      "                      Annotations are not written; record sets of reserved addresses publish nothing. Apply the roles of this version.\n" +
      "                      flipop manifests --only rbac | kubectl apply -f -\n" +
      "\n1 failed.\n",
  );
});

test("on a narrow terminal what is found stands below its code, and no line is too long", () => {
  const only = GRANTED.writing.filter(({ resource }) => resource === "nodes");
  const answers = { ...CLUSTER, writing: known(only.map((permission) => ({ permission, isAllowed: false }))) };
  for (const width of [40, 53, 54, 80]) {
    const printed = renderChecks(examine(ALL, answers), { palette: PLAIN, wide: true, width });
    // A name of a file or a variable is longer than the line.
    const words = (line: string): number => line.trim().split(" ").length;
    expect(printed.split("\n").filter((line) => line.length > width && words(line) > 1)).toEqual([]);
    const text = "you may not patch nodes";
    expect(printed).toContain(width < 54 ? `! FLP122\n    ${text}\n` : `! FLP122 ${text}\n`);
  }
});

test("what rests on a failed check is not made, and only what is chosen is read", () => {
  const answers: Answers = { own: known(OWN), connection: { ms: 1, error: "There is no kubeconfig." } };
  const { findings } = examine(ALL, answers);
  expect(findings.filter(({ result }) => result === "error").map(({ code }) => code)).toEqual(["FLP101"]);
  expect(
    findings.filter(({ code }) => code !== "FLP101" && CHECKS[code].after.includes("FLP101")).map((one) => one.result),
  ).not.toContain("error");
  expect(wantedFacts({ ...ALL, only: ["others"] })).toEqual(
    new Set(["operatorLeases", "operatorDeployments", "server", "own", "connection"]),
  );
});

test("before flipop is installed nothing is asked that an installation answers", () => {
  const facts = wantedFacts({ only: [], skip: [], isBefore: true });
  expect(facts).toEqual(
    new Set(["connection", "server", "installing", "own", "accounts", "operatorLeases", "operatorDeployments"]),
  );
});

test("a fact that does not come within its time is not known, and a bug is not hidden", async () => {
  const never = { read: () => new Promise<never>(() => undefined) };
  const sources = {
    lease: never,
    namesakes: { read: () => Promise.reject(new TypeError("bug")) },
  } as unknown as Sources;
  expect(await gather(sources, new Set(["lease"]), SYSTEM_CLOCK, 20)).toMatchObject({
    lease: { error: "there was no answer within 0.02 s" },
  });
  await expect(gather(sources, new Set(["namesakes"]), SYSTEM_CLOCK)).rejects.toThrow("bug");
  const facts = { failure: "forbidden", operation: "", subject: "", status: 403, message: "You may not." } as const;
  const refused = { lease: { read: () => Promise.reject(new KubeError(facts)) } } as unknown as Sources;
  expect(await gather(refused, new Set(["lease"]), SYSTEM_CLOCK)).toMatchObject({ lease: { error: "You may not." } });
});

test("every code belongs to a group, rests on earlier codes only, and says what to do", () => {
  expect(CHECK_CODES.toSorted()).toEqual(CHECK_CODES);
  for (const code of CHECK_CODES) {
    const { group, after, text, consequence, hint } = CHECKS[code];
    expect(CHECK_GROUPS).toContain(group);
    for (const before of after) expect(before < code).toBe(true);
    for (const sentence of [text, consequence, hint]) expect(sentence).toMatch(/^\S.*\.$/);
  }
});

test.for([
  [["--only", "nothing"], "There is no nothing."],
  [["--only", "cluster,name"], "Did you mean names?"],
  [["--skip", "FLP999"], "FLP191"],
  [["--skip", ""], "There is no empty name."],
  [["--fail-on", "unknown"], "error, warning"],
  [["web"], "too many arguments"],
] as const)("%s is refused with what may be given", async ([args, hint]) => {
  const { exitCode, stderr, stdout } = await invoke(["doctor", ...args]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(hint.replace("too many", "Too many"));
});

test("help tells of every check, and more of one", async () => {
  const { stdout } = await invoke(["help", "checks"]);
  for (const code of CHECK_CODES) expect(stdout).toMatch(new RegExp(`^${code} `, "m"));
  const one = await invoke(["help", "flp122"]);
  expect(one.stdout.replace(/\s+/g, " ")).toContain(CHECKS.FLP122.hint);
});

const ACCOUNT = {
  provider: "digitalocean",
  label: "DigitalOcean",
  about: ["address", "firewall"],
  missing: [],
  probes: [{ what: "reserved addresses" }],
};
const OBJECTS = { pools: [], routedIPs: [], recordSets: [], issuers: [] };
const ref = { kind: "pool", namespace: "ingress", name: "web" };
const planned = (plan: object, calls = 0): Answers =>
  ({
    ...CLUSTER,
    definitions: known([]),
    objects: known(OBJECTS),
    accounts: known([{ ...ACCOUNT, rateLimit: { limit: 5000, remaining: 10, windowMs: 3_600_000 } }]),
    workloads: known([{ kind: "CronJob", name: "flipop", isSuspended: false, schedule: "* * * * *", image: "" }]),
    plan: known({
      plan: { pools: [{ object: ref, skipped: [] }], recordSets: [], holds: [], gaps: [], ...plan },
      observation: { pools: [{ spec: {}, firewall: {} }] },
      calls: new Map([["digitalocean", calls]]),
    }),
  }) as unknown as Answers;
const resultsOf = (code: (typeof CHECK_CODES)[number], answers: Answers): readonly string[] =>
  examine(ALL, answers)
    .findings.filter((finding) => finding.code === code)
    .map(({ result }) => result);

test("why several checks cannot be made is told by the first of them, and the others name it", () => {
  const why = "Cannot list nodes: not permitted.";
  const answers: Answers = { ...planned({}), plan: { ms: 1, error: why }, machines: { ms: 1, error: why } };
  const { findings } = examine(ALL, answers);
  const first = findings.filter(({ message }) => message === "Cannot list nodes: not permitted");
  expect(first.map(({ result }) => result)).toEqual(["unknown"]);
  const others = findings.filter(({ message }) => message === `for the same reason as ${first[0]?.code}`);
  expect(others.length).toBeGreaterThan(5);
  expect(new Set(others.map(({ result }) => result))).toEqual(new Set(["unknown"]));
});

test("the rate limit has room for the runs of its time, or it is told", () => {
  expect(resultsOf("FLP146", planned({}, 83))).toEqual(["success"]);
  expect(resultsOf("FLP146", planned({}, 84))).toEqual(["warning"]);
});

test("a token that is not set is told otherwise than one whose file is empty", () => {
  const emptyFile = "the token file /run/t that HCLOUD_TOKEN_FILE names is empty";
  const said = (own: object): readonly unknown[] => {
    const account = { ...ACCOUNT, missing: ["HCLOUD_TOKEN", "HCLOUD_TOKEN_FILE"], ...own };
    const answers = { ...planned({}), accounts: known([account]) } as unknown as Answers;
    return examine(ALL, answers).findings.flatMap(({ code, message, hint }) =>
      code === "FLP141" ? [`${message}. ${hint}`] : [],
    );
  };
  expect(said({})).toEqual(["there is no token for DigitalOcean. Set HCLOUD_TOKEN or HCLOUD_TOKEN_FILE."]);
  expect(said({ emptyFile })).toEqual([`there is no token for DigitalOcean: ${emptyFile}. Write the token into it.`]);
});

test("a machine that the provider does not know is told for each node", () => {
  const machine = { provider: "digitalocean", nodeName: "n1", machineID: "1" };
  const asked = (own: object, count = 1): Answers =>
    ({ ...planned({}), machines: known({ asked: [{ ...machine, ...own }], count }) }) as unknown as Answers;
  const said = (answers: Answers): readonly string[] =>
    examine(ALL, answers).findings.flatMap(({ code, result, message }) =>
      code === "FLP154" ? [`${result} ${message}`] : [],
    );
  expect(said(asked({ isKnown: false }))).toEqual(["error digitalocean does not know machine 1 of n1"]);
  expect(said(asked({ isKnown: true }))).toEqual(["success every machine is known"]);
  expect(said(asked({ isKnown: true }, 4))).toEqual(["success the 1 machine that was asked about, of 4, is known"]);
  expect(said(asked({ error: "it did not answer" }))).toEqual(["unknown n1: it did not answer"]);
});

test.for([
  ["InvalidIP", "assign-ip", "203.0.113.300"],
  ["DuplicateIP", "assign-ip", "203.0.113.1"],
  ["InvalidDNS", "update-dns", "www..example.com"],
] as const)("what is held for %s is told as invalid, once, and with its subject", ([reason, kind, subject]) => {
  const hold = { kind, reason, object: ref, subject, detail: "not what it has to be", needsPerson: true };
  const seen = (ofSpecs: readonly unknown[], ofWorld: readonly unknown[]): Answers =>
    ({ ...planned({ holds: ofWorld }), specs: known({ holds: ofSpecs }) }) as unknown as Answers;
  for (const answers of [seen([hold], []), seen([], [hold]), seen([hold], [hold])]) {
    const { findings } = examine(ALL, answers);
    const told = findings.filter(({ message, result }) => result === "error" && message.includes(subject));
    expect(told.map(({ code }) => code)).toEqual(["FLP113"]);
  }
});

test("a firewall without room is told", () => {
  const hold = { kind: "open-ports", reason: "FirewallFull", object: ref, subject: "", detail: "", needsPerson: true };
  expect(resultsOf("FLP172", planned({ holds: [hold] }))).toEqual(["error"]);
  expect(resultsOf("FLP172", planned({}))).toEqual(["success"]);
});

test.for([
  ["an address", ["address"], "2604:a880:5:1::f0", ["unknown", "success", "success"]],
  ["a name", ["name"], "www.example.net", ["success", "unknown", "success"]],
  ["a firewall", ["firewall"], "firewall f1", ["success", "success", "unknown"]],
  ["an account", ["address", "firewall"], "", ["unknown", "success", "unknown"]],
] as const)("%s that cannot be read leaves open only what is about it", ([, about, subject, results]) => {
  const gap = { provider: "digitalocean", about, subject, error: "it did not answer" };
  const codes = ["FLP151", "FLP161", "FLP171"] as const;
  const object = { object: { kind: "recordset", namespace: "ingress", name: "www" }, skipped: [] };
  const answers = planned({ gaps: [gap], recordSets: [object] });
  expect(codes.flatMap((code) => resultsOf(code, answers))).toEqual(results);
});

const TOKENLESS = { ...ACCOUNT, missing: ["HCLOUD_TOKEN"], probes: [] };

test.for<[string, readonly object[], readonly (readonly string[])[]]>([
  [
    "one of two for addresses",
    [ACCOUNT, { ...TOKENLESS, provider: "hetzner", label: "Hetzner Cloud", about: ["address"] }],
    [["success", "skipped Hetzner Cloud: not looked at, because of FLP141"], ["success"], ["success"]],
  ],
  [
    "the only one for names",
    [ACCOUNT, { ...TOKENLESS, provider: "cloudflare", label: "Cloudflare", about: ["name"] }],
    [["success"], ["skipped not looked at, because of FLP141"], ["success"]],
  ],
  [
    "the only one",
    [TOKENLESS],
    [["skipped not looked at, because of FLP141"], ["success"], ["skipped not looked at, because of FLP141"]],
  ],
  [
    "one of two that do not answer",
    [
      { ...ACCOUNT, probes: [{ what: "firewalls", failure: { kind: "failed", message: "503" } }] },
      { ...TOKENLESS, provider: "hetzner", label: "Hetzner Cloud", about: ["address"] },
    ],
    [
      [
        "skipped DigitalOcean: not looked at, because of FLP142",
        "skipped Hetzner Cloud: not looked at, because of FLP141",
      ],
      ["success"],
      ["skipped not looked at, because of FLP142"],
    ],
  ],
])("a provider without a token, %s, leaves open only what is about it", ([, accounts, expected]) => {
  const of = (provider: string, about: readonly string[]) => ({ provider, about, subject: "", error: "set a token" });
  const gaps = (accounts as readonly (typeof ACCOUNT)[])
    .filter(({ missing }) => missing.length > 0)
    .map(({ provider, about }) => of(provider === "hetzner" ? "hetzner IPv6" : provider, about));
  const object = { object: { kind: "recordset", namespace: "ingress", name: "www" }, skipped: [] };
  const answers = { ...planned({ gaps, recordSets: [object] }), accounts: known(accounts) } as unknown as Answers;
  const said = (code: string): readonly string[] =>
    examine(ALL, answers)
      .findings.filter((finding) => finding.code === code)
      .map(({ result, message }) => (result === "success" ? result : `${result} ${message}`));
  expect(["FLP151", "FLP161", "FLP171"].map(said)).toEqual(expected);
});

test("a write that was refused for its scope is told, and none is not known", () => {
  const retries = [
    {
      subject: "ip/203.0.113.10",
      attempts: 1,
      nextAttemptTime: "",
      error: "It is not allowed (403). Give the token the scope reserved_ip:update.",
    },
  ];
  const objects = known({ ...OBJECTS, pools: [{ status: { retries } }] });
  expect(resultsOf("FLP144", { ...planned({}), objects } as unknown as Answers)).toEqual(["error"]);
  expect(resultsOf("FLP144", planned({}))).toEqual(["unknown"]);
});

test("watches are looked at where a Deployment watches, or is to", () => {
  const answers: Answers = { ...CLUSTER, watching: known(reviewed(false, ["watching"])), workloads: known([]) };
  expect(resultsOf("FLP124", answers)).toEqual(["skipped"]);
  const asked = { ...answers, own: known({ ...OWN, isWatchAsked: true }) };
  expect(new Set(resultsOf("FLP124", asked))).toEqual(new Set(["error"]));
  const blind = { ...asked, workloads: { ms: 1, error: "Cannot list cronjobs." } };
  expect(new Set(resultsOf("FLP124", blind))).toEqual(new Set(["error"]));
  expect(resultsOf("FLP124", { ...answers, workloads: blind.workloads })).toEqual(["unknown"]);
});

test.for([
  [
    { by: "ana", why: "maintenance", sinceMs: -60_000, untilMs: 600_000 },
    "pool/ingress/web is suspended until 00:10:00 UTC (in 10m), for 1m: by ana (maintenance)",
  ],
  [{ by: "ana", why: "" }, "pool/ingress/web is suspended without an end: by ana (no reason given)"],
] as const)("a suspended object is told with who, why and until when", ([suspension, message]) => {
  const meta = { namespace: "ingress", name: "web", suspension };
  const objects = known({ ...OBJECTS, pools: [{ meta, spec: { suspend: false }, status: { retries: [] } }] });
  const answers = { ...planned({}), objects, lease: known({ record: undefined }) } as unknown as Answers;
  const { findings } = examine(ALL, answers);
  expect(findings.find(({ code }) => code === "FLP135")).toMatchObject({
    message,
    command: "flipop resume pool/ingress/web",
  });
});

const NAME = {
  object: ref,
  fqdn: "www.example.com",
  provider: "digitalocean",
  writtenTTL: 60,
  acceptedTTL: 60,
  records: {
    fqdn: "www.example.com",
    addresses: ["203.0.113.1", "203.0.113.10"],
    ttlSeconds: 60,
    isTTLAutomatic: false,
    hasDuplicates: false,
  },
  isAtRest: true,
  beside: { hasCNAME: false },
};
const PUBLIC = ["203.0.113.10", "203.0.113.1"];

test.for([
  ["FLP163", {}, []],
  [
    "FLP163",
    { acceptedTTL: 30, writtenTTL: 5 },
    ["warning pool/ingress/web: ttl: 5 of www.example.com is raised to 30 at digitalocean"],
  ],
  [
    "FLP163",
    { acceptedTTL: 86_400, writtenTTL: 99_999 },
    ["warning pool/ingress/web: ttl: 99999 of www.example.com is lowered to 86400 at digitalocean"],
  ],
  [
    "FLP163",
    { records: { ...NAME.records, ttlSeconds: 300 } },
    ["warning pool/ingress/web: the records of www.example.com have a TTL of 300 s, not 60 s"],
  ],
  ["FLP163", { isAtRest: false, records: { ...NAME.records, ttlSeconds: 300 } }, []],
  ["FLP163", { records: { ...NAME.records, isTTLAutomatic: true, addresses: [] } }, []],
  [
    "FLP164",
    { beside: { owner: { mark: "www.example.com" } } },
    ["error www.example.com carries the TXT record of external-dns"],
  ],
  [
    "FLP164",
    { beside: { owner: { mark: "a-www.example.com", isEncrypted: true } } },
    ["error www.example.com has beside it the TXT record a-www.example.com of external-dns, encrypted"],
  ],
  ["FLP164", { beside: { error: "it did not answer" } }, ["unknown www.example.com: it did not answer"]],
  ["FLP165", { beside: { error: "it did not answer" } }, ["unknown www.example.com: it did not answer"]],
  ["FLP165", { beside: {} }, ["unknown www.example.com: its zone is too long to look for a CNAME"]],
  ["FLP165", { beside: { hasCNAME: true } }, ["error www.example.com is a CNAME"]],
  ["FLP166", {}, []],
  ["FLP166", { records: { ...NAME.records, isTTLAutomatic: true, addresses: ["192.0.2.1"] } }, []],
  [
    "FLP166",
    { records: { ...NAME.records, addresses: ["192.0.2.1"] } },
    ["warning www.example.com answers 203.0.113.10, 203.0.113.1; digitalocean has 192.0.2.1"],
  ],
  [
    "FLP166",
    { records: { ...NAME.records, addresses: [] } },
    ["warning www.example.com answers 203.0.113.10, 203.0.113.1; digitalocean has no address"],
  ],
  ["FLP166", { fqdn: "web.example.com" }, ["unknown web.example.com: nobody was asked"]],
] as const)("%s of a name with %j", ([code, change, said]) => {
  const answers = {
    ...planned({}),
    names: known([{ ...NAME, ...change }]),
    answers: known(new Map([["www.example.com", { addresses: PUBLIC }]])),
  } as unknown as Answers;
  const chosen = { ...ALL, skip: CHECK_CODES.filter((one) => one !== code) };
  const found = examine(chosen, answers).findings.filter(({ result }) => result !== "success");
  expect(found.map(({ result, message }) => `${result} ${message}`)).toEqual(said);
});

test("without a name there is nothing to look at", () => {
  const answers = { ...planned({}), names: known([]), answers: known(new Map()) } as unknown as Answers;
  for (const code of ["FLP163", "FLP164", "FLP165", "FLP166"] as const)
    expect(resultsOf(code, answers)).toEqual(["skipped"]);
});

test("where nothing runs by itself the command that installs it names the image that it needs", () => {
  const answers: Answers = { ...CLUSTER, workloads: known([]) };
  const findings = examine(ALL, answers).findings.filter(({ code }) => code === "FLP133");
  expect(JSON.stringify(findings)).toContain("flipop manifests --image IMAGE | kubectl apply -f -");
});

test("what keeps chosen checks from being made is told although it was not chosen, unless it is skipped", () => {
  const chosen = { only: ["names"], skip: [], isBefore: false } as const;
  const answers: Answers = {
    ...CLUSTER,
    definitions: known([]),
    accounts: { ms: 5000, error: "no answer within 5 s" },
  };
  const told = (skip: readonly "FLP141"[]): readonly string[] => [
    ...new Set(examine({ ...chosen, skip }, answers).findings.map(({ code, message }) => `${code} ${message}`)),
  ];
  expect(told([])).toEqual([
    "FLP141 no answer within 5 s",
    ...["FLP161", "FLP162", "FLP163", "FLP164", "FLP165", "FLP166"].map(
      (code) => `${code} not looked at, because of FLP141`,
    ),
  ]);
  expect(told(["FLP141"])[0]).toMatch(/^FLP161 /);
});
