import type { Zone } from "../model/dns.ts";
import { recordFQDN } from "../model/record-name.ts";
import type { Pool, PublishedName, RecordSet } from "../model/resource.ts";
import { type DNSWish, type NamedWish, poolWish, recordSetWish } from "../plan/dns/dns-wish.ts";

/** Which zones and names of one DNS provider a pass must know about. */
export interface WantedNames {
  /** Every zone, as objects write it, canonical and once. */
  readonly zones: readonly string[];
  /** The names within one zone once that is found, canonical and once. */
  readonly namesIn: (text: string, zone: Zone) => readonly string[];
}

/** Collects what objects ask for, and the names they had before where their records are to be cleaned. Pure. */
export function wantedNames(provider: string, pools: readonly Pool[], recordSets: readonly RecordSet[]): WantedNames {
  const wishes = [...pools.map(poolWish), ...recordSets.map(recordSetWish)].filter(isNamedAt(provider));
  const former = [...pools, ...recordSets].flatMap(cleanable).filter((name) => name.provider === provider);
  return {
    zones: [...new Set([...wishes, ...former].map(({ zone }) => zone))],
    namesIn: (text, zone) => {
      const present = wishes
        .filter((wish) => wish.zone === text)
        .map(({ recordName }) => recordFQDN(recordName, zone.name))
        .flatMap((resolved) => (resolved.kind === "name" ? [resolved.fqdn] : []));
      const past = former.filter((name) => name.zone === text).map(({ name }) => name);
      return [...new Set([...present, ...past])];
    },
  };
}

function isNamedAt(provider: string): (wish: DNSWish) => wish is NamedWish {
  return (wish): wish is NamedWish => wish.kind === "named" && wish.provider === provider;
}

function cleanable({ spec, status }: Pool | RecordSet): readonly PublishedName[] {
  if (spec.reclaimPolicy !== "Delete") return [];
  return [...status.formerDNS, ...(status.publishedDNS === undefined ? [] : [status.publishedDNS])];
}
