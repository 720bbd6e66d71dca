import { beforeAll, expect, test } from "vitest";
import {
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../../src/adapters/kube/custom-resources.ts";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { recordFQDN } from "../../src/model/dns.ts";
import { type AskingSpec, judgeWishes, parseGrants, wishesOf } from "../../src/model/grants.ts";
import { type DNSWish, poolWish, statedWish } from "../../src/plan/names/name-target.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import type { KubeObject, Reply } from "../cluster/transport.ts";
import { clusterWorld, prepareCluster } from "../scenario/cluster-world.ts";
import { World } from "../scenario/world.ts";
import { applyPresentCRDs, untilTrue } from "./earlier-crd.ts";
import { CLAIM_ROWS, type ClaimRow, type Granted } from "./policy-rows.ts";
import { shippedText } from "./shipped.ts";

const GROUP = "flipop.digitalocean.com";
const MERGE = "application/merge-patch+json";
const POLICY = "/apis/admissionregistration.k8s.io/v1";

type Object = Readonly<Record<string, unknown>>;

function objectOf({ kind, spec }: Pick<ClaimRow, "kind" | "spec">, name: string): Object {
  return { apiVersion: `${GROUP}/v1alpha1`, kind, metadata: { name }, spec };
}

function annotationsOf(granted: Granted): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(granted).map(([kind, text]) => [`${GROUP}/${kind}`, text]));
}

function path(namespace: string, kind: string): string {
  return `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/${kind.toLowerCase()}s`;
}

/** The name that a wish means, as far as the spec alone tells: nothing for the id of a zone. */
function nameOf(wish: DNSWish): Pick<AskingSpec, "name"> {
  if (wish.kind !== "named" || wish.isZoneID) return {};
  const resolved = recordFQDN(wish.recordName, wish.zone);
  return resolved.kind === "name" ? { name: resolved.fqdn } : {};
}

/** What the planner reads out of a manifest. */
function askingSpec(object: Object): AskingSpec {
  const known = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("not an object of flipop");
    return value;
  };
  switch (object["kind"]) {
    case "FloatingIPPool": {
      const pool = known(decodePool(object));
      return { ...pool.spec, ...nameOf(poolWish(pool, PROVIDERS)) };
    }
    case "NodeDNSRecordSet":
      return nameOf(statedWish(known(decodeRecordSet(object)), PROVIDERS));
    case "RoutedIP": {
      const { meta, spec } = known(decodeRoutedIP(object));
      const asPool = {
        kind: "routedip" as const,
        meta,
        spec: { provider: "digitalocean", ...spec },
      } as unknown as Parameters<typeof poolWish>[0];
      const ips = spec.address === "" ? [] : [spec.address];
      return { ips, desiredIPs: 1, foreignHolder: spec.foreignHolder, ...nameOf(poolWish(asPool, PROVIDERS)) };
    }
    default: {
      const { firewallName } = known(decodeRoutedIPIssuer(object)).spec;
      return firewallName === "" ? {} : { firewall: [firewallName] };
    }
  }
}

/** Says of each row where the server and the planner differ; and which grants were missing at all. */
class Comparison {
  readonly differences: unknown[] = [];
  readonly missing = new Set<string>();
  readonly #cluster: Claims;

  constructor(cluster: Claims) {
    this.#cluster = cluster;
  }

  async add(row: ClaimRow): Promise<void> {
    const namespace = await this.#cluster.namespaceOf(row.granted);
    const grants = parseGrants(namespace, annotationsOf(row.granted));
    const verdicts = judgeWishes(wishesOf(askingSpec(objectOf(row, "claim"))), namespace, grants);
    const planned = verdicts.find(({ isGranted }) => !isGranted);
    const { status, body } = await this.#cluster.dryRun(namespace, row);
    const said = refusalOf(body.message);
    if (status !== (planned === undefined ? 201 : 403) || said !== planned?.sentence)
      this.differences.push({ row, status, said: said ?? body.message, planned });
    if (planned !== undefined) this.missing.add(planned.wish.grant);
  }
}

