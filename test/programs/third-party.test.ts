import { expect, test } from "vitest";
import { licenceFaults, licencesText, type ThirdParty } from "../../bin/third-party.ts";

const aParty = (fields: Partial<ThirdParty>): ThirdParty => ({
  name: "left-pad",
  version: "1.3.0",
  licence: "MIT",
  text: "Permission is hereby granted.",
  folder: "node_modules/left-pad",
  ...fields,
});

test.for(["MIT", "Apache-2.0", "(GPL-3.0 OR MIT)", "BSD-3-Clause"])("a package under %s may be shipped", (licence) => {
  expect(licenceFaults([aParty({ licence })])).toEqual([]);
});

test.for(["GPL-3.0", "UNLICENSED", "undefined", "MIT AND GPL-3.0", "SEE LICENSE IN EULA.txt"])(
  "a package under %s stops the build",
  (licence) => {
    expect(licenceFaults([aParty({}), aParty({ licence })])).toEqual([
      `left-pad 1.3.0 has the licence "${licence}", which is not known to fit Apache-2.0.`,
    ]);
  },
);

test("a package without a licence file stops the build", () => {
  expect(licenceFaults([aParty({ text: "" })])).toEqual(["left-pad 1.3.0 has no licence file."]);
});

test("the text that is shipped names every package with its licence's text", () => {
  const text = licencesText([aParty({}), aParty({ name: "right-pad", text: "As is." })]);
  expect(text).toContain("left-pad 1.3.0 (MIT)\n\nPermission is hereby granted.\n");
  expect(text).toContain("right-pad 1.3.0 (MIT)\n\nAs is.\n");
});
