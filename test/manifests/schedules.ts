/** Schedules that a CronJob takes. */
export const GOOD_SCHEDULES: readonly string[] = [
  "* * * * *",
  "*/5 * * * *",
  "0-59/2 0-23 1-31 1-12 0-6",
  "1,2,30-40 * ? jan-MAR Mon,sat",
  "@hourly",
  "@midnight",
];

/** Schedules that the API server refuses. */
export const BAD_SCHEDULES: readonly string[] = [
  "",
  "* * * *",
  "* * * * * *",
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "* * * 13 *",
  "* * * * 7",
  "*/0 * * * *",
  "5-1 * * * *",
  "1-2-3 * * * *",
  "1/2/3 * * * *",
  "mon * * * *",
  "a * * * *",
  "-1 * * * *",
  "@never",
  "TZ=UTC * * * * *",
];
