import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { manifestText } from "../../src/cli/manifests.ts";
import { OPERATOR_LEASE } from "../../src/doctor/others.ts";
import { CHECK_CODES, CHECKS } from "../../src/model/check.ts";
import { SHARDS_ANNOTATION } from "../../src/model/lease-annotations.ts";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { type AnswerRecord, type DNSServer, serveDNS } from "../../src/sandbox/dns-server.ts";
import { schemaErrors } from "../report/schemas.ts";
import { type Checks, cronJobText, leaseText, NOT_FOUND, saidOf, World, wrongOf } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = await World.open();
});

afterEach(() => world.close());

const OWN = { namespace: "flipop", name: "flipop" };
const CRD = "^/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const installed = (lease: string, cronJob: string = cronJobText()): void => world.install(cronJob, lease);
const recordSet = (name: string): string =>
  `metadata: { name: ${name}, namespace: ingress }\nspec: { provider: cloudflare, addressType: ExternalIP, dnsRecordSet: { zone: example.net, recordName: nodes }, match: { podNamespace: ingress, podLabel: app=web } }\n`;

function oldDefinition(): unknown {
  const [first] = parseAllDocuments(manifestText(["crds"])) as unknown as [{ toJS: () => Record<string, unknown> }];
  const definition = first.toJS() as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { status: { properties: object } } } } }[] };
  };
  for (const { schema } of definition.spec.versions)
    schema.openAPIV3Schema.properties.status.properties = { ips: { type: "object" } };
  return { ...definition, status: { conditions: [{ type: "Established", status: "True" }] } };
}

const ROUTED_IP =
  "metadata: { name: web, namespace: ingress }\nspec: { issuer: edge, serviceName: web, address: 203.0.113.99 }\n";

let gateway: Server | undefined;
const pushgateway = async (metrics: string): Promise<void> => {
  gateway = createServer((_, response) => response.end(metrics));
  await new Promise<void>((resolve) => gateway?.listen(0, "127.0.0.1", resolve));
  world.env["PUSHGATEWAY_URL"] = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
};

afterEach(async () => {
  await new Promise<void>((resolve) => (gateway === undefined ? resolve() : gateway.close(() => resolve())));
  gateway = undefined;
});

const MARK = '"heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web"';

let dns: DNSServer | undefined;
const publicDNS = async (records: readonly AnswerRecord[]): Promise<void> => {
  dns = await serveDNS(() => records, undefined);
  world.env["FLIPOP_RESOLVER"] = dns.address;
};

afterEach(async () => {
  await dns?.close();
  dns = undefined;
});

