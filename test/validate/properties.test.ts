import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decodePool, decodeRecordSet } from "../../src/adapters/kube/custom-resources.ts";
import { PROVIDERS } from "../../src/adapters/registry.ts";
import { recordFQDN } from "../../src/model/dns.ts";
import { poolWish, statedWish } from "../../src/plan/names/name-target.ts";
import { validatePool, validateRecordSet } from "../../src/plan/validate.ts";
import { fieldValues } from "../campaign/field-values.ts";
import { BOTH, type KindName } from "../campaign/kinds.ts";
import { BASES } from "../campaign/recipes.ts";
import { refusedSpecs } from "../campaign/refused-values.ts";
import { withValue } from "../campaign/spec-value.ts";
import { ADMITTED_SPECS, BEYOND_BOUNDS, REFUSED_SPECS } from "../manifests/refused-specs.ts";
import { random as randomOf } from "../plan/random-world.ts";
import { MANUAL, readPage } from "../readme/tables.ts";
import { errorsOf } from "./errors-of.ts";
import { checkText } from "./knowledge.ts";
import { randomSpec } from "./random-spec.ts";

const FACTS = { pods: new Map(), registry: PROVIDERS };

/** What the planner says against an object in the cluster; that pods were not read is no fault of the object. */
function plannerSays(kind: KindName, spec: unknown): readonly string[] {
  const object = { metadata: { namespace: "shop", name: "it" }, spec };
  const validation =
    kind === "FloatingIPPool"
      ? validatePool(decodePool(object) as never, FACTS)
      : validateRecordSet(decodeRecordSet(object) as never, FACTS);
  const said =
    validation.kind === "blocked" && validation.why.reason === "InvalidSpec" ? [validation.why.detail ?? ""] : [];
  const wish =
    kind === "FloatingIPPool"
      ? poolWish(decodePool(object) as never, PROVIDERS)
      : statedWish(decodeRecordSet(object) as never, PROVIDERS);
  const name = wish.kind === "named" && !wish.isZoneID ? recordFQDN(wish.recordName, wish.zone) : undefined;
  return [...said, ...(wish.kind === "invalid" ? [wish.error] : []), ...(name?.kind === "invalid" ? [name.error] : [])];
}

describe("what flipop validate lets pass, the cluster takes, and the reverse", () => {
  test.for(REFUSED_SPECS)("a $kind with %o, which the API server refuses, is an error", ({ kind, spec }) => {
    expect(errorsOf(kind, spec)).not.toEqual([]);
  });

  test.for(BEYOND_BOUNDS)("a %s beyond the bounds of %s is an error there", ([kind, field, spec]) => {
    expect(errorsOf(kind, spec).join("\n")).toContain(field);
  });

  test.for(ADMITTED_SPECS)(
    "a %s with %o, which the API server takes, is an error only where the planner says so",
    ([kind, spec]) => {
      if (kind === "RoutedIP") expect(errorsOf(kind, spec)).toEqual([]);
      else expect(errorsOf(kind, spec).length > 0).toBe(plannerSays(kind, spec).length > 0);
    },
  );

  test.for(BOTH)("of a $name every value that its schema does not admit is an error that names the field", (kind) => {
    const silent = refusedSpecs(kind).filter(
      ({ spec, path }) =>
        !errorsOf(kind.name, spec)
          .join("\n")
          .includes(path.replace(/\[0\]$/, "")),
    );
    expect(silent.map(({ title }) => title)).toEqual([]);
  });

  test.for(BOTH)("of a $name every value that is not unusable passes", (kind) => {
    const wrong = fieldValues(kind).flatMap(({ path, usable, recipe }) =>
      usable.flatMap((value) => {
        const spec = withValue({ ...BASES[kind.name], ...recipe.beside }, path, value);
        return errorsOf(kind.name, spec).length > 0 === plannerSays(kind.name, spec).length > 0
          ? []
          : [{ path, value, said: errorsOf(kind.name, spec) }];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test.for(BOTH)("a $name of random values is an error exactly where its schema or the planner refuses it", (kind) => {
    const random = randomOf(20_261_123);
    for (let round = 0; round < 400; round += 1) {
      const spec = randomSpec(kind, random);
      const errors = errorsOf(kind.name, spec);
      const said = plannerSays(kind.name, spec);
      // Without a word of the planner an error must be one of the schema, which says 201 to 204, or an address that its list does not admit.
      const isOfSchema = errors.every((error) => /^FLP20[1-4]|^FLP214/.test(error));
      expect({ spec, errors, said, agrees: said.length > 0 ? errors.length > 0 : isOfSchema }).toMatchObject({
        agrees: true,
      });
    }
  });
});

describe("examples", () => {
  const blocks = MANUAL.flatMap((page) =>
    [...readPage(page).matchAll(/```ya?ml\n([\s\S]*?)```/g)].map(([, text = ""], at) => ({ page, at, text })),
  ).filter(({ text }) => text.includes("flipop.digitalocean.com/v1alpha1"));

  test("of the manual there are some", () => {
    expect(blocks.length).toBeGreaterThan(3);
  });

  test.for(blocks)("of $page, number $at, pass", ({ text }) => {
    const { findings, count } = checkText(text);
    expect(count).toBeGreaterThan(0);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test("like those of the Go operator pass; what flipop refuses in the cluster as well is said where it stands", () => {
    const text = readFileSync(new URL("../manifests/fixtures/go-operator.yaml", import.meta.url), "utf8");
    const { findings } = checkText(text);
    const errors = findings.filter(({ severity }) => severity === "error");
    expect(errors.map(({ object, code, path }) => `${object} ${code} ${path}`)).toEqual([
      "pool/default/ipv6-entries FLP214 spec.ips[0]",
      "pool/default/ipv6-entries FLP214 spec.ips[2]",
      "pool/default/zero-values-written-back FLP212 spec",
      "pool/default/empty-record-set FLP212 spec",
      "pool/default/empty-record-set FLP211 spec.provider",
      "pool/default/empty-record-set FLP219 spec.dnsRecordSet",
      "dns/default/any-address-type FLP202 spec.addressType",
      "dns/default/any-address-type FLP219 spec.dnsRecordSet",
    ]);
  });
});
