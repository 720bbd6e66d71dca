import type { Hold, Plan } from "../../src/model/plan.ts";
import { annotatedFamily } from "../../src/model/record-types.ts";
import type { PoolStatus, RecordSetStatus } from "../../src/model/resource.ts";
import type { DNSName } from "../fake/dns-account.ts";
import { short } from "../scenario/scenario-names.ts";
import { type CampaignWorld, NAMES, NAMESPACE } from "./campaign-world.ts";
import type { Rest } from "./come-to-rest.ts";
import { KINDS, type Kind } from "./kinds.ts";

/** What an object has come to, as far as it does not matter which of several equal addresses or nodes was taken. */
export interface EndState {
  /** `Ready=True (Ready)`, one for each condition. */
  readonly conditions: readonly string[];
  /** `status.error`, with addresses and nodes by the word. */
  readonly error: string;
  /** The record set's state. */
  readonly state: string;
  /** Addresses in use that are active. */
  readonly serving: number;
  /** Addresses in use that are not, by why: `waiting` for a node, or the reason. */
  readonly open: readonly string[];
  /** Names of the nodes that match. */
  readonly matching: readonly string[];
  /** Whether the name shows what serves: each address of a record set; `all that serve` for a pool. */
  readonly records: readonly string[];
  /** The TTLs of those records, those of A records first. */
  readonly ttls: readonly number[];
  /** `KIND REASON` of everything held. */
  readonly holds: readonly string[];
  readonly hasFinalizer: boolean;
}

/** What was found about an object at rest, beside its {@link EndState}. */
export interface Finding {
  readonly end: EndState;
  readonly status: PoolStatus | RecordSetStatus;
  /** Everything it says about trouble, in one text. */
  readonly says: string;
  /** `PROVIDER NAME` of what it asks for; absent where there is none, or it is not known. */
  readonly name?: string;
}

/** Looks at the object under test of a kind in a world at rest. */
export async function findEnd(campaign: CampaignWorld, kind: Kind, { last }: Rest): Promise<Finding> {
  const { world } = campaign;
  const name = NAMES[kind.name];
  const isPool = kind.ref === "pool";
  const pool = isPool ? await world.pools.status(name) : undefined;
  const status = pool ?? (await world.recordSets.status(name));
  const holds = last.remaining.holds.filter(({ object }) => object.kind === kind.ref && object.name === name);
  const { matching, places } = assessed(last.remaining, kind, name);
  const [place] = places;
  const active = Object.entries(pool?.ips ?? {}).flatMap(([ip, { state }]) => (state === "active" ? [ip] : []));
  const shown = places.map(({ provider, fqdn }) => world.dns.addresses(provider as DNSName, fqdn));
  const ttls = places.map(({ provider, fqdn }) => world.dns.ttls(provider as DNSName, fqdn));
  const end: EndState = {
    conditions: status.conditions.map(({ type, status: is, reason }) => `${type}=${is} (${reason})`),
    error: anonymous(status.error ?? ""),
    state: "state" in status ? (status.state ?? "") : "",
    serving: active.length,
    open: Object.values(pool?.ips ?? {})
      .filter(({ state }) => state !== "active" && state !== "disabled")
      .map(({ state, reason = "" }) => (WAITING.has(reason) ? `waiting ${reason}` : `${state} ${reason}`))
      .toSorted(),
    matching,
    records: isPool
      ? poolRecords(shown.flat(), active)
      : nodeRecords(shown.flat(), await annotated(campaign, kind, matching)),
    ttls: ttls.flat(),
    holds: [...new Set(holds.map(({ kind: what, reason }) => `${what} ${reason}`))].toSorted(),
    hasFinalizer: ((await campaign.read(kind))?.metadata.finalizers ?? []).length > 0,
  };
  return {
    end,
    status,
    says: saidOf(status, holds),
    ...(place === undefined ? {} : { name: `${place.provider} ${place.fqdn}` }),
  };
}

