import { CampaignWorld, type WorldOptions } from "./campaign-world.ts";
import { type EndState, findEnd } from "./end-state.ts";
import { BOTH, type Kind } from "./kinds.ts";
import { type Setting, USUAL } from "./settings.ts";
import type { Spec } from "./spec-value.ts";

/** What the object under test of the other kind asks for meanwhile; absent where there is none. */
export type Specs = Readonly<Partial<Record<Kind["name"], Spec>>>;

/** Tells what a fresh object with this spec comes to, beside one of the other kind. */
export interface FreshEnds {
  endOf(kind: Kind, specs: Specs, options: WorldOptions): Promise<EndState>;
}

/** End states of fresh objects in fresh worlds in memory, each worked out once. */
export class References implements FreshEnds {
  readonly #known = new Map<string, Promise<EndState>>();
  readonly #setting: Setting;

  constructor(setting: Setting = USUAL) {
    this.#setting = setting;
  }

  endOf(kind: Kind, specs: Specs, options: WorldOptions): Promise<EndState> {
    const key = JSON.stringify([kind.name, specs, options]);
    const known = this.#known.get(key) ?? this.#workOut(kind, specs, options);
    this.#known.set(key, known);
    return known;
  }

  async #workOut(kind: Kind, specs: Specs, options: WorldOptions): Promise<EndState> {
    const campaign = await CampaignWorld.open(this.#setting.open(), options);
    for (const other of BOTH) {
      const spec = specs[other.name];
      if (spec !== undefined) await campaign.apply(other, spec);
    }
    return (await findEnd(campaign, kind, await campaign.rest())).end;
  }
}