/** By code: how to make a world in which only that check fails. */
const WORLDS: Readonly<Record<string, () => void | Promise<void>>> = {
  FLP101: () => {
    world.env["KUBECONFIG"] = "/nonexistent/kubeconfig";
  },
  FLP102: () => world.faults.add({ server: "kubernetes", times: 0, cut: "before" }),
  FLP103: () => world.answer("^/version$", { gitVersion: "v1.26.9" }),
  FLP104: () => {
    world.aheadMs = 60_000;
  },
  FLP105: () => world.answer("^/api/v1/namespaces/flipop$", NOT_FOUND, 404),
  FLP111: () => world.answer(`${CRD}/routedipissuers`, NOT_FOUND, 404),
  FLP112: () => world.answer(`${CRD}/floatingippools`, oldDefinition()),
  FLP113: () => world.change("pools.yaml", "podLabel: app=web", "podLabel: app in ("),
  FLP131: () => installed(leaseText(OWN, "laptop_1", 60_000)),
  FLP132: () => installed(leaseText(OWN, "", 600_000)),
  FLP133: () => installed(leaseText(OWN, "", 1000), cronJobText("suspend: true")),
  FLP134: () => world.add("cluster.yaml", leaseText({ namespace: "ingress", name: "flipop" }, "", 1000)),
  FLP135: () => world.change("pools.yaml", "  region: nyc3", "  suspend: true\n  region: nyc3"),
  FLP136: () => world.change("pools.yaml", "  name: web", `  name: web\n  labels: { ${SHARD_LABEL}: vip }`),
  FLP137: () => {
    installed(leaseText(OWN, "", 1000, 15, { [SHARDS_ANNOTATION]: "1/3" }));
    world.add("cluster.yaml", leaseText({ ...OWN, name: "flipop-1-of-3" }, "", 1000));
  },
  FLP141: () => {
    world.env["CLOUDFLARE_TOKEN"] = undefined;
  },
  FLP142: () => world.answer("", { id: "unauthorized", message: "Unable to authenticate you" }, 401, "digitalocean"),
  FLP143: () => world.answer("^/v2/reserved_ips", { id: "forbidden", message: "not allowed" }, 403, "digitalocean"),
  FLP144: () =>
    world.change(
      "pools.yaml",
      "spec:",
      `status:
  retries:
    - subject: ip/203.0.113.12
      attempts: 1
      nextAttemptTime: "${new Date(Date.now() + 600_000).toISOString()}"
      error: It is not allowed (403). Give the token the scope reserved_ip:update.
spec:`,
    ),
  FLP145: () => {
    world.change("digitalocean.yaml", "reserved_ip_limit: 5", "reserved_ip_limit: 4");
    world.change("pools.yaml", "  region: nyc3", "  desiredIPs: 5\n  region: nyc3");
  },
  FLP146: () => world.change("digitalocean.yaml", "per_hour: 5000", "per_hour: 100"),
  FLP148: () => world.change("nodes.yaml", "region: nyc3 }", 'region: nyc3, doks.digitalocean.com/node-id: "1" }'),
  FLP151: () => world.change("pools.yaml", "    - 203.0.113.12", "    - 203.0.113.12\n    - 203.0.113.77"),
  FLP152: () => {
    world.change("pools.yaml", "    - 203.0.113.12", "    - 203.0.113.12\n    - 203.0.113.55");
    world.change(
      "digitalocean.yaml",
      "reserved_ips:",
      "reserved_ips:\n  - { ip: 203.0.113.55, region: nyc3, droplet_id: 1099 }",
    );
    world.change(
      "digitalocean.yaml",
      "droplets:",
      "droplets:\n  - { id: 1099, name: other, region: nyc3, public_ip: 192.0.2.99, private_ip: 10.0.0.99 }",
    );
  },
  FLP153: () =>
    world.add(
      "pools.yaml",
      "metadata: { name: zweb, namespace: ingress }\nspec: { provider: digitalocean, ips: [203.0.113.12], match: { podNamespace: ingress, podLabel: app=web } }\n",
    ),
  FLP154: () => world.change("digitalocean.yaml", "id: 1005", "id: 1905"),
  FLP155: () =>
    world.change(
      "nodes.yaml",
      "  labels: { topology.kubernetes.io/region: nyc3 }",
      '  labels: { topology.kubernetes.io/region: nyc3 }\n  annotations: { flipop.digitalocean.com/host-addresses: "203.0.113.10" }',
    ),
  FLP161: () => world.change("cloudflare.yaml", "name: example.net\n", "name: example.org\n"),
  FLP162: () => {
    world.add("dns.yaml", recordSet("znodes"));
  },
  FLP163: () => world.change("dns.yaml", "ttl: 60", "ttl: 5"),
  FLP164: () =>
    world.change(
      "digitalocean.yaml",
      "    records:",
      `    records:\n      - { type: TXT, name: www, data: '${MARK}' }`,
    ),
  FLP165: () =>
    world.change(
      "cloudflare.yaml",
      "    dns_records:",
      "    dns_records:\n      - { name: nodes, type: CNAME, content: example.com }",
    ),
  FLP166: () => publicDNS([{ fqdn: "www.example.com", address: "198.51.100.9", ttl: 60 }]),
  FLP171: () => {
    world.change("issuers.yaml", "routedIPFirewallName: web", "routedIPFirewallName: nobody");
    world.write("routed-ips.yaml", ROUTED_IP);
  },
  FLP172: () => {
    const rules = Array.from(
      { length: 47 },
      (_, at) => `      - { protocol: tcp, ports: ${at + 1}, sources: { addresses: [192.0.2.0/24] } }\n`,
    );
    world.change("digitalocean.yaml", "    inbound_rules:\n", `    inbound_rules:\n${rules.join("")}`);
    world.write("routed-ips.yaml", ROUTED_IP);
  },
  FLP181: () => {
    world.env["PUSHGATEWAY_URL"] = "http://127.0.0.1:1";
  },
  FLP182: () => pushgateway('push_time_seconds{instance="",job="flipop"} 1.7e+09\n'),
  FLP191: () =>
    world.add("cluster.yaml", leaseText({ namespace: "ingress", name: OPERATOR_LEASE }, "operator-1", 1000, 600)),
};

