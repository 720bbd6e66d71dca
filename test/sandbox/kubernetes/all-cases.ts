import type { APICase } from "./api-case.ts";
import { APPLIES } from "./apply-cases.ts";
import { BUILT_IN_EFFECTS } from "./built-in-effect-cases.ts";
import { CUSTOM_EFFECTS } from "./custom-effect-cases.ts";
import { PATCHES } from "./patch-cases.ts";
import { REFUSED_CHANGES } from "./refused-change-cases.ts";
import { REFUSED_CREATIONS } from "./refused-creation-cases.ts";
import { ROUTED_IP_CASES } from "./routed-ip-cases.ts";
import { TABLES } from "./table-cases.ts";
import { VALIDATION } from "./validation-cases.ts";

/** Every case; the sandbox and the real API server answer each of them as it says. */
export const ALL_CASES: readonly APICase[] = [
  ...REFUSED_CREATIONS,
  ...REFUSED_CHANGES,
  ...VALIDATION,
  ...CUSTOM_EFFECTS,
  ...BUILT_IN_EFFECTS,
  ...ROUTED_IP_CASES,
  ...PATCHES,
  ...APPLIES,
  ...TABLES,
];
