import { type Action, type ObjectRef, type Place, refKey, subjectOf, type WriteDNS } from "../../model/action.ts";
import { changesFirewall, changesName } from "../../model/action-kinds.ts";
import { capital } from "../../model/hold.ts";
import { nodePhrase } from "../../model/node-phrase.ts";
import {
  announcedActions,
  type Gap,
  type Hold,
  type NodeVerdict,
  type Plan,
  type PlanGrants,
  type PoolAssessment,
  type RecordSetAssessment,
  type SetAssessment,
} from "../../model/plan.ts";
import { publishedNames } from "../../model/record-types.ts";
import type { PublishedName } from "../../model/resource.ts";
import { plain } from "../../model/text.ts";
import { type Impact, impactOf, namesDown } from "../impact.ts";
import { isRouted, routedAddress } from "../overview.ts";
import { actionLine, whyAction } from "../text/actions.ts";
import { whyHold } from "../text/holds.ts";
import type { EditsTold } from "../text/plan-entries.ts";
import { countKinds, putOffCount, summaryText, unreadAddresses } from "../text/summary.ts";
import { rfc3339 } from "../text/times.ts";
import {
  API_VERSION,
  firewallField,
  foreignField,
  type JSONObject,
  type JSONValue,
  pendingFirewallField,
  publishedField,
} from "./document.ts";

/**
 * Returns the document `Plan`; its JSON Schema is `schema/plan.json`.
 *
 * @param told - how the world that is planned for differs from the one that was read; absent = it does not
 */
export function planDocument(plan: Plan, told?: EditsTold): JSONObject {
  const head = { apiVersion: API_VERSION, kind: "Plan" };
  if (told === undefined) return { ...head, ...planFields(plan) };
  return { ...head, edits: [...told.edits], files: [...told.files], ...planFields(plan) };
}

/** Returns the fields that `Plan` and `RunResult` share. */
export function planFields(plan: Plan): JSONObject {
  const pools = plan.pools.filter((pool) => !isRouted(pool));
  const routedIPs = plan.pools.filter(isRouted);
  return {
    planId: plan.planID,
    observedAt: rfc3339(plan.observedAtMs),
    cluster: plan.cluster,
    summary: {
      message: plain(summaryText(plan)),
      actions: Object.fromEntries(countKinds(announcedActions(plan))),
      held: plan.holds.length,
      unreadable: plan.gaps.filter(({ putOff }) => putOff === undefined).length,
      putOff: putOffCount(plan),
      pools: pools.length,
      routedIPs: routedIPs.length,
      recordSets: plan.recordSets.length,
    },
    withoutService: namesDown(plan).map(({ object, provider, fqdn, shown }) => ({
      object: objectField(object),
      provider,
      name: fqdn,
      addresses: shown,
    })),
    impact: impactOf(plan).map(impactField),
    budget: plan.budget.map(({ allowance, isFloating: _word, isHostUnseen: _told, managedHosts: _too, ...budget }) => ({
      ...budget,
      ...(allowance === undefined ? {} : { allowance: { ...allowance } }),
    })),
    actions: plan.actions.map((action) => actionField(action, plan.pools)),
    followUps: plan.followUps.map((action) => actionField(action, plan.pools)),
    ...(plan.suspendedActions === undefined
      ? {}
      : { suspendedActions: plan.suspendedActions.map((action) => actionField(action, plan.pools)) }),
    holds: plan.holds.map((hold) => holdField(hold, plan.observedAtMs)),
    gaps: plan.gaps.map(gapField),
    ...(plan.grants === undefined ? {} : { grants: grantsField(plan.grants) }),
    pools: pools.map(poolField),
    routedIPs: routedIPs.map(routedIPField),
    recordSets: plan.recordSets.map(recordSetField),
  };
}

/** Seconds are `null` where nothing of the plan ends the outage. */
function impactField(impact: Impact): JSONObject {
  const seconds = impact.outages.map((outage) => outage.seconds ?? Number.POSITIVE_INFINITY);
  const longest = Math.max(0, ...seconds);
  return {
    object: objectField(impact.object),
    subject: impact.subject,
    class: impact.class,
    touches: impact.touches,
    addresses: impact.addresses,
    names: impact.outages.map(({ name, seconds: ofName = null }) => ({ name, seconds: ofName })),
    seconds: Number.isFinite(longest) ? longest : null,
    message: plain(impact.message),
  };
}

function grantsField({ mode, missing, problems, refusal }: PlanGrants): JSONObject {
  return {
    mode,
    missing: missing.map(({ object, grant, effect, reason, sentence, advice }) => ({
      object: objectField(object),
      grant,
      effect,
      reason,
      message: plain(`${capital(sentence)}.`),
      advice: advice === undefined ? undefined : plain(advice),
    })),
    problems: problems.map(({ namespace, annotation, entry, why }) => ({
      namespace,
      annotation,
      entry: plain(entry),
      message: why,
    })),
    refusal: refusal === undefined ? undefined : plain(refusal),
  };
}

/** Returns an object reference as documents carry it. */
export function objectField({ kind, namespace, name }: ObjectRef): JSONObject {
  return { kind, namespace, name };
}

