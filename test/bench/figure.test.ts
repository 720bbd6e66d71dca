import { expect, test } from "vitest";
import { callFigure, timeFigure } from "./figure.ts";
import { median, worst } from "./samples.ts";
import { renderTable } from "./table.ts";

test("the median is the middle sample, or the mean of the two middle ones", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 2, 9])).toBe(3);
});

test("the worst is the largest sample, and the 99th percentile from 100 samples on", () => {
  expect(worst([3, 9, 1])).toBe(9);
  expect(worst(Array.from({ length: 99 }, (_, index) => index + 1))).toBe(99);
  expect(worst(Array.from({ length: 200 }, (_, index) => index + 1))).toBe(198);
});

test("a bound on calls is broken by a single run that exceeds it, and kept by one that reaches it", () => {
  expect(callFigure("calls", [1, 1, 7], { most: 6 }).isBroken).toBe(true);
  expect(callFigure("calls", [6, 6, 6], { most: 6 }).isBroken).toBe(false);
  expect(callFigure("calls", [1000]).isBroken).toBe(false);
});

test("the table stands in columns and marks what is broken", () => {
  const figures = [
    timeFigure("start", [1234.6, 5.25], { wanted: "≤ 1 s", goOperator: "2 s" }),
    callFigure("calls of the provider", [1, 1], { most: 0 }),
  ];
  expect(renderTable([{ title: "Both", figures }])).toBe(
    [
      "                         median     worst  runs  wanted  Go operator",
      "",
      "Both",
      "  start                  620 ms  1,235 ms     2  ≤ 1 s   2 s",
      "  calls of the provider       1         1     2  0                    BROKEN",
      "",
    ].join("\n"),
  );
});
