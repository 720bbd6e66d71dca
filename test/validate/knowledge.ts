import { knowledge } from "../../src/cli/validate.ts";
import { atOnce } from "../../src/plan/steps.ts";
import { type Checked, checkInSteps } from "../../src/validate/validate.ts";

const KNOWLEDGE = knowledge("default");

/** Checks one text as the command does. */
export function checkText(text: string, name = "it.yaml"): Checked {
  return atOnce(checkInSteps([{ name, text }], KNOWLEDGE));
}
