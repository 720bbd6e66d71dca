import {
  type Action,
  IMPACT_CLASSES,
  type ImpactClass,
  isVoluntary,
  type ObjectRef,
  refKey,
  subjectOf,
} from "../model/action.ts";
import { changesName, changesPorts } from "../model/action-kinds.ts";
import { clearedAddresses } from "../model/annotated.ts";
import { portText } from "../model/firewall.ts";
import { announcedActions, type NameService, type Plan } from "../model/plan.ts";
import { objectKey } from "../model/resource.ts";
import { dnsChange, placeText } from "./text/actions.ts";
import { countText, listText } from "./text/layout.ts";

/*
 * Who is hurt by a plan, and what is without service already. A plan that hurts is never silent; one that hurts nobody has no impact.
 *
 *   impact of               what it tells
 *   a class of an object    the addresses that are taken away where they serve, or for good, and the names that are without service meanwhile
 *   ports of a firewall     the machines behind it that are no nodes of this cluster
 *   foreign records         what flipop did not write, and removes
 */

/** One way in which a plan hurts somebody, or touches what is not flipop's. */
export interface Impact {
  readonly object: ObjectRef;
  /** The firewall, or the name with foreign records; else the object itself. */
  readonly subject: string;
  /** `none` for what is touched of others. */
  readonly class: ImpactClass;
  /** `healthy`: something that is well loses by it. `others`: it changes what may be somebody else's, or what others use. */
  readonly touches: "healthy" | "others";
  /** The addresses that are taken away. */
  readonly addresses: readonly string[];
  /** The names that are without service meanwhile. */
  readonly outages: readonly Outage[];
  readonly message: string;
}

/** A name without service, and for how long. */
export interface Outage {
  readonly name: string;
  /** An estimate: see {@link outageOf}. Absent where nothing of the plan ends it. */
  readonly seconds?: number;
  /** Why it cannot be shorter; `""` where there is nothing to say. */
  readonly why: string;
}

const MOST = 3;

/** Returns the impact of a plan: by object what it hurts, the worst class first; then what it touches of others, in plan order. Pure. */
export function impactOf(plan: Plan): readonly Impact[] {
  const harms = harmsOf(plan);
  return [
    ...harms.map((harm): Impact => {
      const { object, impact, losses, outages } = harm;
      return {
        object,
        subject: objectKey(object),
        class: impact,
        touches: "healthy",
        addresses: [...new Set(losses.map(({ ip }) => ip))],
        outages,
        message: sentences([harm]).join(" "),
      };
    }),
    ...touchedOthers(plan),
  ];
}

/** Returns what a plan changes for others, or of what others made; in plan order. Pure. */
export function touchedOthers(plan: Plan): readonly Impact[] {
  return announcedActions(plan).flatMap(touched);
}

/** Returns one text for each class of harm, over all objects, the worst class first: `relocation. 203.0.113.1 leaves worker-1, which still serves.` Pure. */
export function harmTexts(plan: Plan): readonly string[] {
  const byClass = Map.groupBy(harmsOf(plan), ({ impact }) => impact);
  return worstFirst(byClass.keys()).map((impact) => `${impact}. ${sentences(byClass.get(impact) ?? []).join(" ")}`);
}

/** Returns the classes of harm among actions, the worst first. */
export function harmClasses(actions: readonly Action[]): readonly ImpactClass[] {
  return worstFirst(actions.flatMap((action) => (isVoluntary(action) ? (action.impact ?? []) : [])));
}

function worstFirst(classes: Iterable<ImpactClass>): readonly ImpactClass[] {
  const present = new Set(classes);
  return IMPACT_CLASSES.filter((one) => present.has(one)).toReversed();
}

/** Returns the names that the plan's objects ask for and that are without service now: they show addresses, and none of them answers. */
export function namesDown({ names, pools, recordSets }: Plan): readonly NameService[] {
  const told = new Set([...pools, ...recordSets].map(({ object }) => refKey(object)));
  return names.filter(
    ({ object, isFormer, shown, serving }) =>
      isFormer === undefined && shown.length > 0 && serving.length === 0 && told.has(refKey(object)),
  );
}

/** What an object loses by the actions of one class. */
interface Harm {
  readonly object: ObjectRef;
  readonly impact: ImpactClass;
  readonly losses: readonly Loss[];
  readonly outages: readonly Outage[];
  /** The names that lose addresses and go on serving. */
  readonly kept: readonly { readonly name: string; readonly left: number; readonly of: number }[];
}