/** By a real API server, permission by permission; what is asked before flipop is installed has a test of its own. */
const ELSEWHERE = ["FLP121", "FLP122", "FLP123", "FLP124", "FLP125"];

test("every check has a world in which it fails", () => {
  expect([...Object.keys(WORLDS), ...ELSEWHERE].toSorted()).toEqual(CHECK_CODES);
});

test("nothing is wrong with a world in which all is well", async () => {
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined), examined.stdout).toEqual([]);
  expect(examined).toMatchObject({ exitCode: 0, stderr: "" });
  expect(schemaErrors(JSON.parse(examined.stdout), "Checks")).toEqual([]);
});

describe("a world in which one thing is wrong", () => {
  test.for(Object.keys(WORLDS))("%s alone is found", async (code) => {
    await WORLDS[code]?.();
    const examined = await world.examine("-o", "json");
    expect(wrongOf(examined), examined.stdout).toEqual([code]);
    expect(schemaErrors(JSON.parse(examined.stdout), "Checks")).toEqual([]);
    const { group } = CHECKS[code as keyof typeof CHECKS];
    expect((await world.examine("--fail-on", "warning", "--only", group)).exitCode).toBe(6);
  });
});

test.for([
  [
    "without a token",
    "FLP141",
    () => {
      world.env["CLOUDFLARE_TOKEN"] = undefined;
    },
  ],
  [
    "that refuses its token",
    "FLP142",
    () => {
      const errors = [{ code: 1000, message: "Invalid API Token" }];
      const body = { success: false, errors, messages: [], result: null };
      world.faults.add({ server: "cloudflare", times: 0, status: 401, body });
    },
  ],
] as const)(
  "a provider %s leaves the addresses and names of another one to be looked at",
  async ([, because, spoil]) => {
    await WORLDS["FLP151"]?.();
    world.change(
      "digitalocean.yaml",
      "    records:",
      `    records:\n      - { type: TXT, name: www, data: '${MARK}' }`,
    );
    spoil();
    const examined = await world.examine("-o", "json");
    expect(wrongOf(examined), examined.stdout).toEqual([because, "FLP151", "FLP164"]);
    expect(saidOf(examined, "FLP161")).toEqual([
      "success every zone is there",
      `skipped Cloudflare: not looked at, because of ${because}`,
    ]);
    expect(saidOf(examined, "FLP154")).toEqual([expect.stringMatching(/^success /)]);
    expect(schemaErrors(JSON.parse(examined.stdout), "Checks")).toEqual([]);
    const { stdout } = await world.examine();
    const line = `. Cloudflare: not looked at, because of ${because}`;
    expect(stdout.split("\n").filter((one) => one.trim() === line)).toHaveLength(1);
  },
);

test("before flipop is installed, all that may not be created is one line", async () => {
  world.answer("selfsubjectaccessreviews", { status: { allowed: false } });
  const examined = await world.examine("--pre", "-o", "json");
  expect(wrongOf(examined)).toEqual(["FLP125"]);
  expect(saidOf(examined, "FLP125")).toEqual([
    "error you may not create namespaces, customresourcedefinitions, clusterroles, clusterrolebindings; in flipop: serviceaccounts, roles, rolebindings, cronjobs, networkpolicies",
  ]);
  expect(examined.exitCode).toBe(6);
});

const tokenEnding = (days: number, more = ""): void => {
  const end = new Date(Date.now() + days * 86_400_000 + 3_600_000).toISOString();
  world.change("cloudflare.yaml", "settings:\n", `settings:\n  token_expires_on: "${end}"\n${more}`);
};

