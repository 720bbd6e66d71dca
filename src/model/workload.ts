/** What runs flipop by itself, and when. */
export interface ScheduledWorkload {
  readonly kind: "CronJob" | "Deployment";
  readonly name: string;
  /** True for a CronJob that is suspended, and for a Deployment without replicas. */
  readonly isSuspended: boolean;
  /** Of a CronJob; `""` for a Deployment. */
  readonly schedule: string;
  /** Of a CronJob that names one, as in `Europe/Vienna`; absent = that of the cluster's controllers, which is UTC almost everywhere. */
  readonly timeZone?: string;
}

/** A CronJob or Deployment of flipop. */
export interface Workload extends ScheduledWorkload {
  /** Of its first container; `""` where it has none. */
  readonly image: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A schedule that starts nothing for so long is not looked into any further. */
const FARTHEST_MS = 32 * DAY_MS;

/** What the macros of schedules stand for, and the time between two starts. */
const MACROS: ReadonlyMap<string, readonly [schedule: string, everyMs: number]> = new Map([
  ["@hourly", ["0 * * * *", 60 * MINUTE_MS]],
  ["@daily", ["0 0 * * *", DAY_MS]],
  ["@midnight", ["0 0 * * *", DAY_MS]],
  ["@weekly", ["0 0 * * 0", 7 * DAY_MS]],
  ["@monthly", ["0 0 1 * *", 31 * DAY_MS]],
  ["@yearly", ["0 0 1 1 *", 366 * DAY_MS]],
  ["@annually", ["0 0 1 1 *", 366 * DAY_MS]],
]);

/** Returns true for a text in which nothing but a schedule stands, as in `0 8-18 * * mon-fri` and `@hourly`: no time zone and no name. Pure. */
export function hasOnlySchedule(text: string): boolean {
  return text.split(" ").every((field) => MACROS.has(field.toLowerCase()) || FIELD.test(field));
}

/** A field of a schedule, with names of months and days. */
const FIELD = /^(?:[\d*,/?-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)*$/i;

/** The longest time between two starts of a schedule, as far as its minutes and hours say; a day for any other. Pure. */
export function scheduleMs(schedule: string): number {
  const macro = MACROS.get(schedule.trim());
  if (macro !== undefined) return macro[1];
  const [minutes = "", hours = "", ...days] = fieldsOf(schedule);
  if (days.some((field) => !isAny(field))) return 7 * DAY_MS;
  if (hours !== "*") return longestGap(hours, HOURS) * 60 * MINUTE_MS;
  return longestGap(minutes, MINUTES) * MINUTE_MS;
}

/** When a CronJob starts its next run, milliseconds since the epoch; undefined where that is not known: in another time zone than UTC, by names of days, or not for a month. Pure. */
export function nextStartMs({ schedule, timeZone = "UTC" }: ScheduledWorkload, nowMs: number): number | undefined {
  const [minutes, hours, days, months, weekdays] = fieldsOf(MACROS.get(schedule.trim())?.[0] ?? schedule);
  if (!/^(Etc\/)?UTC$/.test(timeZone) || weekdays === undefined) return undefined;
  const allowed = [
    [minutes, MINUTES, (at: Date) => at.getUTCMinutes()],
    [hours, HOURS, (at: Date) => at.getUTCHours()],
    [months, MONTHS, (at: Date) => at.getUTCMonth() + 1],
  ] as const;
  const isOf = (field: string | undefined, range: Range, value: number): boolean =>
    isAny(field) || valuesOf(field ?? "", range).includes(value);
  // A day of the month or a day of the week, where both are asked for; Sunday is 0 and 7.
  const isDay = (at: Date): boolean => {
    const ofMonth = isOf(days, DAYS, at.getUTCDate());
    const ofWeek = isOf(weekdays, WEEKDAYS, at.getUTCDay()) || (at.getUTCDay() === 0 && isOf(weekdays, WEEKDAYS, 7));
    return isAny(days) || isAny(weekdays) ? ofMonth && ofWeek : ofMonth || ofWeek;
  };
  const firstMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  for (let ms = firstMs; ms < firstMs + FARTHEST_MS; ms += MINUTE_MS) {
    const at = new Date(ms);
    if (allowed.every(([field, range, value]) => isOf(field, range, value(at))) && isDay(at)) return ms;
  }
  return undefined;
}

/** The values of a field of a schedule: from, and how many. */
type Range = readonly [first: number, count: number];

const MINUTES: Range = [0, 60];
const HOURS: Range = [0, 24];
const DAYS: Range = [1, 31];
const MONTHS: Range = [1, 12];
const WEEKDAYS: Range = [0, 8];

function fieldsOf(schedule: string): readonly string[] {
  return schedule.trim().split(/\s+/);
}

function isAny(field = ""): boolean {
  return field === "*" || field === "?";
}

/** The most steps between two values that a field of a schedule names; all of them for a field that cannot be read. */
function longestGap(field: string, range: Range): number {
  const [, all] = range;
  const values = valuesOf(field, range);
  const [first] = values;
  if (first === undefined) return all;
  return Math.max(...values.map((value, at) => (values[at + 1] ?? first + all) - value));
}

/** The values that a field names, ascending; none for a field that cannot be read. */
function valuesOf(field: string, range: Range): readonly number[] {
  return [...new Set(field.split(",").flatMap((part) => partOf(part, range)))].toSorted((a, b) => a - b);
}

function partOf(part: string, [first, count]: Range): readonly number[] {
  const [, from, to, step = "1"] = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [undefined, "-"];
  if (from === "-" || Number(step) < 1) return [];
  const isOne = from !== undefined && to === undefined && !part.includes("/");
  const begin = Number(from ?? first);
  const last = isOne ? begin : Number(to ?? first + count - 1);
  return Array.from({ length: count }, (_, at) => first + at).filter(
    (at) => at >= begin && at <= last && (at - begin) % Number(step) === 0,
  );
}
