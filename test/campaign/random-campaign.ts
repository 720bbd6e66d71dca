import { Random } from "../simulation/random.ts";
import { type FieldValues, fieldValues } from "./field-values.ts";
import { BOTH, KINDS, type Kind, type KindName } from "./kinds.ts";
import { type Setting, settingFlag, USUAL } from "./settings.ts";
import { type Spec, withValue } from "./spec-value.ts";
import type { Step } from "./tours.ts";

const LEAST_STEPS = 5;
const MOST_STEPS = 10;

/** What campaigns of one setting pick from. */
export interface Choice {
  readonly setting: Setting;
  /** What {@link fieldValues} has for each kind. */
  readonly fieldsOf: Readonly<Record<KindName, readonly FieldValues[]>>;
}

/** The values of every field of both kinds. Reads the shipped schemas. */
export function choiceOf(setting: Setting = USUAL): Choice {
  const of = (name: KindName): readonly FieldValues[] => fieldValues(KINDS[name], setting);
  return { setting, fieldsOf: { FloatingIPPool: of("FloatingIPPool"), NodeDNSRecordSet: of("NodeDNSRecordSet") } };
}

/** The command that repeats the campaign of a seed. */
export function campaignCommand(seed: number, setting: Setting = USUAL): string {
  return `npm run campaign -- --seed ${seed}${settingFlag(setting)}`;
}

/** A sequence of 5 to 10 edits of both objects, each of one to three fields, some with a value that flipop cannot use and takes back in the next edit. The same seed, the same sequence. */
export function randomCampaign(seed: number, { setting: { bases }, fieldsOf }: Choice): readonly (readonly Step[])[] {
  const random = new Random(seed);
  const specs: Record<KindName, Spec> = { ...bases };
  const steps: Step[] = [];
  const count = random.between(LEAST_STEPS, MOST_STEPS);
  while (steps.length < count) {
    const kind = random.pick(BOTH);
    const fields = fieldsOf[kind.name];
    for (let edits = random.between(1, 3); edits > 0; edits -= 1)
      specs[kind.name] = edited(specs[kind.name], random.pick(fields), random);
    const spec = specs[kind.name];
    if (random.chance(0.15))
      steps.push(...mistake({ kind, spec, base: bases[kind.name] }, random.pick(fields), random));
    else steps.push({ kind, spec });
  }
  return steps.map((step) => [step]);
}

const MOST_TTL_SECONDS = 300;

function edited(spec: Spec, { path, usable }: FieldValues, random: Random): Spec {
  return withValue(spec, path, random.pick(usable.filter((value) => !outlasts(path, value))));
}

/** True for a TTL of years: an address that leaves the name is waited for as long, which no campaign does. The tours try such a TTL by itself. */
function outlasts(path: string, value: unknown): boolean {
  return path.endsWith(".ttl") && typeof value === "number" && value > MOST_TTL_SECONDS;
}

/** A value that cannot be used, on an otherwise usable spec, and its correction. */
function mistake(
  { kind, spec, base }: { readonly kind: Kind; readonly spec: Spec; readonly base: Spec },
  { path, unusable }: FieldValues,
  random: Random,
): readonly Step[] {
  if (unusable.length === 0) return [{ kind, spec }];
  const bad = random.pick(unusable);
  return [
    { kind, spec: withValue({ ...base, ...bad.beside }, path, bad.value), unusable: bad },
    { kind, spec },
  ];
}