/** An address that something loses. */
interface Loss {
  readonly ip: string;
  /** `machine`: it leaves its machine. `name`: it leaves a name. `annotation`: its node's annotation goes. `account`: it is given back. */
  readonly by: "machine" | "name" | "annotation" | "account";
  /** The machine, the name, the node, or the provider. */
  readonly from: string;
}

function harmsOf(plan: Plan): readonly Harm[] {
  const actions = announcedActions(plan);
  const byObject = Map.groupBy(actions.filter(isVoluntary), ({ object }) => refKey(object));
  if (byObject.size === 0) return [];
  const changes = changesOf(actions);
  const names = new Map(plan.names.map((name) => [nameKey(name), name]));
  const servedAt = new Map<string, NameService[]>();
  for (const name of plan.names) for (const ip of name.serving) servedAt.set(ip, [...(servedAt.get(ip) ?? []), name]);
  return [...byObject.values()].flatMap((own) =>
    harmClasses(own).flatMap((impact): readonly Harm[] => {
      const [first] = own;
      if (first === undefined) return [];
      const losses = own.filter((action) => action.impact === impact).flatMap((action) => lossesOf(action, names));
      const affected = new Set(losses.flatMap(({ ip }) => servedAt.get(ip) ?? []));
      const fates = [...affected].map((name) => ({ name, fate: fateOf(name, changes) }));
      return [
        {
          object: first.object,
          impact,
          losses,
          outages: fates.flatMap(({ name, fate }) => outageOf(name, fate, plan)),
          kept: fates.flatMap(({ name, fate }) =>
            fate.staying.length === 0 ? [] : [{ name: name.fqdn, left: fate.staying.length, of: name.serving.length }],
          ),
        },
      ];
    }),
  );
}

function nameKey({ provider, fqdn }: Pick<NameService, "provider" | "fqdn">): string {
  return `${provider} ${fqdn}`;
}

function lossesOf(action: Action, names: ReadonlyMap<string, NameService>): readonly Loss[] {
  if (changesName(action)) {
    const { fqdn: from, dnsProvider: provider, unrecorded = [] } = action;
    const name = names.get(nameKey({ provider, fqdn: from }));
    const removed = dnsChange(action).removed.filter((ip) => !unrecorded.includes(ip));
    const serving = removed.filter((ip) => name?.serving.includes(ip) === true);
    // Of a name that was not read, or that shows something else by then, all that leaves is told.
    return (serving.length === 0 ? removed : serving).map((ip) => ({ ip, by: "name", from }));
  }
  switch (action.kind) {
    case "move-ip":
    case "unassign-ip":
      return action.before === undefined ? [] : [{ ip: action.ip, by: "machine", from: placeText(action.before) }];
    case "delete-ip":
      return [{ ip: action.ip, by: "account", from: action.provider }];
    case "clear-annotation":
      return clearedAddresses(action).map((ip) => ({ ip, by: "annotation", from: action.nodeName }));
    default:
      return [];
  }
}

/** What becomes of the addresses of a name that serve now. */
interface Fate {
  /** In the name, and on their machines, all the time. */
  readonly staying: readonly string[];
  /** In the name, and away from every machine for a while. */
  readonly moving: readonly string[];
  /** Out of the name, and still on their machines. */
  readonly leaving: readonly string[];
  /** Out of the name, and gone from their machines. */
  readonly gone: readonly string[];
  /** The name's addresses in the end. */
  readonly final: readonly string[];
  /** Addresses that only come to a machine by this plan. */
  readonly arriving: ReadonlySet<string>;
}

/** What the actions of a plan do to addresses and names. */
interface Changes {
  /** Name → its addresses in the end. */
  readonly written: ReadonlyMap<string, readonly string[]>;
  /** Addresses that leave a machine. */
  readonly away: ReadonlySet<string>;
  /** Addresses that come to one. */
  readonly arriving: ReadonlySet<string>;
}

