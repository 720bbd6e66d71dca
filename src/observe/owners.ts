import { type OwnerFact, recordsKey, type Zone } from "../model/dns.ts";
import { ProviderError, type Refusal } from "../model/errors.ts";
import { externalOwner, plainMarks, type ZoneTexts } from "../model/external-dns.ts";
import type { WantedOwner } from "../model/plan.ts";
import type { ClusterReader } from "../ports/cluster.ts";
import type { DNSProviderReader, ProviderAccess } from "../ports/providers.ts";
import type { Clock } from "../ports/system.ts";
import { refusalOf } from "./asking.ts";
import type { Enter, Looking, Piece } from "./looking.ts";
import { guarded } from "./names.ts";

/**
 * A zone is read whole where that takes so many calls, or no more than there are names to look at. In a longer one only those marks are read that a name has without
 * prefix and suffix.
 */
export const LEAST_LIST_CALLS = 5;

/** After this what cannot wait goes on without knowing whose a name is, milliseconds. */
const LATE_MS = 1000;
/** A look into one zone ends after this, milliseconds, also where nobody else limits it: what is not known by then is a gap. Longer than one call may last. */
const LONGEST_LOOK_MS = 20_000;

/** What is looked with. */
interface OwnerDeps {
  readonly dnsProviders: ReadonlyMap<string, ProviderAccess<DNSProviderReader>>;
  readonly cluster: Pick<ClusterReader, "now">;
  readonly clock: Clock;
}

/**
 * What has to be read to tell whose names are: for each zone the answer, and for each provider what says that it is late, unless all answers come before that. Who waits
 * for the same zone already waits for that look, whatever names it is about: so never more than one look goes into a zone at a time.
 */
export function ownerPieces(
  { dnsProviders, cluster, clock }: OwnerDeps,
  wanted: readonly WantedOwner[],
): readonly Piece[] {
  const skewMs = (): number => cluster.now() - clock.wallMs();
  return [...Map.groupBy(wanted, ({ provider }) => provider)].flatMap(([provider, own]): readonly Piece[] => {
    const access = dnsProviders.get(provider);
    if (access === undefined || access.kind === "no-token") return [];
    const looks = [...Map.groupBy(own, ({ zone }) => zone.id)];
    const answered = new AbortController();
    let open = looks.length;
    const ended = (): void => {
      open -= 1;
      if (open === 0) answered.abort();
    };
    const late = async (): Promise<Enter> => {
      await clock.sleep(LATE_MS, answered.signal);
      return answered.signal.aborted ? (observation) => observation : ownersLate(provider);
    };
    const look = { provider: access.provider, clock, skewMs };
    return [
      { kind: "owners-late", provider, asked: "", read: late },
      ...looks.map(
        ([part, names]): Piece => ({
          kind: "owners",
          provider,
          part,
          asked: "",
          read: async () => entering(provider, await ownersIn(look, names).finally(ended)),
        }),
      ),
    ];
  });
}

/** So many looks a pass begins to tell whose a name is. */
const MOST_LOOKS = 2;

/** The looks of one pass that tell whose names are. One that an earlier pass has begun into the same zone may tell nothing of a name: then another one follows. */
export class OwnerLooks {
  readonly #looking: Looking;
  readonly #pieces: (wanted: readonly WantedOwner[]) => readonly Piece[];
  /** How often this pass has begun to look whose a name is. */
  readonly #looks = new Map<string, number>();

  /** @param pieces - as {@link ownerPieces} returns them */
  constructor(looking: Looking, pieces: (wanted: readonly WantedOwner[]) => readonly Piece[]) {
    this.#looking = looking;
    this.#pieces = pieces;
  }

  /** Begins to look whose these names are, as far as nobody is looking into their zones. */
  begin(wanted: readonly WantedOwner[]): void {
    const keyOf = ({ provider, zone, fqdn }: WantedOwner): string => `${provider} ${recordsKey(zone, fqdn)}`;
    const looksAt = (one: WantedOwner): number => this.#looks.get(keyOf(one)) ?? 0;
    const isUnderWay = ({ provider, zone }: WantedOwner): boolean =>
      this.#looking.untaken.some(
        (piece) => piece.kind === "owners" && piece.provider === provider && piece.part === zone.id,
      );
    const open = wanted.filter((one) => looksAt(one) < MOST_LOOKS && !isUnderWay(one));
    for (const one of open) this.#looks.set(keyOf(one), looksAt(one) + 1);
    for (const piece of this.#pieces(open)) this.#looking.also(piece);
  }
}

