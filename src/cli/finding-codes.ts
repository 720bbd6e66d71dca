import { ConfigError } from "../model/errors.ts";
import { FINDING_CODES, type FindingCode } from "../model/finding.ts";
import { nearest } from "../model/nearest.ts";
import { shownText } from "../model/resource.ts";

/** Returns the codes of a text with commas, behind those of earlier texts. @throws ConfigError `usage` for a code that does not exist, with the nearest */
export function findingCodes(text: string, before: readonly FindingCode[]): readonly FindingCode[] {
  const codes = text.split(",").map((word) => {
    const code = FINDING_CODES.find((known) => known === word.trim().toUpperCase());
    if (code !== undefined) return code;
    const meant = nearest(word.toUpperCase(), FINDING_CODES);
    const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
    throw new ConfigError(
      "usage",
      `There is no code '${shownText(word)}' to suppress.${hint} flipop help findings lists them.`,
    );
  });
  return [...before, ...codes];
}
