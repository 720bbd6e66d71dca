import type { Mutation } from "./mutations.ts";

/** Bugs about names that the simulator must find, each by itself. */
export const DNS_BUGS: readonly Mutation[] = [
  {
    name: "An address is published before it is seen on its machine.",
    file: "src/plan/dns/pool-addresses.ts",
    find: "for (const { id, ip } of assignments) serving.set(ip, id);",
    replace: "for (const { ip } of assignments) serving.set(ip, undefined);",
  },
  {
    name: "A name is emptied when nothing serves.",
    file: "src/plan/dns/decide-records.ts",
    find: 'whenEmpty === "Delete" && (undecided.size === 0 || isPart(staying, records.addresses));',
    replace: "undecided.size === 0 || isPart(staying, records.addresses);",
  },
  {
    name: "A name that may be empty is emptied although some of its addresses could not be read.",
    file: "src/plan/dns/decide-records.ts",
    find: 'whenEmpty === "Delete" && (undecided.size === 0 || isPart(staying, records.addresses));\n    return mayLeave\n      ? { kind: "set", addresses: recordAddresses(staying)',
    replace: 'whenEmpty === "Delete";\n    return mayLeave\n      ? { kind: "set", addresses: []',
  },
  {
    name: "What nobody could look at leaves the name.",
    file: "src/plan/dns/decide-records.ts",
    find: "const staying = records.addresses.filter((address) => undecided.has(address));",
    replace: "const staying = records.addresses.filter((address) => undecided.has(address) && serving.size > 99);",
  },
  {
    name: "Records are taken out before the new ones are in.",
    file: "test/fake/memory-dns-provider-write.ts",
    find: "  for (const content of missing) {\n",
    replace:
      '  for (const { id } of surplus) await write.call("remove-record", "", (held) => write.change(held, () => held.remove((record) => record.id === id)));\n  for (const content of missing) {\n',
  },
  {
    name: "The annotation of a node is published as it is written, whatever the pool knows of the address.",
    file: "src/plan/dns/record-set-addresses.ts",
    find: "  return fact === undefined || isUndecided ? [{ address: addressAnnotation, isUndecided }] : [];",
    replace: "  return [{ address: addressAnnotation, isUndecided: isUndecided && pools.size > 99 }];",
  },
  {
    name: "The name an object had before is forgotten.",
    file: "src/plan/dns/dns-memory.ts",
    find: "formerDNS: former.names };",
    replace: "formerDNS: former.names.slice(0, 0) };",
  },
  {
    name: "A name is written before it is on record.",
    file: "src/apply/preparations.ts",
    find: "  if (write === undefined) return {};\n",
    replace: '  if (write === undefined || write.fqdn !== "") return {};\n',
  },
  {
    name: "What is added to a known name is not on record before.",
    file: "src/apply/preparations.ts",
    find: 'if (isKnown || spec.reclaimPolicy !== "Delete") return {};',
    replace: "return {};",
  },
  {
    name: "The old name goes although the new one cannot be written.",
    file: "src/plan/dns/former-names.ts",
    find: '  if (!present.isInPlace || isBeingCleaned(present, written)) return held({ reason: "NewNameFirst" });\n',
    replace: "",
  },
  {
    name: "The old name goes without waiting for the new one.",
    file: "src/plan/dns/former-names.ts",
    find: "requires: present.actions.map(({ id }) => id),",
    replace: "requires: [],",
  },
  {
    name: "All records of an old name go, also those of somebody else.",
    file: "src/plan/dns/former-names.ts",
    find: "found.records.addresses.filter((address) => !former.addresses.includes(address));",
    replace: "found.records.addresses.slice(0, 0);",
  },
  {
    name: "A former name is forgotten as soon as another object asks for it.",
    file: "src/plan/dns/former-names.ts",
    find: "if (!meta.isDeleting) return { isKept: true };",
    replace: "if (!meta.isDeleting) return { isKept: false };",
  },
  {
    name: "Two objects both write a name they ask for.",
    file: "src/plan/dns/name-plan.ts",
    find: "  if (name === undefined || owner === undefined || isSameObject(owner, ref)) return target;\n",
    replace: "  if (name !== undefined || owner === undefined || isSameObject(owner, ref)) return target;\n",
  },
  {
    name: "The object that has a name loses it to an older one that asks for it.",
    file: "src/plan/dns/name-claims.ts",
    find: "if (rival === undefined || (isHolder && !rival.isHolder))",
    replace: "if (rival === undefined)",
  },
  {
    name: "A set is changed although it became another since it was planned on.",
    file: "src/adapters/provider-http/change-record-set.ts",
    find: '  return isSameSet(records.addresses, expected) ? undefined : { kind: "stale", records };\n',
    replace: "  return undefined;\n",
  },
  {
    name: "A TTL too low for the provider is asked for again and again.",
    file: "src/plan/dns/name-target.ts",
    find: "const ttlSeconds = acceptedTTL(wish.ttlSeconds, facts.ttlRules);",
    replace: "const ttlSeconds = wish.ttlSeconds;",
  },
  {
    name: "A TTL that differs is left as it is.",
    file: "src/plan/dns/decide-records.ts",
    find: "(addresses.length === 0 || isTTLAsWanted(records, ttlSeconds))",
    replace: "(addresses.length === 0 || isTTLAsWanted(records, records.ttlSeconds ?? ttlSeconds))",
  },
  {
    name: "An address that stands twice in a name is left as it is.",
    file: "src/plan/dns/decide-records.ts",
    find: "    !records.hasDuplicates &&\n",
    replace: "",
  },
  {
    name: "A DNS provider is asked although an earlier run was told to wait.",
    file: "src/observe/read-dns.ts",
    find: 'if (why !== undefined || access.kind === "no-token")',
    replace: 'if (access.kind === "no-token")',
  },
  {
    name: "What a DNS provider's rate limit said is not left for later runs.",
    file: "src/apply/note-rate-limits.ts",
    find: "[...observation.providers.values(), ...observation.dns.values()]",
    replace: "[...observation.providers.values()]",
  },
  {
    name: "A rate limit is taken off the Lease once no object names its provider.",
    file: "src/apply/note-rate-limits.ts",
    find: "!known.has(name) && ms > cluster.now()",
    replace: "!known.has(name) && ms > cluster.now() + 9e9",
  },
  {
    name: "A name that cannot be read counts as empty.",
    file: "src/observe/read-dns.ts",
    find: "records: await provider.readRecords(entry.zone, entry.fqdn)",
    replace:
      "records: await provider.readRecords(entry.zone, entry.fqdn).catch(() => ({ fqdn: entry.fqdn, addresses: [], isTTLAutomatic: false, hasDuplicates: false }))",
  },
  {
    name: "A zone that cannot be read counts as missing.",
    file: "src/observe/read-dns.ts",
    find: "const zone = await provider.findZone(text);",
    replace: "const zone = await provider.findZone(text).catch(() => undefined);",
  },
  {
    name: "A record set knows no grace.",
    file: "src/plan/record-set-view.ts",
    find: "unready.filter(({ graceUntilMs }) => graceUntilMs > observation.nodesReadAtMs);",
    replace: "unready.filter(({ graceUntilMs }) => graceUntilMs > observation.nodesReadAtMs + 9e9);",
  },
  {
    name: "A change of records goes on after the Lease was lost.",
    file: "src/apply/write-dns.ts",
    find: "const mayWrite = (): boolean => context.lock.isHeld();",
    replace: "const mayWrite = (): boolean => true;",
  },
  {
    name: "A suspended record set is changed.",
    file: "src/plan/dns/publishers.ts",
    find: "isWritable: isSelected && mayPublish,",
    replace: "isWritable: isSelected,",
  },
  {
    name: "Records that must be cleaned one day are written without a finalizer.",
    file: "src/plan/dns/plan-dns.ts",
    find: ' || present.actions.some(({ kind }) => kind === "update-dns"),',
    replace: ",",
  },
  {
    name: "An object is let go before its records are cleaned.",
    file: "src/plan/dns/plan-dns.ts",
    find: "    after: [...former.actions.map(({ id }) => id), ...former.heirs],\n",
    replace: "    after: [],\n",
  },
  {
    name: "An object is let go although its records cannot be cleaned now.",
    file: "src/plan/dns/plan-dns.ts",
    find: "isStuck: former.holds.length > 0,",
    replace: "isStuck: former.holds.length > 99,",
  },
  {
    name: "A failed change of a name is repeated at once.",
    file: "src/plan/dns/fold-dns.ts",
    find: '    if (outcome.outcome !== "failed") return list;\n',
    replace: '    if (outcome.outcome !== "failed" || subject !== "") return list;\n',
  },
];
