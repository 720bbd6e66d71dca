import { POOL_STATUS } from "../../src/adapters/kube/status.ts";
import type { PoolStatus } from "../../src/model/resource.ts";
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
}
