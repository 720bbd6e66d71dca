import { beforeAll, expect, test } from "vitest";
import { BOTH } from "../campaign/kinds.ts";
import { BASES } from "../campaign/recipes.ts";
import { refusedSpecs } from "../campaign/refused-values.ts";
import { API } from "../cluster/api.ts";
import { describeCluster } from "../cluster/context.ts";
import { applyPresentCRDs } from "../manifests/earlier-crd.ts";
import { REFUSED_SPECS } from "../manifests/refused-specs.ts";
import { random as randomOf } from "../plan/random-world.ts";
import { prepareCluster } from "../scenario/cluster-world.ts";
import { errorsOf } from "./errors-of.ts";
import { randomSpec } from "./random-spec.ts";

describeCluster("flipop validate and a real API server", (facts) => {
  const api = new API({ ...facts, token: facts.adminToken });
  let namespace = "";

  beforeAll(async () => {
    await prepareCluster(facts);
    await applyPresentCRDs(api);
    namespace = await api.createNamespace("validate");
  });

  /** What the API server says against an object that is not stored; undefined where it takes it. */
  async function refusal(kind: string, spec: unknown): Promise<string | undefined> {
    const path = `/apis/flipop.digitalocean.com/v1alpha1/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const object = { apiVersion: "flipop.digitalocean.com/v1alpha1", kind, metadata: { name: "it" }, spec };
    const { status, body } = await api.request("POST", `${path}?dryRun=All&fieldValidation=Strict`, object);
    return status === 201 ? undefined : String(body.message);
  }

  test.for(BOTH)("what the API server refuses of a $name is an error before it is applied", async (kind) => {
    const random = randomOf(20_261_124);
    const specs = [
      ...refusedSpecs(kind).map(({ spec }) => spec),
      ...REFUSED_SPECS.filter((row) => row.kind === kind.name).map(({ spec }) => spec),
      ...Array.from({ length: 150 }, () => randomSpec(kind, random)),
      { ...BASES[kind.name], unknownField: 1 },
    ];
    const missed = [];
    let refused = 0;
    for (const spec of specs) {
      const said = await refusal(kind.name, spec);
      if (said !== undefined) refused += 1;
      if (said !== undefined && errorsOf(kind.name, spec).length === 0) missed.push({ spec, said });
    }
    expect(missed).toEqual([]);
    expect(refused).toBeGreaterThan(20);
    expect(refused).toBeLessThan(specs.length);
  });
});
