import { expect, test } from "vitest";
import type { Taint } from "../../src/model/node.ts";
import type { Toleration } from "../../src/model/resource.ts";
import { isTolerated } from "../../src/plan/nodes/match.ts";

const NOW = 1_800_000_000_000;
const TAINT: Taint = { key: "k", value: "v", effect: "NoSchedule" };
const evicting = (secondsAgo: number): Taint => ({
  ...TAINT,
  effect: "NoExecute",
  timeAddedMs: NOW - secondsAgo * 1000,
});

test.for<[string, Taint, Toleration[], boolean]>([
  ["nothing is tolerated without tolerations", TAINT, [], false],
  ["key, value and effect are equal", TAINT, [{ key: "k", value: "v", effect: "NoSchedule" }], true],
  ["Equal is the default operator, in words too", TAINT, [{ key: "k", operator: "Equal", value: "v" }], true],
  ["another value is not tolerated", TAINT, [{ key: "k", value: "w" }], false],
  ["an absent value equals an empty one only", TAINT, [{ key: "k" }], false],
  ["an empty value is tolerated by an absent one", { ...TAINT, value: "" }, [{ key: "k" }], true],
  [
    "an empty effect tolerates every effect",
    { ...TAINT, effect: "PreferNoSchedule" },
    [{ key: "k", value: "v", effect: "" }],
    true,
  ],
  ["another effect is not tolerated", TAINT, [{ key: "k", value: "v", effect: "NoExecute" }], false],
  ["Exists ignores the value", TAINT, [{ key: "k", operator: "Exists" }], true],
  ["Exists without a key tolerates everything", TAINT, [{ operator: "Exists" }], true],
  [
    "Exists without a key and with an effect tolerates that effect only",
    TAINT,
    [{ operator: "Exists", effect: "NoExecute" }],
    false,
  ],
  ["Equal without a key tolerates nothing", { ...TAINT, key: "", value: "" }, [{ operator: "Equal" }], false],
  ["an unknown operator tolerates nothing", TAINT, [{ key: "k", operator: "Gt", value: "v" }], false],
  ["one of several is enough", TAINT, [{ key: "x" }, { key: "k", operator: "Exists" }], true],
  [
    "tolerationSeconds holds for 9 of 10 s",
    evicting(9),
    [{ key: "k", operator: "Exists", tolerationSeconds: 10 }],
    true,
  ],
  [
    "tolerationSeconds is over after 10 s",
    evicting(10),
    [{ key: "k", operator: "Exists", tolerationSeconds: 10 }],
    false,
  ],
  ["tolerationSeconds 0 is over at once", evicting(0), [{ key: "k", operator: "Exists", tolerationSeconds: 0 }], false],
  ["negative tolerationSeconds are 0", evicting(0), [{ key: "k", operator: "Exists", tolerationSeconds: -5 }], false],
  [
    "a taint without timeAdded is tolerated without end",
    { ...TAINT, effect: "NoExecute" },
    [{ key: "k", operator: "Exists", tolerationSeconds: 1 }],
    true,
  ],
  [
    "a timeAdded in the future counts as now",
    evicting(-3600),
    [{ key: "k", operator: "Exists", tolerationSeconds: 10 }],
    true,
  ],
  [
    "a node that is to leave at once does not stay because its taint says that it will be added in an hour",
    evicting(-3600),
    [{ key: "k", operator: "Exists", tolerationSeconds: 0 }],
    false,
  ],
  [
    "the longest toleration counts",
    evicting(50),
    [
      { operator: "Exists", tolerationSeconds: 10 },
      { operator: "Exists", tolerationSeconds: 60 },
    ],
    true,
  ],
])("%s", ([, taint, tolerations, expected]) => {
  expect(isTolerated(taint, tolerations, NOW)).toBe(expected);
});
