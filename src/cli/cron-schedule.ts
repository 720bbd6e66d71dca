const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MACROS = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Least and greatest value of each field, and the names that stand for values from the least on. */
const FIELDS: readonly (readonly [least: number, greatest: number, names: readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, MONTHS],
  [0, 6, DAYS],
];

/**
 * True for a schedule that a CronJob takes: five fields or one of the macros from `@hourly` to `@yearly`. Stricter than the API
 * server, which also takes `@every DURATION` and empty list entries. Source: the grammar of robfig/cron v3, which Kubernetes uses, read 2026-08.
 */
export function isCronSchedule(text: string): boolean {
  if (MACROS.includes(text)) return true;
  const fields = text.split(" ");
  return fields.length === FIELDS.length && FIELDS.every((field, i) => isField(fields[i] ?? "", field));
}

function isField(text: string, field: (typeof FIELDS)[number]): boolean {
  return text.split(",").every((part) => {
    const [range = "", step, ...more] = part.split("/");
    const isStep = step === undefined || /^[1-9]\d{0,3}$/.test(step);
    return more.length === 0 && isStep && isRange(range, field);
  });
}

function isRange(text: string, [least, greatest, names]: (typeof FIELDS)[number]): boolean {
  if (text === "*" || text === "?") return true;
  const ends = text.split("-").map((end) => {
    const named = names.indexOf(end.toLowerCase());
    return named >= 0 ? least + named : /^\d{1,4}$/.test(end) ? Number(end) : Number.NaN;
  });
  const [from = Number.NaN, to = from] = ends;
  return ends.length <= 2 && from >= least && from <= to && to <= greatest;
}