/** An address that no node can take: unattached in a fresh world, parked where it last was in another (product.md, section 5). */
export const WAITING: ReadonlySet<string> = new Set(["NoCandidate", "RegionMismatch"]);

/** A set of records, its name as `setText` has it. */
interface Place {
  readonly provider: string;
  readonly fqdn: string;
}

function assessed(
  plan: Plan,
  kind: Kind,
  name: string,
): { readonly matching: readonly string[]; readonly places: readonly Place[] } {
  const isIt = ({ object }: { readonly object: { readonly namespace: string; readonly name: string } }): boolean =>
    object.namespace === NAMESPACE && object.name === name;
  if (kind.ref === "pool") {
    const pool = plan.pools.find(isIt);
    return { matching: pool?.matching ?? [], places: pool?.dns === undefined ? [] : [pool.dns] };
  }
  const recordSet = plan.recordSets.find(isIt);
  const provider = recordSet?.written.provider ?? "";
  const names = [recordSet?.fqdn ?? [], recordSet?.ipv6?.fqdn ?? []].flat();
  return { matching: recordSet?.matching ?? [], places: names.map((fqdn) => ({ provider, fqdn })) };
}

function poolRecords(shown: readonly string[], active: readonly string[]): readonly string[] {
  if (shown.length === 0) return [];
  return shown.join() === active.toSorted().join() ? ["all that serve"] : shown;
}

/** What a record set shows: its addresses, or that they are those of annotations, which go with the addresses of pools. */
function nodeRecords(shown: readonly string[], annotations: readonly string[] | undefined): readonly string[] {
  if (annotations === undefined || shown.length === 0) return shown;
  return shown.map(short).toSorted().join() === annotations.join() ? ["all annotations"] : shown;
}

/** The addresses that annotations of these nodes show, those left out that a pool no longer calls active, as a suspended one may; undefined for a record set that publishes others. */
async function annotated(
  campaign: CampaignWorld,
  kind: Kind,
  nodes: readonly string[],
): Promise<readonly string[] | undefined> {
  const { addressType } = ((await campaign.read(kind))?.spec ?? {}) as { readonly addressType?: string };
  const family = annotatedFamily(addressType ?? "");
  if (family === undefined) return undefined;
  const all = Object.entries(await campaign.world.nodes.annotations(family)).filter(([node]) => nodes.includes(node));
  const statuses = await Promise.all(
    (await campaign.world.pools.existing()).map((name) => campaign.world.pools.status(name)),
  );
  const own = await campaign.status(KINDS.FloatingIPPool);
  const idle = [...statuses, ...(own !== undefined && "ips" in own ? [own] : [])].flatMap(({ ips }) =>
    Object.entries(ips).flatMap(([ip, { state }]) => (state === "active" ? [] : [short(ip)])),
  );
  return all
    .map(([, text]) => text.split(" ")[0] ?? "")
    .filter((address) => !idle.includes(address))
    .toSorted();
}

function saidOf({ conditions, error = "", ...status }: PoolStatus | RecordSetStatus, holds: readonly Hold[]): string {
  const ips = "ips" in status ? Object.entries(status.ips) : [];
  return [
    error,
    ...conditions.map(({ message }) => message),
    ...ips.map(([ip, entry]) => `${ip} ${entry.error ?? ""}`),
    ...holds.map(({ subject, detail }) => `${subject} ${detail}`),
  ].join("\n");
}

/** A text without the addresses, nodes and times that were chosen. */
function anonymous(text: string): string {
  return text
    .replace(/\b\d+\.\d+\.\d+\.\d+\b|\b2001:[\da-f:]+/gi, "ADDRESS")
    .replace(/\bn\d\b/g, "NODE")
    .replace(/\b(droplet|server) \d+|(digitalocean|hcloud):\/\/\d+\b/g, "MACHINE");
}