function changesOf(actions: readonly Action[]): Changes {
  const written = new Map<string, readonly string[]>();
  const away = new Set<string>();
  const arriving = new Set<string>();
  for (const action of actions) {
    if (changesName(action))
      written.set(nameKey({ provider: action.dnsProvider, fqdn: action.fqdn }), action.after.addresses);
    if (action.kind === "move-ip" || action.kind === "unassign-ip" || action.kind === "delete-ip") away.add(action.ip);
    if (action.kind === "move-ip" || action.kind === "assign-ip") arriving.add(action.ip);
    if (action.kind === "acquire-ip" && action.newAddress !== undefined) arriving.add(action.newAddress);
  }
  return { written, away, arriving };
}

function fateOf(name: NameService, { written, away, arriving }: Changes): Fate {
  const { shown, serving } = name;
  const final = written.get(nameKey(name)) ?? shown;
  const own = (isIn: boolean, isAway: boolean): readonly string[] =>
    serving.filter((ip) => final.includes(ip) === isIn && away.has(ip) === isAway);
  return {
    staying: own(true, false),
    moving: own(true, true),
    leaving: own(false, false),
    gone: own(false, true),
    final,
    arriving,
  };
}

/** How long an address is on no machine while it is moved, seconds. An estimate: what the provider needs is known afterwards only. */
const MOVE_SECONDS = 10;

/** What the TTL is taken to be where the records do not say it, seconds. */
const UNKNOWN_TTL_SECONDS = 60;

/**
 * Estimates how long a name is without service. The actions of a plan may run at the same time, so addresses that move are taken to move together.
 *
 *   of the addresses that serve now …        the name is without service for
 *   one stays, or only leaves the name       0: it answers whoever still has it
 *   one moves, and no other one stays        the time of a move
 *   all are gone, others are published       the TTL: resolvers may know only the old ones; and a move, where the others have to come first
 *   all are gone, nothing is published       without end
 */
function outageOf(name: NameService, fate: Fate, plan: Plan): readonly Outage[] {
  const { staying, moving, leaving, final, arriving } = fate;
  if (staying.length > 0) return [];
  const outage = (why: string, seconds?: number): readonly Outage[] => [
    { name: name.fqdn, ...(seconds === undefined ? {} : { seconds }), why },
  ];
  if (moving.length > 0) return outage(hasSpare(name, plan) ? "" : "the pool has no spare address", MOVE_SECONDS);
  if (final.length === 0) return outage("");
  if (leaving.length > 0) return [];
  const first = final.every((ip) => arriving.has(ip)) ? MOVE_SECONDS : 0;
  return outage("until resolvers ask again", first + (name.ttlSeconds ?? UNKNOWN_TTL_SECONDS));
}

/** True where the pool of a name has an address that it does not use; of a record set nothing is said. */
function hasSpare({ object }: NameService, { pools }: Plan): boolean {
  const pool = pools.find((one) => refKey(one.object) === refKey(object));
  return pool === undefined || Object.values(pool.status.ips).some(({ state }) => state === "disabled");
}

/** What the harms of one class do, a sentence each. */
function sentences(harms: readonly Harm[]): readonly string[] {
  const losses = harms.flatMap((harm) => harm.losses);
  const isTakeOver = harms.some(({ impact }) => impact === "takeover");
  const of = (by: Loss["by"]): readonly Loss[] => losses.filter((loss) => loss.by === by);
  const ips = (own: readonly Loss[]): ReadonlySet<string> => new Set(own.map(({ ip }) => ip));
  const without = (own: readonly Loss[], told: ReadonlySet<string>): readonly Loss[] =>
    own.filter(({ ip }) => !told.has(ip));
  const moved = of("machine");
  const deleted = of("account");
  // The usual reduction: what leaves its node is what is given back.
  const isAllDeleted =
    deleted.length > 0 && without(deleted, ips(moved)).length + without(moved, ips(deleted)).length === 0;
  const unnamed = without(of("name"), ips(moved));
  const unmarked = without(of("annotation"), ips([...moved, ...unnamed]));
  const outages = distinct(harms.flatMap((harm) => harm.outages));
  return [
    ...(isTakeOver ? takenText(moved) : movedText(moved, isAllDeleted ? deleted : [])),
    ...unnamedText(unnamed),
    ...unmarkedText(unmarked),
    ...(isAllDeleted ? [] : deletedText(deleted)),
    ...outages.slice(0, MOST).map(outageText),
    ...(outages.length > MOST ? [`${countText(outages.length - MOST, "more name")} would have none, too.`] : []),
    ...(outages.length === 0 ? keptText(harms.flatMap(({ kept }) => kept)) : []),
  ];
}

