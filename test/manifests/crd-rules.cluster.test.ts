import { beforeAll, expect, test } from "vitest";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { clusterWorld, prepareCluster } from "../scenario/cluster-world.ts";
import { World } from "../scenario/world.ts";
import { applyEarlierCRDs, applyPresentCRDs } from "./earlier-crd.ts";
import { ADMITTED_SPECS, BEYOND_BOUNDS, REFUSED_SPECS } from "./refused-specs.ts";

const GROUP = "/apis/flipop.digitalocean.com/v1alpha1";
const MERGE = "application/merge-patch+json";

/** What an earlier definition let in. */
const STORED = [
  ...REFUSED_SPECS.map((row, at) => ({ ...row, name: `row-${at}` })),
  ...BEYOND_BOUNDS.map(([kind, , spec], at) => ({ kind, spec, name: `beyond-${at}`, sentence: "" })),
];

describeCluster("the rules of the shipped CRDs on a real API server", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  const path = (namespace: string, kind: string): string => `${GROUP}/namespaces/${namespace}/${kind.toLowerCase()}s`;
  const create = (namespace: string, kind: string, name: string, spec: unknown) =>
    api.request("POST", `${path(namespace, kind)}?fieldValidation=Strict`, {
      apiVersion: "flipop.digitalocean.com/v1alpha1",
      kind,
      metadata: { name },
      spec,
    });
  let namespace = "";

  beforeAll(async () => {
    await prepareCluster(facts);
    await applyPresentCRDs(api);
    namespace = await api.createNamespace("rules");
  });

  test.for(REFUSED_SPECS)("a $kind with %o is refused in the planner's words", async ({ kind, spec, sentence }) => {
    const { status, body } = await create(namespace, kind, "refused", spec);
    expect([status, body.message]).toEqual([422, expect.stringContaining(sentence)]);
  });

  test.for(BEYOND_BOUNDS)("a %s beyond the bounds of %s is refused", async ([kind, field, spec]) => {
    const { status, body } = await create(namespace, kind, "refused", spec);
    expect([status, body.message]).toEqual([422, expect.stringContaining(field)]);
  });

  test.for([...ADMITTED_SPECS.entries()])("%o is admitted and stored as written", async ([at, [kind, spec]]) => {
    const { status, body } = await create(namespace, kind, `good-${at}`, spec);
    expect([status, body.message, body.spec]).toEqual([201, undefined, spec]);
  });

  test("an issuer that names an unknown provider is refused", async () => {
    const { status, body } = await create(namespace, "RoutedIPIssuer", "bad", { provider: "nowhere" });
    expect([status, body.message]).toEqual([422, expect.stringContaining('unknown provider "nowhere"')]);
  });

  test("objects that an earlier definition let in get a status that says the same, and are still edited, kept and deleted", async () => {
    const world = new World(await clusterWorld(facts, 0));
    await furnish(world);
    const shop = world.namespaceName("shop");
    try {
      await applyEarlierCRDs(api);
      for (const { kind, spec, name } of STORED) {
        const reply = await create(shop, kind, name, spec);
        expect([name, reply.status, reply.body.message]).toEqual([name, 201, undefined]);
      }
    } finally {
      await applyPresentCRDs(api);
    }
    const { reportFailures } = await world.pass();
    expect(reportFailures).toEqual([]);
    for (const { kind, name, sentence } of STORED) {
      const { status } = await api.call("GET", `${path(shop, kind)}/${name}`);
      const said = expect.stringContaining(JSON.stringify(sentence).slice(1, -1));
      expect([name, JSON.stringify(status)]).toEqual([name, said]);
    }
    for (const stored of STORED) await expectEditable(`${path(shop, stored.kind)}/${stored.name}`, stored.spec);
    await world.close();
  });

  /** What the objects of the table need to be judged. */
  const furnish = async (world: World): Promise<void> => {
    await world.namespace();
    await world.machines("n1");
    for (const provider of ["digitalocean", "cloudflare"] as const) world.dns.zone(provider);
    const shop = world.namespaceName("shop");
    expect((await create(shop, "RoutedIPIssuer", "public", { provider: "digitalocean" })).status).toBe(201);
    const service = { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } };
    await api.call("POST", `/api/v1/namespaces/${shop}/services`, service);
  };

  const expectEditable = async (at: string, spec: unknown): Promise<void> => {
    const patch = async (body: unknown): Promise<void> => {
      const { status, body: answer } = await api.request("PATCH", at, body, MERGE);
      expect([at, status, answer.message]).toEqual([at, 200, undefined]);
    };
    await patch({ metadata: { annotations: { note: "x" }, finalizers: ["flipop.digitalocean.com/cleanup"] } });
    if (spec !== undefined) await patch({ spec: { suspend: true } });
    if (spec !== undefined) await patch({ spec: { suspend: null } });
    await patch({ metadata: { finalizers: null } });
    expect((await api.request("DELETE", at)).status).toBe(200);
  };
});
