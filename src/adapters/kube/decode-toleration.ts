import type { Toleration } from "../../model/resource.ts";
import type { SpecReader } from "./spec-reader.ts";

/** One toleration of a spec; what is absent or empty is left out. */
export function decodeToleration(toleration: SpecReader): Toleration {
  const key = toleration.text("key");
  const operator = toleration.text("operator");
  const value = toleration.text("value");
  const effect = toleration.text("effect");
  const tolerationSeconds = toleration.signedNumber("tolerationSeconds");
  return {
    ...(key === "" ? {} : { key }),
    ...(operator === "" ? {} : { operator }),
    ...(value === "" ? {} : { value }),
    ...(effect === "" ? {} : { effect }),
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  };
}