describe("a token of Cloudflare", () => {
  test.for([
    [
      "of a user that ends in 13 days is warned of",
      13,
      "",
      ["FLP142"],
      /^warning the token of Cloudflare ends at \d{4}-\d\d-\d\d \d\d:\d\d UTC, in 13d/,
    ],
    [
      "of an account that ends in 2 days is warned of",
      2,
      "  token_of: account\n",
      ["FLP142"],
      /^warning the token of Cloudflare ends at .* UTC, in 2d/,
    ],
    [
      "that has ended and is still accepted is warned of",
      -3,
      "",
      ["FLP142"],
      /^warning the token of Cloudflare ended at .* UTC, 2d.* ago$/,
    ],
    ["that ends in 14 days and an hour is fine", 14, "", [], /^success /],
  ] as const)("%s", async ([, days, more, wrong, said]) => {
    tokenEnding(days, more);
    const examined = await world.examine("-o", "json");
    expect(wrongOf(examined)).toEqual(wrong);
    expect(saidOf(examined, "FLP142")).toEqual([expect.stringMatching(said)]);
    const asked = examined.calls
      .filter(({ path }) => path.endsWith("/tokens/verify"))
      .map(({ path }) => path.split("/")[3]);
    expect(asked).toEqual(more === "" ? ["user"] : ["user", "accounts"]);
  });

  test.for([
    ["503", { status: 503, body: "down" }, /^unknown when the token of Cloudflare ends: /],
    ["half an answer", { cut: "middle" }, /^unknown when the token of Cloudflare ends: /],
    [
      "no time at all",
      { body: { success: true, errors: [], messages: [], result: { status: "active" } } },
      /^success /,
    ],
    [
      "a time that is none",
      { body: { success: true, errors: [], messages: [], result: { expires_on: "soon" } } },
      /^unknown when the token/,
    ],
    [
      "nothing for too long",
      { delayMs: 40_000 },
      /^unknown when the token of Cloudflare ends: it did not answer in time$/,
    ],
  ] as const)("of which the end is not told, but %s", async ([, fault, said]) => {
    world.faults.add({ server: "cloudflare", path: "/tokens/verify$", times: 0, ...fault });
    const examined = await world.examine("-o", "json", "--only", "providers");
    expect(wrongOf(examined)).toEqual([]);
    expect(saidOf(examined, "FLP142")).toEqual([expect.stringMatching(said)]);
  });

  test("of an account that sees no zone is accepted, and its end is not known", async () => {
    tokenEnding(1, "  token_of: account\n");
    world.faults.add({
      server: "cloudflare",
      path: "/zones$",
      skip: 1,
      times: 1,
      body: { success: true, errors: [], messages: [], result: [] },
    });
    const examined = await world.examine("-o", "json", "--only", "providers");
    expect(saidOf(examined, "FLP142")).toEqual([expect.stringMatching(/^(success|warning) /)]);
  });
});

describe("before flipop is installed a token that may not read", () => {
  test.for([
    ["addresses", "reserved_ips", "error", /Give the token the scope reserved_ip:read$/],
    ["machines", "droplets", "error", /Give the token the scope droplet:read$/],
    ["names", "domains", "warning", /Give the token the scope domain:read \(only for names at DigitalOcean\)$/],
    ["firewalls", "firewalls", "warning", /scope firewall:read \(only for firewalls of routed IPs\)$/],
  ] as const)("%s is told the scope", async ([, path, result, text]) => {
    world.answer(`^/v2/${path}`, { id: "forbidden", message: "not allowed" }, 403, "digitalocean");
    const examined = await world.examine("--pre", "-o", "json");
    expect(saidOf(examined, "FLP143")).toEqual([
      expect.stringMatching(new RegExp(`^${result} DigitalOcean .*${text.source}`)),
    ]);
    expect(examined.exitCode).toBe(result === "error" ? 6 : 0);
  });

  test("several of them is told all scopes at once, without a cluster, too", async () => {
    for (const path of ["droplets", "domains"])
      world.answer(`^/v2/${path}`, { id: "forbidden", message: "not allowed" }, 403, "digitalocean");
    world.faults.add({ server: "kubernetes", times: 0, cut: "before" });
    const [said = ""] = saidOf(await world.examine("--pre", "-o", "json"), "FLP143");
    expect(said).toMatch(/^error .*scope droplet:read; .*scope domain:read \(only for names at DigitalOcean\)$/);
  });
});

test("a setting with which every run ends is a failure, and told by one check", async () => {
  world.env["DIGITALOCEAN_API_URL"] = "api.example";
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined)).toEqual(["FLP141"]);
  expect(saidOf(examined, "FLP141")).toEqual([expect.stringMatching(/^error The DigitalOcean API URL is not an http/)]);
  expect(examined.exitCode).toBe(6);
});

