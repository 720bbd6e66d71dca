import { knowledge } from "../../src/cli/validate.ts";
import { type Checked, checkFiles } from "../../src/validate/validate.ts";

const KNOWLEDGE = knowledge("default");

/** Checks one text as the command does. */
export function checkText(text: string, name = "it.yaml"): Checked {
  return checkFiles([{ name, text }], KNOWLEDGE);
}