/** The policy's own words in a refusal. */
function refusalOf(message: string | undefined): string | undefined {
  return message?.split("ValidatingAdmissionPolicy 'flipop-grants' with binding 'flipop-grants' denied request: ")[1];
}

/** Asks a server for what objects want. */
class Claims {
  readonly #api: API;
  readonly #namespaces = new Map<string, string>();

  constructor(api: API) {
    this.#api = api;
  }

  /** A namespace with these grants from its first moment, since admission learns of a change a moment later; rows with the same share one. */
  async namespaceOf(granted: Granted): Promise<string> {
    const key = JSON.stringify(granted);
    const known = this.#namespaces.get(key);
    if (known !== undefined) return known;
    const metadata = { generateName: "grants-", annotations: annotationsOf(granted) };
    const { name } = (await this.#api.call("POST", "/api/v1/namespaces", { metadata })).metadata;
    this.#namespaces.set(key, name);
    return name;
  }

  /** Replaces what a namespace is granted; nothing where `null`. */
  async grant(namespace: string, granted: Granted | null): Promise<void> {
    const annotations = granted === null ? null : annotationsOf(granted);
    await this.#api.call("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { annotations } }, MERGE);
  }

  /** Asks whether an object may be created. */
  dryRun(namespace: string, row: Pick<ClaimRow, "kind" | "spec">): Promise<Reply<KubeObject>> {
    return this.#api.request("POST", `${path(namespace, row.kind)}?dryRun=All`, objectOf(row, "claim"));
  }

  /** Asks whether an object may be edited so: `admitted`, or the refusal. */
  async edit(at: string, spec: Object): Promise<string> {
    const { status, body } = await this.#api.request("PATCH", `${at}?dryRun=All`, { spec }, MERGE);
    return status === 200 ? "admitted" : `${status} ${refusalOf(body.message)}`;
  }

  /** Waits until the server answers so. */
  async until(namespace: string, row: Pick<ClaimRow, "kind" | "spec">, status: number): Promise<void> {
    await untilTrue(async () => (await this.dryRun(namespace, row)).status === status);
  }
}

/** Somebody who may read and write these resources of a namespace, and nothing else. */
async function editor(
  api: API,
  facts: ConstructorParameters<typeof API>[0],
  namespace: string,
  name: string,
  resources: readonly string[],
): Promise<API> {
  const subject = { kind: "ServiceAccount", name, namespace };
  const rules = [{ apiGroups: [GROUP], resources, verbs: ["get", "list", "create", "update", "patch", "delete"] }];
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await api.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  await api.call("POST", `${roles}/roles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  await api.call("POST", `${roles}/rolebindings`, { metadata: { name }, roleRef, subjects: [subject] });
  return new API({ ...facts, token: await api.serviceAccountToken(namespace, name) });
}

const WEB = {
  kind: "FloatingIPPool" as const,
  spec: {
    provider: "digitalocean",
    ips: ["203.0.113.1"],
    desiredIPs: 3,
    foreignHolder: "TakeOver",
    dnsRecordSet: { zone: "example.com", recordName: "www" },
  },
};

describeCluster("the shipped admission policy on a real API server", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  const claims = new Claims(api);

  beforeAll(async () => {
    await prepareCluster(facts);
    await applyPresentCRDs(api);
    await api.applyManifests(shippedText("policy/policy.yaml"));
    const namespace = await api.createNamespace("probe");
    await claims.until(namespace, WEB, 403);
    return async () => {
      for (const resource of ["validatingadmissionpolicybindings", "validatingadmissionpolicies"])
        await api.request("DELETE", `${POLICY}/${resource}/flipop-grants`);
      await claims.until(namespace, WEB, 201);
    };
  });

  test("every row of the table gets the planner's verdict, in the planner's words", async () => {
    const comparison = new Comparison(claims);
    for (const row of CLAIM_ROWS) await comparison.add(row);
    expect(comparison.differences).toEqual([]);
    expect([...comparison.missing].toSorted()).toEqual(["addresses", "firewalls", "names", "purchases", "take-over"]);
  });

  test("what an object asked for before stays: only new claims are judged, and an edit that takes one back is admitted", async () => {
    const namespace = await api.createNamespace("ratchet");
    const at = `${path(namespace, WEB.kind)}/web`;
    await claims.grant(namespace, {
      names: "www.example.com",
      addresses: "203.0.113.1",
      purchases: "2",
      "take-over": "true",
    });
    await claims.until(namespace, WEB, 201);
    await api.call("POST", path(namespace, WEB.kind), objectOf(WEB, "web"));
    await claims.grant(namespace, null);
    await claims.until(namespace, WEB, 403);
    const missing = (what: string): string => `403 namespace ${namespace} ${what}`;
    const edits: readonly (readonly [spec: Object, verdict: string])[] = [
      [{ gracePeriodSeconds: 30, match: { nodeLabel: "a" } }, "admitted"],
      [{ dnsRecordSet: { recordName: "WWW.example.com" } }, "admitted"],
      [{ ips: [], desiredIPs: 1 }, "admitted"],
      [{ foreignHolder: "Hold", dnsRecordSet: null }, "admitted"],
      [{ dnsRecordSet: { recordName: "login" } }, missing("is not granted the name login.example.com")],
      [{ ips: ["203.0.113.1", "203.0.113.2"] }, missing("is not granted the address 203.0.113.2")],
      [{ desiredIPs: 4 }, missing("may hold 0 acquired addresses, and 3 are asked for")],
      [{ ips: [] }, missing("may hold 0 acquired addresses, and 3 are asked for")],
    ];
    for (const [spec, verdict] of edits) expect([spec, await claims.edit(at, spec)]).toEqual([spec, verdict]);
    expect((await api.request("DELETE", at)).status).toBe(200);
  });

  test("flipop works on what was there before the grants went: it writes status, finalizers and annotations, and cleans up", async () => {
    const world = new World(await clusterWorld(facts, 0));
    await world.namespace();
    await world.machines("n1", "n2");
    world.dns.zone("digitalocean");
    const shop = world.namespaceName("shop");
    await claims.grant(shop, { names: "*.example.com", purchases: "1" });
    const spec = { desiredIPs: 1, dnsRecordSet: { zone: "example.com", recordName: "www" }, reclaimPolicy: "Delete" };
    await claims.until(shop, { kind: "FloatingIPPool", spec: { provider: "digitalocean", ...spec } }, 201);
    await world.pools.create("web", spec);
    await claims.grant(shop, null);
    const { reportFailures } = await world.pass();
    expect(reportFailures).toEqual([]);
    expect(await world.pools.finalizers("web")).toEqual(["flipop.digitalocean.com/cleanup"]);
    expect((await world.pools.status("web")).summary).toEqual({ addresses: "1/1", nodes: "n1" });
    world.dnsSafety.allowEnd("www.example.com");
    await world.pools.delete("web");
    await world.pass();
    expect(await world.pools.existing()).toEqual([]);
    await world.close();
  });

  test("the annotation that tells of purchases is written by those alone who may write the status; anybody may remove it", async () => {
    const namespace = await api.createNamespace("notes");
    const own = `${path(namespace, WEB.kind)}/web`;
    await claims.grant(namespace, { addresses: "203.0.113.1" });
    const spec = { provider: "digitalocean", ips: ["203.0.113.1"] };
    await claims.until(namespace, { kind: WEB.kind, spec }, 201);
    const [tenant, flipop] = await Promise.all([
      editor(api, facts, namespace, "tenant", ["floatingippools"]),
      editor(api, facts, namespace, "writer", ["floatingippools", "floatingippools/status"]),
    ]);
    const told = (text: string | null): Object => ({
      metadata: { annotations: { [`${GROUP}/acquired`]: text, "example.com/team": "web" } },
    });
    const said = async (reply: Promise<Reply<KubeObject>>): Promise<string> => {
      const { status, body } = await reply;
      return status < 300 ? "admitted" : (refusalOf(body.message) ?? `${status} ${body.message}`);
    };
    const refused = `the annotation ${GROUP}/acquired is written by flipop alone; leave it out`;
    const annotations = { [`${GROUP}/acquired`]: "u 1.2.3.4" };
    const noted = { ...objectOf({ kind: WEB.kind, spec }, "web"), metadata: { name: "web", annotations } };
    expect(await said(tenant.request("POST", path(namespace, WEB.kind), noted))).toBe(refused);
    expect(
      await said(tenant.request("POST", path(namespace, WEB.kind), objectOf({ kind: WEB.kind, spec }, "web"))),
    ).toBe("admitted");
    const edit = (who: API, text: string | null): Promise<string> => said(who.request("PATCH", own, told(text), MERGE));
    expect(await edit(tenant, "u pending=digitalocean://900")).toBe(refused);
    expect(await edit(flipop, "u 203.0.113.9")).toBe("admitted");
    expect(await edit(tenant, "u 203.0.113.9")).toBe("admitted");
    expect(await edit(tenant, "u 203.0.113.9 pending=digitalocean://900")).toBe(refused);
    expect(await edit(tenant, null)).toBe("admitted");
  });

  test.for([
    [{ names: ",".repeat(200_000) }, 403],
    [{ names: "a.b,".repeat(50_000) }, 403],
    [{ addresses: "203.0.113.0/24,".repeat(13_000) }, 201],
    [{ addresses: `203.0.113.9,${"2001:0DB8:0000:0000:0000:0000:0000:0000/32,".repeat(4_000)}` }, 201],
  ] as const)("annotations of 200 KB are read as far as the planner reads them", async ([granted, status]) => {
    const namespace = await claims.namespaceOf(granted);
    const row = { kind: "NodeDNSRecordSet" as const, spec: { dnsRecordSet: WEB.spec.dnsRecordSet } };
    const { body } = await claims.dryRun(namespace, row);
    expect(refusalOf(body.message)).toBe(`namespace ${namespace} is not granted the name www.example.com`);
    const pool = { kind: "FloatingIPPool" as const, spec: { provider: "digitalocean", ips: ["203.0.113.9"] } };
    expect((await claims.dryRun(namespace, pool)).status).toBe(status);
  });

  test("a pool of a hundred IPv6 addresses is judged by a hundred grants, too, and one that it has already, written in another way, is not a new one", async () => {
    const networks = Array.from({ length: 100 }, (_, at) => `2001:DB8:${at + 1}:0::/64`);
    const namespace = await claims.namespaceOf({ addresses: networks.join(","), purchases: "3" });
    const ips = networks.map((network) => network.replace("0::/64", "0:0:0:0:7").replace("DB8", "db8"));
    const spec = { provider: "digitalocean", ipFamily: "IPv6", ips, desiredIPs: 103 };
    await claims.until(namespace, { kind: "FloatingIPPool", spec }, 201);
    await api.call("POST", path(namespace, "FloatingIPPool"), objectOf({ kind: "FloatingIPPool", spec }, "six"));
    await claims.grant(namespace, { addresses: "2001:db8:1::/64", purchases: "3" });
    await claims.until(namespace, { kind: "FloatingIPPool", spec }, 403);
    const at = `${path(namespace, "FloatingIPPool")}/six`;
    expect(await claims.edit(at, { ips: ips.map((ip) => ip.replace("0:0:0:0:7", ":7").toUpperCase()) })).toBe(
      "admitted",
    );
    expect(await claims.edit(at, { ips: [...ips.slice(1), "2001:DB8:9:0::8"] })).toBe(
      `403 namespace ${namespace} is not granted the address 2001:db8:9::8`,
    );
  });

  test("a pool of a hundred addresses is judged by a hundred grants", async () => {
    const networks = Array.from({ length: 100 }, (_, at) => `10.${at}.0.0/16`);
    const namespace = await claims.namespaceOf({ addresses: networks.join(","), purchases: "3" });
    const ips = networks.map((network, at) => network.replace("0.0/16", `${at}.7`));
    const spec = { provider: "digitalocean", ips, desiredIPs: 103 };
    expect((await claims.dryRun(namespace, { kind: "FloatingIPPool", spec })).status).toBe(201);
    const more = { ...spec, ips: [...ips, "192.0.2.1"] };
    const { body } = await claims.dryRun(namespace, { kind: "FloatingIPPool", spec: more });
    expect(refusalOf(body.message)).toBe(`namespace ${namespace} is not granted the address 192.0.2.1`);
  });
});
