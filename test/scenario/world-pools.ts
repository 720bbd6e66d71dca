import { POOL_STATUS } from "../../src/adapters/kube/status.ts";
import { GROUP, type PoolStatus } from "../../src/model/resource.ts";
import type { ObjectAccess } from "./object-access.ts";
import { WorldObjects } from "./world-objects.ts";

/** FloatingIPPools. */
export class WorldPools extends WorldObjects<PoolStatus> {
  constructor(access: ObjectAccess) {
    super(access, {
      kind: "FloatingIPPool",
      plural: "floatingippools",
      defaults: { provider: access.provider, region: "nyc3" },
      decodeStatus: POOL_STATUS.read,
    });
  }

  /**
   * Turns the definition into an older one that does not know a field of the status, or one of the entries of a list there: `acquired.provider`. Returns what makes it the
   * present one again.
   */
  async forgetStatusField(field: string): Promise<() => Promise<void>> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/floatingippools.${GROUP}`;
    const present = (await this.access.rest("GET", path)) as { spec: { versions: CRDVersion[] } };
    const crd = structuredClone(present);
    const [name = "", ofEntry] = field.split(".");
    for (const { schema } of crd.spec.versions) {
      const fields = schema.openAPIV3Schema.properties["status"]?.properties ?? {};
      if (ofEntry === undefined) delete fields[name];
      else delete fields[name]?.items?.properties?.[ofEntry];
    }
    const apply = async ({ spec }: typeof crd): Promise<void> => {
      await this.access.rest("PATCH", path, { spec: { versions: spec.versions } });
    };
    await apply(crd);
    return () => apply(present);
  }
}

interface CRDField {
  readonly properties?: Record<string, CRDField>;
  readonly items?: CRDField;
}

interface CRDVersion {
  readonly schema: {
    readonly openAPIV3Schema: { readonly properties: Record<string, { properties: Record<string, CRDField> }> };
  };
}
