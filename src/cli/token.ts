import { readFileSync } from "node:fs";
import { ConfigError } from "../model/errors.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../model/token-text.ts";
import type { TokenSource } from "./environment.ts";

/**
 * Returns the token as it is now, or undefined where there is none (an empty file counts as none). Reads the file each
 * time, so that a rotated Secret is picked up.
 * @throws ConfigError naming variable and path when the file cannot be read, or when what is there cannot be a token; never
 * with the token itself.
 */
export function readToken(source: TokenSource): string | undefined {
  if (source.kind === "none") return undefined;
  const text = source.kind === "value" ? source.token : readTokenFile(source).replace(/[\r\n]+$/, "");
  if (text === "") return undefined;
  if (isTokenText(text)) return text;
  const where = source.kind === "value" ? source.variable : `${source.path} (${source.variable})`;
  throw new ConfigError("invalid", `The token in ${where} ${UNUSABLE_TOKEN}. Copy it again.`);
}

function readTokenFile({ variable, path }: { readonly variable: string; readonly path: string }): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ConfigError(
      "invalid",
      `Cannot read the token file ${path} that ${variable} names (${why}). Correct the path or its permissions.`,
      { cause },
    );
  }
}
