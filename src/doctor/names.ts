import { refKey } from "../model/action.ts";
import type { ExternalOwner } from "../model/external-dns.ts";
import { setNamed } from "../model/record-types.ts";
import { shownText } from "../model/resource.ts";
import type { Beside, Facts, LookedName } from "./facts.ts";
import {
  allOr,
  type Checks,
  check,
  failing,
  fine,
  notApplicable,
  suspicious,
  unknown,
  type Verdict,
} from "./verdict.ts";

const NONE = notApplicable("no name is published whose records are known");

/** The checks of what stands at published names, and what clients are told of them. */
export const NAME_CHECKS: Checks<"FLP163" | "FLP164" | "FLP165" | "FLP166"> = {
  FLP163: check(["names"], ({ names }) => each(names, ttlVerdicts, "every TTL is as written")),
  FLP164: check(["names"], ({ names }) =>
    each(names, besideVerdicts(ownerVerdicts), "external-dns claims no published name"),
  ),
  FLP165: check(["names"], ({ names }) => each(names, besideVerdicts(aliasVerdicts), "no published name is a CNAME")),
  FLP166: check(["names", "answers"], ({ names, answers }) =>
    each(names, (name) => answerVerdicts(name, answers), "DNS answers as the records say"),
  ),
};

function each(
  names: readonly LookedName[],
  say: (name: LookedName) => readonly Verdict[],
  good: string,
): readonly Verdict[] {
  return names.length === 0 ? [NONE] : allOr(names.flatMap(say), fine(good));
}

function ttlVerdicts({
  object,
  fqdn,
  provider,
  writtenTTL,
  acceptedTTL,
  records,
  isAtRest,
}: LookedName): readonly Verdict[] {
  const key = refKey(object);
  if (records.isTTLAutomatic && records.addresses.length > 0)
    return [suspicious(`${key}: ${provider} decides the TTL of ${fqdn}, not ttl: ${writtenTTL}`)];
  if (acceptedTTL !== writtenTTL) {
    const change = acceptedTTL > writtenTTL ? "raised" : "lowered";
    return [suspicious(`${key}: ttl: ${writtenTTL} of ${fqdn} is ${change} to ${acceptedTTL} at ${provider}`)];
  }
  const { ttlSeconds } = records;
  if (!isAtRest || ttlSeconds === undefined || ttlSeconds === acceptedTTL) return [];
  return [suspicious(`${key}: the records of ${fqdn} have a TTL of ${ttlSeconds} s, not ${acceptedTTL} s`)];
}

function besideVerdicts(
  say: (name: LookedName, beside: Beside) => readonly Verdict[],
): (name: LookedName) => readonly Verdict[] {
  return (name) => {
    const { fqdn, beside } = name;
    return "error" in beside ? [unknown(`${fqdn}: ${beside.error}`)] : say(name, beside);
  };
}

function ownerVerdicts({ fqdn }: LookedName, { owner }: Beside): readonly Verdict[] {
  return owner === undefined ? [] : [failing(`${fqdn} ${ownerText(fqdn, owner)}`)];
}

function ownerText(fqdn: string, { id, mark, isEncrypted }: ExternalOwner): string {
  const isSame = mark === setNamed(fqdn).fqdn;
  const where = isSame ? "carries" : "has beside it";
  const name = isSame ? "" : ` ${shownText(mark)}`;
  const whose = isEncrypted === true ? ", encrypted" : id === undefined ? "" : `, owner "${shownText(id)}"`;
  return `${where} the TXT record${name} of external-dns${whose}`;
}

function aliasVerdicts({ fqdn }: LookedName, { hasCNAME }: Beside): readonly Verdict[] {
  if (hasCNAME === undefined) return [unknown(`${fqdn}: its zone is too long to look for a CNAME`)];
  return hasCNAME ? [failing(`${fqdn} is a CNAME`)] : [];
}

function answerVerdicts({ fqdn, provider, records }: LookedName, answers: Facts["answers"]): readonly Verdict[] {
  // A proxied name answers with the proxy's addresses.
  if (records.isTTLAutomatic) return [];
  const answer = answers.get(fqdn);
  if (answer === undefined) return [unknown(`${fqdn}: nobody was asked`)];
  if ("error" in answer) return [unknown(`${fqdn}: no answer from DNS: ${answer.error}`)];
  if (answer.addresses.toSorted().join() === records.addresses.toSorted().join()) return [];
  return [suspicious(`${fqdn} answers ${listed(answer.addresses)}; ${provider} has ${listed(records.addresses)}`)];
}

function listed(addresses: readonly string[]): string {
  return addresses.length === 0 ? "no address" : addresses.join(", ");
}
