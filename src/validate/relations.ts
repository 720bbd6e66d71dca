import { canonicalAddress, entryProblem } from "../model/address.ts";
import { recordFQDN } from "../model/dns.ts";
import type { Finding } from "../model/finding.ts";
import type { ProviderRegistry } from "../model/provider.ts";
import { asksFor, type RecordType, recordTypeOf, setText } from "../model/record-types.ts";
import { ipFamilyOf } from "../model/resource.ts";
import { routedFamily } from "../model/routed-ip.ts";
import { type CheckedObject, findingOf } from "./checked-object.ts";
import { pathSteps } from "./documents.ts";
import { type SpecObject, wishOf } from "./meaning.ts";

/** Returns what objects of the files ask for that another one asks for already, and the issuers that no file has. Pure. */
export function relationsOf(objects: readonly CheckedObject[], registry: ProviderRegistry): readonly Finding[] {
  const issuers = new Set(objects.filter(({ spec }) => spec.of === "issuer").map(({ ref }) => ref));
  return [
    ...askedTwice(objects, "FLP216", ({ spec }) => addressesOf(spec)),
    ...askedTwice(objects, "FLP222", ({ spec }) => namesOf(spec, registry)),
    ...objects.flatMap((object) => missingIssuer(object, issuers)),
    ...objects.flatMap((object) => otherFamily(object, objects)),
  ];
}

/** What an object asks for, and where. */
interface Wish {
  /** The same for the same thing. */
  readonly key: string;
  /** For people. */
  readonly text: string;
  readonly path: string;
}

/** The same object in two files is one object, as in a base and its overlay. */
function askedTwice(
  objects: readonly CheckedObject[],
  code: "FLP216" | "FLP222",
  wishesOf: (object: CheckedObject) => readonly Wish[],
): readonly Finding[] {
  const first = new Map<string, { readonly object: CheckedObject; readonly path: string }>();
  return objects.flatMap((object) =>
    wishesOf(object).flatMap(({ key, text, path }) => {
      const before = first.get(key);
      if (before === undefined) first.set(key, { object, path });
      if (before === undefined || before.object.ref === object.ref) return [];
      const { file, document, ref } = before.object;
      const message = `${text} is asked for by ${ref}, too (${file}:${document.valueAt(pathSteps(before.path)).line})`;
      return [found(object, { code, path, message })];
    }),
  );
}

function found({ file, ref, document }: CheckedObject, remark: Pick<Finding, "code" | "path" | "message">): Finding {
  return findingOf(remark, { file, object: ref, position: document.valueAt(pathSteps(remark.path)) });
}

function addressesOf({ of, object }: SpecObject): readonly Wish[] {
  const address = (ip: string, path: string): readonly Wish[] =>
    canonicalAddress(ip) === undefined ? [] : [{ key: ip, text: ip, path }];
  if (of === "routedip") return address(object.spec.address, "spec.address");
  return of === "pool" ? object.spec.ips.flatMap((ip, at) => address(ip, `spec.ips[${at}]`)) : [];
}

function namesOf(spec: SpecObject, registry: ProviderRegistry): readonly Wish[] {
  const wish = wishOf(spec, registry);
  if (wish.kind !== "named") return [];
  const { provider, zone, isZoneID, recordName } = wish;
  const path = "spec.dnsRecordSet.recordName";
  return typesOf(spec).flatMap((type) => {
    // The name of a zone that is given by its id is not known here.
    if (isZoneID) {
      const text = setText({ fqdn: `${recordName} in zone ${zone}`, type });
      return [{ key: `${provider} ${zone} ${setText({ fqdn: recordName, type })}`, text, path }];
    }
    const resolved = recordFQDN(recordName, zone);
    const text = resolved.kind === "name" ? setText({ fqdn: resolved.fqdn, type }) : undefined;
    return text === undefined ? [] : [{ key: `${provider} ${text}`, text, path }];
  });
}

/** The types of records that an object asks for. */
function typesOf(spec: SpecObject): readonly RecordType[] {
  if (spec.of === "pool") return [recordTypeOf(ipFamilyOf(spec.object.spec))];
  if (spec.of !== "dns") return [recordTypeOf(spec.of === "routedip" ? routedFamily(spec.object) : "IPv4")];
  return (["A", "AAAA"] as const).filter((type) => asksFor(spec.object.spec, type));
}

function missingIssuer(one: CheckedObject, issuers: ReadonlySet<string>): readonly Finding[] {
  if (one.spec.of !== "routedip") return [];
  const { meta, spec } = one.spec.object;
  if (spec.issuer === "" || issuers.has(`issuer/${meta.namespace}/${spec.issuer}`)) return [];
  const message = `no file has the RoutedIPIssuer ${spec.issuer} of namespace ${meta.namespace}`;
  return [found(one, { code: "FLP225", path: "spec.issuer", message })];
}

/** The address of a RoutedIP is of the family that its issuer has. */
function otherFamily(one: CheckedObject, objects: readonly CheckedObject[]): readonly Finding[] {
  if (one.spec.of !== "routedip") return [];
  const { meta, spec } = one.spec.object;
  const ref = `issuer/${meta.namespace}/${spec.issuer}`;
  const families = objects.flatMap(({ spec: other, ref: name }) =>
    other.of === "issuer" && name === ref ? [ipFamilyOf(other.object.spec)] : [],
  );
  const [family] = families;
  if (family === undefined || canonicalAddress(spec.address) === undefined) return [];
  const message = entryProblem(spec.address, family, "spec.ipFamily of the issuer");
  return message === undefined ? [] : [found(one, { code: "FLP214", path: "spec.address", message })];
}
