import { median, type Samples, worst } from "./samples.ts";

/** One line of the result: what was measured, beside what was wanted and what the Go operator needs. */
export interface Figure {
  readonly what: string;
  readonly median: string;
  /** The 99th percentile, or the largest of fewer than 100 samples; `""` where every run gives the same. */
  readonly worst: string;
  readonly runs: number;
  readonly wanted: string;
  readonly goOperator: string;
  /** True when a bound on calls is exceeded: the only thing that fails the benchmark. */
  readonly isBroken: boolean;
}

/** What stands beside a measurement. */
export interface Beside {
  readonly wanted?: string;
  readonly goOperator?: string;
}

/** A figure in milliseconds; never broken, because a time says as much about the machine as about the program. */
export function timeFigure(what: string, ms: Samples, beside: Beside = {}): Figure {
  return figure(what, { median: millis(median(ms)), worst: millis(worst(ms)) }, ms.length, beside);
}

/** A figure in megabytes of 1,024 × 1,024 bytes. */
export function memoryFigure(what: string, mb: Samples, beside: Beside = {}): Figure {
  return figure(what, { median: megabytes(median(mb)), worst: megabytes(worst(mb)) }, mb.length, beside);
}

/** A part of one processor, as a percentage. */
export function shareFigure(what: string, shares: Samples, beside: Beside = {}): Figure {
  return figure(what, { median: percent(median(shares)), worst: percent(worst(shares)) }, shares.length, beside);
}

/** A count of calls; broken when any run needs more than `most`. Without `most` it is information. */
export function callFigure(what: string, calls: Samples, { most, goOperator }: CallBeside = {}): Figure {
  const values = { median: number(median(calls)), worst: number(worst(calls)) };
  const beside = {
    ...(most === undefined ? {} : { wanted: most === 0 ? "0" : `≤ ${number(most)}` }),
    ...(goOperator === undefined ? {} : { goOperator }),
  };
  const isBroken = most !== undefined && Math.max(...calls) > most;
  return { ...figure(what, values, calls.length, beside), isBroken };
}

interface CallBeside {
  readonly most?: number;
  readonly goOperator?: string;
}

function figure(
  what: string,
  values: { readonly median: string; readonly worst: string },
  runs: number,
  { wanted = "", goOperator = "" }: Beside,
): Figure {
  return { what, ...values, runs, wanted, goOperator, isBroken: false };
}

function millis(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : number(Math.round(ms))} ms`;
}

function megabytes(mb: number): string {
  return `${number(Math.round(mb))} MB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