/** Returns one action that is still to be done; `null` stands for "nothing" in before and after. */
export function actionField(action: Action, pools: readonly PoolAssessment[]): JSONObject {
  const pool = pools.find(({ object }) => refKey(object) === refKey(action.object));
  return {
    kind: action.kind,
    object: objectField(action.object),
    subject: subjectOf(action),
    reason: action.reason,
    impact: action.impact ?? "none",
    ...(action.kind === "acquire-ip" ? { newAddress: action.newAddress } : {}),
    ...(changesFirewall(action) ? { firewall: { provider: action.provider, ...action.firewall } } : {}),
    ...(changesName(action) ? { dns: changedName(action) } : {}),
    message: plain(`${actionLine(action)}: ${whyAction(action, pool)}`),
    before: sideField(action.before),
    after: sideField(action.after),
  };
}

function changedName({ dnsProvider: provider, zoneText: zone, fqdn: name, unrecorded, others }: WriteDNS): JSONObject {
  return {
    provider,
    zone,
    name,
    ...(unrecorded === undefined ? {} : { foreignReplaced: unrecorded }),
    ...(others === undefined || others.addresses.length === 0 ? {} : { foreignKept: others.addresses }),
  };
}

/** Returns one hold. */
export function holdField(hold: Hold, nowMs: number): JSONObject {
  return {
    kind: hold.kind,
    object: objectField(hold.object),
    subject: hold.subject,
    reason: hold.reason,
    message: plain(whyHold(hold, nowMs)),
    notBefore: hold.notBeforeMs === undefined ? undefined : rfc3339(hold.notBeforeMs),
    needsPerson: hold.needsPerson,
  };
}

function sideField(side: Action["before"] | Action["after"]): JSONValue {
  if (side === undefined) return null;
  if (isTexts(side)) return side;
  if ("node" in side) return { node: placeField(side.node) };
  if ("machineID" in side) return placeField(side);
  if ("addresses" in side) return { addresses: side.addresses, ttlSeconds: side.ttlSeconds ?? null };
  return "region" in side ? { region: side.region } : { address: side.address ?? null, pool: side.pool ?? null };
}

/** True for what a change of a firewall takes away or brings. */
function isTexts(side: NonNullable<Action["before"] | Action["after"]>): side is readonly string[] {
  return Array.isArray(side);
}

function placeField({ machineID, nodeName }: Place): JSONObject {
  return { machineID, nodeName: nodeName ?? null };
}

function poolField(pool: PoolAssessment): JSONObject {
  const unread = unreadAddresses(pool);
  return {
    object: objectField(pool.object),
    desired: pool.desired,
    matching: pool.matching,
    notMatching: pool.notMatching.map(verdictField),
    waiting: pool.waiting,
    skipped: pool.skipped.map(verdictField),
    addresses: Object.entries(pool.status.ips).map(([ip, { state, nodeName }]) => {
      return { ip, state, nodeName, ...(unread.has(ip) ? { isUnread: true } : {}) };
    }),
    dns: publishedField(pool.status),
  };
}

function routedIPField(routedIP: PoolAssessment): JSONObject {
  const { object, desired: _, dns = null, ...fields } = poolField(routedIP);
  const address = routedAddress(routedIP.status);
  return {
    object: object ?? null,
    address: address?.ip ?? null,
    nodeName: address?.entry.nodeName ?? null,
    state: address?.entry.state ?? null,
    ...fields,
    firewalls: (routedIP.status.firewalls ?? []).map(firewallField),
    pendingFirewalls: (routedIP.status.pendingFirewalls ?? []).map(pendingFirewallField),
    dns,
  };
}

function recordSetField(recordSet: RecordSetAssessment): JSONObject {
  const { provider, zone, recordName } = recordSet.written;
  const { ipv6 } = recordSet;
  return {
    object: objectField(recordSet.object),
    provider,
    zone,
    recordName,
    name: recordSet.fqdn ?? null,
    published: recordSet.published ?? null,
    dns: { provider, zone, recordName, name: recordSet.fqdn ?? null, published: recordSet.published ?? null },
    ...foreignField(publishedOf(recordSet, recordSet.fqdn) ?? {}),
    ...(ipv6 === undefined ? {} : { ipv6: setField(recordSet, ipv6) }),
    matching: recordSet.matching,
    notMatching: recordSet.notMatching.map(verdictField),
    state: recordSet.status.state ?? null,
  };
}

function publishedOf({ status }: RecordSetAssessment, fqdn: string | undefined): PublishedName | undefined {
  return publishedNames(status).find(({ name }) => name === fqdn);
}

function setField(recordSet: RecordSetAssessment, { fqdn, published }: SetAssessment): JSONObject {
  return { name: fqdn ?? null, published: published ?? null, ...foreignField(publishedOf(recordSet, fqdn) ?? {}) };
}

function verdictField(verdict: NodeVerdict): JSONObject {
  return { nodeName: verdict.nodeName, reason: verdict.reason, message: plain(nodePhrase(verdict)) };
}

/** Returns what could not be read, or was put off. */
export function gapField({ provider, subject, error, putOff }: Gap): JSONObject {
  const until = putOff === undefined ? {} : { putOff: { names: putOff.names, until: rfc3339(putOff.untilMs) } };
  return { provider, subject, error: plain(error), ...until };
}
