import { isDeepStrictEqual } from "node:util";
import { rememberedNames } from "../../src/model/record-types.ts";
import type { CampaignWorld } from "./campaign-world.ts";
import type { Rest } from "./come-to-rest.ts";
import { type EndState, type Finding, findEnd } from "./end-state.ts";
import { freshStart } from "./fresh-start.ts";
import { type Comparison, HISTORY_RULES } from "./history-rules.ts";
import { BOTH, type KindName } from "./kinds.ts";
import type { FreshEnds } from "./references.ts";
import type { Spec } from "./spec-value.ts";
import type { Step } from "./tours.ts";

/** The names of other people's objects. */
const NEIGHBOURS = ["digitalocean other.example.com", "cloudflare others.example.com"];

/** Objects of one world whose specs change step by step, each end state compared with that of a fresh object. */
export class Campaign {
  readonly #campaign: CampaignWorld;
  readonly #references: FreshEnds;
  readonly #specs: Partial<Record<KindName, Spec>> = {};
  readonly #names: Partial<Record<KindName, string | undefined>> = {};
  readonly #neighbours: string;
  /** The parts of product.md for whose sake an end state was let differ, with how often. */
  readonly used: Map<string, number> = new Map();

  private constructor(campaign: CampaignWorld, references: FreshEnds, neighbours: string) {
    this.#campaign = campaign;
    this.#references = references;
    this.#neighbours = neighbours;
  }

  static async begin(campaign: CampaignWorld, references: FreshEnds): Promise<Campaign> {
    return new Campaign(campaign, references, await neighbours(campaign));
  }

