import { publishedNames } from "../../src/model/record-types.ts";
import { type DNSMemory, objectKey } from "../../src/model/resource.ts";
import type { SimCall } from "./faults.ts";
import { nameKey, publishers, wishOf } from "./publishers.ts";
import type { WrittenName } from "./records.ts";
import type { World } from "./world.ts";

/** Enters whose a name is once a status was written: an object that asks for it and by its status has it owns what stands there, whoever wrote it. */
export function noteOwner(
  written: Map<string, WrittenName>,
  world: World,
  { operation, subject, args }: SimCall,
): void {
  const [status] = args as readonly [DNSMemory];
  for (const { provider, name } of publishedNames(status)) noteName(nameKey(provider, name));

  function noteName(key: string): void {
    const known = written.get(key);
    const owner = publishers(world).find(
      ({ meta, spec }) => objectKey(meta) === subject && "addressType" in spec === operation.startsWith("record"),
    );
    const wish = owner === undefined ? undefined : wishOf(world, owner);
    if (known === undefined || known.uid === "" || owner === undefined || wish === undefined) return;
    if (nameKey(wish.provider, wish.fqdn) === key) written.set(key, { ...known, uid: owner.meta.uid });
  }
}
