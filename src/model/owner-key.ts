import type { ObjectRef } from "./action.ts";

/** An object that can own addresses. */
export type Owner = ObjectRef & { readonly kind: "pool" | "routedip" };

/** How the owner of an address is named in claims and in the annotations of nodes: `NAMESPACE/NAME` for a pool, `routedip/NAMESPACE/NAME` for a RoutedIP. */
export function ownerKey({ kind, namespace, name }: ObjectRef): string {
  return kind === "pool" ? `${namespace}/${name}` : `${kind}/${namespace}/${name}`;
}

/** The object that an owner key, as somebody may have written it into an annotation, names; undefined when it names none. */
export function ownerRef(key: string): Owner | undefined {
  const parts = key.split("/");
  const kind = parts.length === 3 && parts[0] === "routedip" ? "routedip" : "pool";
  const [namespace = "", name = "", ...rest] = kind === "routedip" ? parts.slice(1) : parts;
  return namespace === "" || name === "" || rest.length > 0 ? undefined : { kind, namespace, name };
}

/** An owner key for people: `pool shop/web`, `routed IP shop/vip`. */
export function ownerText(key: string): string {
  const ref = ownerRef(key);
  return ref?.kind === "routedip" ? `routed IP ${ref.namespace}/${ref.name}` : `pool ${key}`;
}