/** Enters whose names are into what is known of their provider. */
function entering(name: string, { owners: found, unusable }: ZoneOwners): Enter {
  return (observation) => {
    const facts = observation.dns.get(name);
    if (facts === undefined) return observation;
    const owners = new Map([...(facts.owners ?? []), ...found]);
    const known = { ...facts, owners, ...(unusable === undefined ? {} : { unusable }) };
    return { ...observation, dns: new Map([...observation.dns, [name, known]]) };
  };
}

/** Enters that somebody has been looking for long whose names of a provider are. */
function ownersLate(name: string): Enter {
  return (observation) => {
    const facts = observation.dns.get(name);
    if (facts === undefined) return observation;
    return { ...observation, dns: new Map([...observation.dns, [name, { ...facts, isOwnerLate: true }]]) };
  };
}

/** What was found out about names of one zone. */
interface ZoneOwners {
  /** By {@link recordsKey}. */
  readonly owners: readonly (readonly [string, OwnerFact])[];
  /** Set where the provider failed as a whole. */
  readonly unusable?: Refusal;
}

/** A look into one zone. */
interface Look {
  readonly provider: DNSProviderReader;
  readonly clock: Clock;
  readonly skewMs: () => number;
}

/** Whose the names of one zone are. Never throws for a provider's failure. */
async function ownersIn(look: Look, names: readonly WantedOwner[]): Promise<ZoneOwners> {
  const { clock, skewMs } = look;
  const found = new Map<string, OwnerFact>();
  const ended = new AbortController();
  const isOver = clock.sleep(LONGEST_LOOK_MS, ended.signal);
  const away = (error: string): readonly (readonly [string, OwnerFact])[] =>
    names.map(({ zone, fqdn }) => {
      const key = recordsKey(zone, fqdn);
      return [key, found.get(key) ?? { kind: "gap", error, isRefused: false }];
    });
  try {
    await Promise.race([lookInto(look, names, { found, ended: ended.signal }), isOver]);
    return { owners: away(`the look into its zone has taken longer than ${LONGEST_LOOK_MS / 1000} s`) };
  } catch (error) {
    if (!(error instanceof ProviderError) || !error.concernsProvider) throw error;
    return { owners: away(error.message), unusable: refusalOf(error, skewMs()) };
  } finally {
    ended.abort();
  }
}

/** Finds whose the names of one zone are, by {@link recordsKey}; asks for no more once the look has ended. @throws ProviderError about the provider as a whole */
async function lookInto(
  { provider, skewMs }: Look,
  names: readonly WantedOwner[],
  { found, ended }: { readonly found: Map<string, OwnerFact>; readonly ended: AbortSignal },
): Promise<void> {
  const [first] = names;
  if (first === undefined) return;
  const { zone } = first;
  const mostCalls = Math.max(LEAST_LIST_CALLS, names.length);
  const list = await guarded(async () => ({ texts: await provider.listTexts(zone, mostCalls) }), skewMs);
  for (const { fqdn, hasRecords } of names) {
    if (ended.aborted) return;
    found.set(recordsKey(zone, fqdn), await ownerFact(fqdn, hasRecords));
  }

  async function ownerFact(fqdn: string, hasRecords: boolean): Promise<OwnerFact> {
    if ("error" in list) return list;
    if (list.texts !== undefined) return factOf(fqdn, list.texts, hasRecords);
    return guarded(async () => factOf(fqdn, await plainTexts(provider, zone, fqdn), hasRecords), skewMs);
  }
}

/** Returns the texts of those marks that a name has without prefix and suffix. At most two calls. @throws ProviderError */
export async function plainTexts(provider: DNSProviderReader, zone: Zone, fqdn: string): Promise<ZoneTexts> {
  const inZone = plainMarks(fqdn).filter(
    (mark) => zone.name === undefined || mark === zone.name || mark.endsWith(`.${zone.name}`),
  );
  const texts = await Promise.all(inZone.map(async (mark) => provider.readTexts(zone, mark)));
  return { texts: texts.flat(), names: new Map() };
}

function factOf(fqdn: string, texts: ZoneTexts, hasRecords: boolean): OwnerFact {
  const owner = externalOwner(fqdn, texts, hasRecords);
  return owner === undefined ? { kind: "known" } : { kind: "known", owner };
}