  /** Makes edits at once and returns what is wrong once the world is at rest again; empty when nothing is. */
  async step(edits: readonly Step[]): Promise<readonly string[]> {
    for (const { kind, spec } of edits) {
      this.#specs[kind.name] = spec;
      await this.#campaign.apply(kind, spec);
    }
    const rest = await this.#campaign.rest(edits.some(({ unusable }) => unusable !== undefined));
    const flaws = await Promise.all(edits.map((edit) => this.#flawsOf(edit, rest)));
    const now = await neighbours(this.#campaign);
    const harm = now === this.#neighbours ? [] : [`others were harmed: ${now} instead of ${this.#neighbours}`];
    return [...flaws.flat(), ...this.#dangers(), ...(await this.#strays()), ...harm];
  }

  async #flawsOf(edit: Step, rest: Rest): Promise<readonly string[]> {
    const found = await findEnd(this.#campaign, edit.kind, rest);
    this.#names[edit.kind.name] = found.name;
    return edit.unusable === undefined
      ? await this.#compare(edit, found, this.#ownWrites(edit, rest))
      : unsaid(edit.unusable.says, found);
  }

  /** What was written to providers, but for the name of the other object, which may follow this one's addresses. */
  #ownWrites({ kind }: Step, { providerWrites }: Rest): readonly string[] {
    const others = BOTH.filter((other) => other !== kind).flatMap(({ name }) => this.#names[name]?.split(" ")[1] ?? []);
    return providerWrites.filter((line) => !others.some((name) => line.includes(name)));
  }

  async #compare({ kind, spec }: Step, found: Finding, providerWrites: readonly string[]): Promise<readonly string[]> {
    // What serves stays where an edit selects nothing, or until a person approves, and the object says so. A fresh one has nothing that could stay.
    if ([...found.end.conditions, ...found.end.holds].some((text) => /AwaitsApproval|EmptyTarget/.test(text)))
      return [];
    const start = freshStart(kind, spec, found.status, this.#campaign);
    const specs = { ...this.#specs, [kind.name]: start.spec };
    const fresh = await this.#references.endOf(kind, specs, start.options);
    for (const source of start.because) this.#use(source);
    const wanted = this.#withHistory({ spec, found, fresh, providerWrites });
    const keys = Object.keys(fresh) as readonly (keyof EndState)[];
    return keys
      .filter((key) => !isDeepStrictEqual(found.end[key], wanted[key]))
      .map((key) => `${key}: ${JSON.stringify(found.end[key])}, a fresh object has ${JSON.stringify(wanted[key])}`);
  }

  #withHistory(comparison: Comparison): EndState {
    let { fresh } = comparison;
    for (const { source, expect } of HISTORY_RULES) {
      if (isDeepStrictEqual(fresh, comparison.found.end)) return fresh;
      const wanted = { ...fresh, ...expect({ ...comparison, fresh }) };
      if (!isDeepStrictEqual(wanted, fresh)) this.#use(source);
      fresh = wanted;
    }
    return fresh;
  }

  #use(source: string): void {
    this.used.set(source, (this.used.get(source) ?? 0) + 1);
  }

  /**
   * What resolvers were wrongly shown of a name that is asked for now; a former one goes by `reclaimPolicy`. Which nodes match is not known to the check of
   * unassignments, so it takes an address that lost its node for one that serves.
   */
  #dangers(): readonly string[] {
    const mayEnd = this.#specs.NodeDNSRecordSet?.["whenEmpty"] === "Delete" ? [] : [this.#names.NodeDNSRecordSet];
    const names = [this.#names.FloatingIPPool, ...mayEnd, ...NEIGHBOURS];
    return this.#campaign.world.dnsSafety.violations
      .splice(0)
      .filter((text) => !text.startsWith("unassigned "))
      .filter((text) => names.some((name) => name !== undefined && text.includes(name)));
  }

  /** Addresses that were bought and names that were published, and that no object knows of. */
  async #strays(): Promise<readonly string[]> {
    const { world } = this.#campaign;
    const pools = await world.pools.existing();
    const statuses = await Promise.all([
      ...pools.map((name) => world.pools.status(name)),
      ...(await Promise.all(BOTH.map((kind) => this.#campaign.status(kind)))).flatMap((status) => status ?? []),
      world.recordSets.status("others"),
    ]);
    const known = statuses.flatMap((status) => ("acquired" in status ? status.acquired.map(({ ip }) => ip) : []));
    const names = statuses.flatMap(rememberedNames);
    const isKnown = (provider: string, fqdn: string): boolean =>
      names.some((name) => name.provider === provider && name.name === fqdn);
    return [
      ...world.cloud
        .boughtNow()
        .flatMap((ip) => (known.includes(ip) ? [] : [`nobody knows of ${ip}, which was bought`])),
      ...world.dns
        .sets()
        .flatMap(({ provider, fqdn }) =>
          isKnown(provider, fqdn) ? [] : [`nobody knows of ${fqdn} at ${provider}, which was published`],
        ),
    ];
  }
}

/** An error state says what it is about. */
function unsaid(says: string, { says: said, end }: Finding): readonly string[] {
  const isError = end.conditions.some((condition) => /^(Stalled|Reconciling)=True|^Ready=False/.test(condition));
  return [
    ...(isError ? [] : [`it is in no error state: ${end.conditions.join(", ")}`]),
    ...(said.includes(says) ? [] : [`nothing it says contains ${says}: ${said}`]),
  ];
}

/** The objects of other people, with where their addresses are and what their names show. */
async function neighbours({ world }: CampaignWorld): Promise<string> {
  const statuses = [
    await world.pools.status("other"),
    await world.pools.status("other6"),
    await world.recordSets.status("others"),
  ];
  const all = world.cloud.addresses();
  const places = ["ip8", "ip9", "ip6-8", "ip6-9"].map((address) => all[address]);
  const conditions = statuses.flatMap((status) => status.conditions).map(({ type, status }) => `${type}=${status}`);
  const names = ["", " AAAA"].flatMap((type) => [
    world.dns.set("digitalocean", `other.example.com${type}`),
    world.dns.set("cloudflare", `others.example.com${type}`),
  ]);
  return JSON.stringify([places, conditions, names]);
}