function distinct(outages: readonly Outage[]): readonly Outage[] {
  return [...new Map(outages.map((outage) => [outage.name, outage])).values()];
}

/** @param deleted - the same addresses, where they are given back as well */
function movedText(losses: readonly Loss[], deleted: readonly Loss[]): readonly string[] {
  const [first, ...more] = losses;
  if (first === undefined) return [];
  const providers = listText([...new Set(deleted.map(({ from }) => from))]);
  const fate = (verb: string): string =>
    deleted.length === 0 ? "" : `, and ${verb} given back to ${providers} for good`;
  return [
    more.length === 0
      ? `${first.ip} leaves ${first.from}, which still serves${fate("is")}.`
      : `${losses.length} addresses leave nodes that still serve${fate("are")}: ${addressList(losses)}.`,
  ];
}

function takenText(losses: readonly Loss[]): readonly string[] {
  const [first, ...more] = losses;
  if (first === undefined) return [];
  return [
    more.length === 0
      ? `${first.ip} leaves ${first.from}, no node of this cluster: whatever uses it there loses it.`
      : `${losses.length} addresses leave machines that are no nodes of this cluster, and whatever uses them there: ${addressList(losses)}.`,
  ];
}

function unnamedText(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return [];
  const ips = new Set(losses.map(({ ip }) => ip));
  const names = listText([...new Set(losses.map(({ from }) => from))], MOST);
  return [
    ips.size === 1
      ? `${[...ips].join()} still serves, and leaves ${names}.`
      : `${ips.size} addresses that still serve leave ${names}: ${addressList(losses)}.`,
  ];
}

function unmarkedText(losses: readonly Loss[]): readonly string[] {
  const [first, ...more] = losses;
  if (first === undefined) return [];
  return [
    more.length === 0
      ? `${first.from} still serves, and loses the annotation ${first.ip}.`
      : `${losses.length} nodes that still serve lose their annotations: ${addressList(losses)}.`,
  ];
}

function deletedText(losses: readonly Loss[]): readonly string[] {
  const [first, ...more] = losses;
  if (first === undefined) return [];
  const providers = listText([...new Set(losses.map(({ from }) => from))]);
  return [
    more.length === 0
      ? `${first.ip} is given back to ${providers} for good.`
      : `${losses.length} addresses are given back to ${providers} for good: ${addressList(losses)}.`,
  ];
}

function addressList(losses: readonly Loss[]): string {
  return listText([...new Set(losses.map(({ ip }) => ip))], MOST);
}

function outageText({ name, seconds, why }: Outage): string {
  if (seconds === undefined) return `${name} would have no address left.`;
  return `${name} would have no service for about ${seconds} s${why === "" ? "" : `: ${why}`}.`;
}

/** Only of a single name: what several keep is in their objects' lines. */
function keptText(kept: Harm["kept"]): readonly string[] {
  const names = new Map(kept.map((one) => [one.name, one]));
  const [only, ...more] = [...names.values()];
  return only === undefined || more.length > 0
    ? []
    : [`${only.name} keeps ${only.left} of ${countText(only.of, "address", "addresses")}.`];
}

/** What changes for others, or of what others made. */
function touched(action: Action): readonly Impact[] {
  const impact = (message: string, addresses: readonly string[]): readonly Impact[] => [
    {
      object: action.object,
      subject: subjectOf(action),
      class: "none",
      touches: "others",
      addresses,
      outages: [],
      message,
    },
  ];
  if (changesPorts(action) && action.otherMachines !== undefined) {
    const { kind, ports, firewall, otherMachines: count } = action;
    const verb = kind === "open-ports" ? "opens" : "closes";
    const whom = count === 1 ? "1 machine that is no node" : `${count} machines that are no nodes`;
    return impact(
      `firewall ${firewall.name} ${verb} ${ports.map(portText).join(", ")} for ${whom} of this cluster`,
      [],
    );
  }
  if (!changesName(action) || action.unrecorded === undefined) return [];
  const isOne = action.unrecorded.length === 1;
  const fate = action.after.addresses.length === 0 ? "removed" : "replaced";
  const list = listText(action.unrecorded, MOST);
  return impact(
    `${action.fqdn} shows ${list}, which no object has on record; ${isOne ? "it is" : "they are"} ${fate}`,
    action.unrecorded,
  );
}
