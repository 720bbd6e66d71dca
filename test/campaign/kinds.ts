import { GROUP, VERSION } from "../../src/model/resource.ts";
import { type SchemaNode, shippedSchema } from "../manifests/shipped.ts";

/** The kinds of flipop's objects. */
export type KindName = "FloatingIPPool" | "NodeDNSRecordSet";

/** A kind with the file that defines it. */
export interface Kind {
  readonly name: KindName;
  readonly plural: string;
  /** Under cronjob/. */
  readonly file: string;
  /** As flipop names its objects. */
  readonly ref: "pool" | "dns";
}

/** Both kinds. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  FloatingIPPool: { name: "FloatingIPPool", plural: "floatingippools", file: "crds/floatingippools.yaml", ref: "pool" },
  NodeDNSRecordSet: {
    name: "NodeDNSRecordSet",
    plural: "nodednsrecordsets",
    file: "crds/nodednsrecordsets.yaml",
    ref: "dns",
  },
};

/** Both of them, pools first. */
export const BOTH: readonly Kind[] = Object.values(KINDS);

/** The shipped schema of `spec` or `status`. Reads the file. @throws Error when it has none */
export function schemaOf(kind: Kind, part: "spec" | "status"): SchemaNode {
  const schema = shippedSchema(kind.file).properties?.[part];
  if (schema === undefined) throw new Error(`${kind.file} has no ${part}`);
  return schema;
}

/** Where the API server keeps objects of a kind. */
export function collectionPath({ plural }: Kind, namespace: string): string {
  return `/apis/${GROUP}/${VERSION}/namespaces/${namespace}/${plural}`;
}
