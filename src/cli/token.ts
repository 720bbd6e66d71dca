import { readFileSync } from "node:fs";
import { ConfigError } from "../model/errors.ts";
import { isTokenText, UNUSABLE_TOKEN } from "../model/text.ts";
import type { Secrets } from "../ports/system.ts";
import type { TokenSource } from "./environment.ts";

/**
 * Returns the token as it is now, or undefined where there is none (an empty file counts as none). Adds it to `secrets`. Reads the file each
 * time, so that a rotated Secret is picked up.
 * @throws ConfigError naming variable and path: `permission` when the file cannot be read, `invalid` when what is there cannot be a token; never
 * with the token itself.
 */
export function readToken(source: TokenSource, secrets?: Pick<Secrets, "add">): string | undefined {
  if (source.kind === "none") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (isTokenText(text)) return text;
  throw new ConfigError("invalid", `The token in ${placeOf(source)} ${UNUSABLE_TOKEN}. Copy it again.`);
}

/**
 * Returns the password as it is now, or undefined where there is none; may have spaces and any letters.
 * @throws ConfigError as {@link readToken}
 */
export function readPassword(source: TokenSource, secrets?: Pick<Secrets, "add">): string | undefined {
  if (source.kind === "none") return undefined;
  const text = textOf(source, secrets);
  if (text === "") return undefined;
  if (!/\p{Cc}/u.test(text)) return text;
  throw new ConfigError(
    "invalid",
    `The password in ${placeOf(source)} has a line end or another control character inside. Copy it again.`,
  );
}

type Given = Exclude<TokenSource, { readonly kind: "none" }>;

function textOf(source: Given, secrets: Pick<Secrets, "add"> | undefined): string {
  const text = source.kind === "value" ? source.token : readTokenFile(source).replace(/[\r\n]+$/, "");
  // An unusable token is a secret, too: each of its lines may be the real one.
  if (source.kind === "file" || source.isPublic !== true) for (const line of text.split(/[\r\n]+/)) secrets?.add(line);
  return text;
}

function placeOf(source: Given): string {
  return source.kind === "value" ? source.variable : `${source.path} (${source.variable})`;
}

function readTokenFile({ variable, path }: { readonly variable: string; readonly path: string }): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
    throw new ConfigError(
      "permission",
      `Cannot read the token file ${path} that ${variable} names (${why}). Correct the path or its permissions.`,
      { cause },
    );
  }
}
