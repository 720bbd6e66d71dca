import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LONG_FILES } from "./file-order.ts";

test("every file that is to run early exists, and is named once", () => {
  const root = new URL("../", import.meta.url);
  expect(LONG_FILES.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length);
});
