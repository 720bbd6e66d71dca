import type { Action, UnassignIP } from "../../model/action.ts";
import type { Decision } from "../addresses/decide-pools.ts";
import { dropActions } from "../drop-actions.ts";
import type { NameClaims } from "./name-claims.ts";
import { ownTarget } from "./name-plan.ts";
import type { ObjectNames } from "./plan-dns.ts";
import type { Publisher } from "./publishers.ts";

/**
 * Where all addresses of a name that serve would leave their machines at once, the last one stays, and with it what needs its machine, until another address of the
 * name serves: the next look at the world, still in this pass, lets it go. `kept` has the name by each address that stays. Pure.
 */
export function keepOneServing(
  decisions: readonly Decision[],
  publishers: readonly Publisher[],
  claims: NameClaims,
  serving: ReadonlySet<string>,
): { readonly decisions: readonly Decision[]; readonly kept: ReadonlyMap<string, string> } {
  const unassigning = decisions.flatMap(({ actions }) => actions.filter(isUnassign));
  const leaving = new Set(unassigning.map(({ ip }) => ip));
  const needed = new Map(
    publishers.flatMap((publisher) => {
      const target = ownTarget(publisher, claims);
      if (target.kind !== "ready") return [];
      const present = target.records.addresses.filter((ip) => serving.has(ip));
      const last = present.length > 1 && present.every((ip) => leaving.has(ip)) ? present.at(-1) : undefined;
      return last === undefined ? [] : [[last, target.name.fqdn] as const];
    }),
  );
  const held = unassigning.flatMap(({ id, ip }) => {
    const detail = needed.get(ip);
    return detail === undefined
      ? []
      : [[id, { subject: ip, reason: "LastServing" as const, detail, needsPerson: false }] as const];
  });
  const kept = new Map(held.map(([, { subject, detail }]) => [subject, detail]));
  return { decisions: dropActions(decisions, new Map(held)), kept };
}

/** An address that a name shows and that nothing of the plan takes out of it is not given back to the provider: it could be a stranger's tomorrow. Pure. */
export function keepPublished(decisions: readonly Decision[], names: readonly ObjectNames[]): readonly Decision[] {
  const staying = new Map(names.flatMap(stayingAddresses));
  const held = decisions
    .flatMap(({ actions }) => actions)
    .flatMap((action) => {
      const detail = action.kind === "delete-ip" ? staying.get(action.ip) : undefined;
      if (action.kind !== "delete-ip" || detail === undefined) return [];
      return [
        [action.id, { subject: action.ip, reason: "StillPublished" as const, detail, needsPerson: false }] as const,
      ];
    });
  return dropActions(decisions, new Map(held));
}

function stayingAddresses({ present: { target, actions } }: ObjectNames): readonly (readonly [string, string])[] {
  if (target.kind !== "ready") return [];
  const [write] = actions;
  return target.records.addresses
    .filter((ip) => write === undefined || write.after.addresses.includes(ip))
    .map((ip) => [ip, target.name.fqdn] as const);
}

function isUnassign(action: Action): action is UnassignIP {
  return action.kind === "unassign-ip";
}
