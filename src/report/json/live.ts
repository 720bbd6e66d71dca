import type { LiveName, ServerAnswer } from "../../model/live.ts";
import { plain } from "../../model/text.ts";
import type { Difference, Live, LiveAddress, LiveObject, ProviderSight } from "../live.ts";
import type { JSONObject } from "./document.ts";

/** Returns `live` of the document `Status`; `agrees` is null where there is nothing to compare. */
export function liveFields({ objects, differences, unread }: Live): JSONObject {
  return {
    objects: objects.map(objectField),
    differences: differences.map(differenceField),
    unread: unread.map(({ subjects, why, isPartial }) => ({ subjects, message: plain(why), isPartial })),
  };
}

function objectField({ object: { kind, namespace, name: ownName }, name, addresses }: LiveObject): JSONObject {
  return {
    object: { kind, namespace, name: ownName },
    name: name === undefined ? null : nameField(name),
    addresses: addresses.map((address) => addressField(address, name)),
  };
}

/** `records` is null while they could not be read; `answered` is empty while nobody was asked. */
function nameField(name: LiveName): JSONObject {
  const { fqdn, provider } = name;
  if (name.kind === "unread")
    return { name: fqdn, provider, records: null, isProxied: false, answered: [], error: plain(name.error) };
  const { addresses: records, isProxied, answer } = name;
  const error = "error" in answer ? { error: plain(answer.error) } : {};
  return { name: fqdn, provider, records, isProxied, answered: serversOf(name).map(answerField), ...error };
}

function serversOf(name: LiveName | undefined): readonly ServerAnswer[] {
  return name?.kind !== "read" || "error" in name.answer ? [] : name.answer.servers;
}

function answerField(one: ServerAnswer): JSONObject {
  if ("error" in one) return { server: one.server, addresses: [], ttl: null, error: plain(one.error) };
  return { server: one.server, addresses: one.addresses, ttl: one.ttlSeconds ?? null };
}

function addressField(
  { ip, status, provider, annotation, record }: LiveAddress,
  name: LiveName | undefined,
): JSONObject {
  const live = {
    provider: provider === undefined ? null : { agrees: provider.agrees, ...sightFields(provider.seen) },
    annotation: annotation === undefined ? null : { agrees: annotation.agrees, nodeName: annotation.nodeName ?? null },
    record: record === undefined ? null : { agrees: record.agrees, isShown: record.isShown },
    answered: serversOf(name)
      .filter((one) => "addresses" in one && one.addresses.includes(ip))
      .map(answerField),
  };
  return { ip, status, live };
}

function sightFields(seen: ProviderSight): JSONObject {
  const place = seen.kind === "attached" ? seen : { machineID: undefined, nodeName: undefined };
  const error = seen.kind === "unread" ? { error: plain(seen.error) } : {};
  return { state: seen.kind, machineID: place.machineID ?? null, nodeName: place.nodeName ?? null, ...error };
}

function differenceField({ object, subject, kind, message, why, isDue }: Difference): JSONObject {
  const { namespace, name } = object;
  return {
    object: { kind: object.kind, namespace, name },
    subject,
    kind,
    message: plain(message),
    why: plain(why),
    isDue,
  };
}