test("what is wrong with an object is told without asking a provider", async () => {
  world.change("pools.yaml", "podLabel: app=web", "podLabel: app in (");
  world.add("dns.yaml", recordSet("bad").replace("recordName: nodes", "recordName: a..b"));
  for (const server of ["digitalocean", "cloudflare"] as const) world.faults.add({ server, times: 0, delayMs: 40_000 });
  const examined = await world.examine("-o", "json", "--only", "crds");
  expect(saidOf(examined, "FLP113")).toEqual([
    expect.stringMatching(/^error pool\/ingress\/web is invalid: Error parsing pod selector/),
    expect.stringMatching(/^error dns\/ingress\/bad: /),
  ]);
  expect(examined.exitCode).toBe(6);
  expect(examined.calls.filter(({ server }) => server !== "kubernetes")).toEqual([]);
});

describe("a provider that does not answer is a failure", () => {
  test("where nothing of it is answered", async () => {
    world.faults.add({ server: "digitalocean", times: 0, cut: "before" });
    const examined = await world.examine("-o", "json", "--only", "providers");
    expect(saidOf(examined, "FLP143")).toEqual([expect.stringMatching(/^error DigitalOcean does not answer: \S/)]);
    expect(saidOf(examined, "FLP142")).toEqual([expect.stringMatching(/^success Cloudflare/)]);
    expect(examined.exitCode).toBe(6);
  });

  test("where one answer fails that a run needs", async () => {
    world.faults.add({ server: "digitalocean", path: "^/v2/reserved_ips", times: 0, status: 503, body: "down" });
    const examined = await world.examine("-o", "json", "--only", "providers");
    expect(saidOf(examined, "FLP143")).toEqual([expect.stringMatching(/^error reserved addresses: .*503/)]);
    expect(examined.exitCode).toBe(6);
  });

  test("but not where it is asked for something that perhaps nobody needs", async () => {
    world.faults.add({ server: "digitalocean", path: "^/v2/firewalls", times: 0, status: 503, body: "down" });
    const examined = await world.examine("--pre", "-o", "json", "--only", "providers");
    expect(saidOf(examined, "FLP143")).toEqual([expect.stringMatching(/^unknown firewalls: .*503/)]);
    expect(examined.exitCode).toBe(0);
  });
});

test("a limit that is used up is no matter where no object wants more", async () => {
  world.change("digitalocean.yaml", "reserved_ip_limit: 5", "reserved_ip_limit: 3");
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined)).toEqual([]);
  expect(saidOf(examined, "FLP145")).toEqual(["success DigitalOcean: 4 of 3 reserved addresses used"]);
});

test("external-dns is found beside a name, too, with its owner", async () => {
  world.change(
    "digitalocean.yaml",
    "    records:",
    `    records:\n      - { type: TXT, name: a-www, data: '${MARK}' }`,
  );
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined)).toEqual(["FLP164"]);
  expect(saidOf(examined, "FLP164")).toEqual([
    'error www.example.com has beside it the TXT record a-www.example.com of external-dns, owner "prod"',
  ]);
});

test("a TTL that the provider decides, or that others gave the records, is not as written", async () => {
  const record = (more: string): string =>
    `    dns_records:\n      - { name: nodes, type: A, content: 192.0.2.1, ${more} }`;
  world.change("cloudflare.yaml", "    dns_records:", record("proxied: true"));
  expect(saidOf(await world.examine("-o", "json"), "FLP163")).toEqual([
    "warning dns/ingress/nodes: cloudflare decides the TTL of nodes.example.net, not ttl: 60",
  ]);
});

test("where DNS does not answer, nobody knows what clients are told", async () => {
  world.env["FLIPOP_RESOLVER"] = "127.0.0.1:1";
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined)).toEqual([]);
  expect(saidOf(examined, "FLP166")).toEqual([
    expect.stringMatching(/^unknown www.example.com: no answer from DNS: /),
    expect.stringMatching(/^unknown nodes.example.net: no answer from DNS: /),
  ]);
  expect((await world.examine("--resolver", "nobody")).exitCode).toBe(64);
});

test("nothing is sent but GETs and access reviews, and no token is printed", async () => {
  const examined = await world.examine("-o", "wide");
  const others = examined.calls.filter(({ method }) => method !== "GET");
  expect(new Set(others.map(({ method, path }) => `${method} ${path}`))).toEqual(
    new Set(["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"]),
  );
  expect(examined.calls.length).toBeGreaterThan(20);
  world.env["DIGITALOCEAN_ACCESS_TOKEN"] = "dop_v1_secret0123456789";
  world.answer("", { id: "unauthorized", message: "the token dop_v1_secret0123456789 is wrong" }, 401, "digitalocean");
  for (const format of ["wide", "json"]) {
    const { stdout, stderr } = await world.examine("-o", format);
    expect(stdout).toContain("FLP142");
    expect(stdout + stderr).not.toContain("dop_v1_secret0123456789");
  }
});

test("nothing is read of the cluster twice", async () => {
  const { calls } = await world.examine("-o", "json");
  const reads = calls.filter(({ server, method }) => server === "kubernetes" && method === "GET");
  const counts = Map.groupBy(reads, ({ path, query }) => `${path}?${query}`);
  expect([...counts].filter(([, same]) => same.length > 1).map(([what, same]) => `${same.length} ${what}`)).toEqual([]);
  const lists = ["floatingippools", "nodednsrecordsets", "routedips", "routedipissuers", "nodes"];
  const listed = reads.map(({ path }) => path.split("/").at(-1));
  expect(lists.map((kind) => [kind, listed.filter((one) => one === kind).length])).toEqual(
    lists.map((kind) => [kind, 1]),
  );
});

test("it ends within 30 s when everything hangs, and says what is not known", async () => {
  for (const server of ["kubernetes", "digitalocean", "cloudflare"] as const)
    world.faults.add({ server, times: 0, delayMs: 40_000 });
  const examined = await world.examine("-o", "json");
  expect(examined.ms).toBeLessThan(30_000);
  expect(wrongOf(examined)).toEqual(["FLP102"]);
  expect(examined.exitCode).toBe(6);
});

test("it ends when the providers hang, and knows the cluster all the same", async () => {
  for (const server of ["digitalocean", "cloudflare"] as const) world.faults.add({ server, times: 0, delayMs: 40_000 });
  const examined = await world.examine("-o", "json");
  expect(examined.ms).toBeLessThan(30_000);
  expect(wrongOf(examined)).toEqual(["FLP143"]);
  const { summary } = JSON.parse(examined.stdout) as Checks;
  expect(summary["unknown"]).toBeGreaterThan(2);
});

test("one Lease is read for each shard, and no other where none is used", async () => {
  const leases = async (): Promise<readonly string[]> => {
    const { calls } = await world.examine("-o", "json", "--only", "runs");
    const paths = calls.map(({ path }) => path).filter((path) => path.includes("/namespaces/flipop/leases/"));
    return paths.map((path) => path.split("/").at(-1) ?? "").toSorted();
  };
  expect(await leases()).toEqual(["flipop"]);
  installed(leaseText(OWN, "", 1000, 15, { [SHARDS_ANNOTATION]: "db,vip" }));
  world.change("pools.yaml", "  name: web", `  name: web\n  labels: { ${SHARD_LABEL}: vip }`);
  expect(await leases()).toEqual(["flipop", "flipop-db", "flipop-vip"]);
});

test("nothing is wrong where shards work for everything, and the process without a shard has long gone", async () => {
  const shards = ["1/2", "2/2", "vip"];
  const base = leaseText(OWN, "", 86_400_000, 15, { [SHARDS_ANNOTATION]: shards.join(",") });
  const names = ["flipop-1-of-2", "flipop-2-of-2", "flipop-vip"];
  world.install(cronJobText(), base, ...names.map((name) => leaseText({ ...OWN, name }, "", 1000)));
  world.change("pools.yaml", "  name: web", `  name: web\n  labels: { ${SHARD_LABEL}: vip }`);
  const examined = await world.examine("-o", "json");
  expect(wrongOf(examined), examined.stdout).toEqual([]);
  expect(saidOf(examined, "FLP136")).toEqual([
    "success every object has its process: --shard 1/2, --shard 2/2, --shard vip",
  ]);
});
