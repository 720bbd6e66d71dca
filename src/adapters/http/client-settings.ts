import { validateHeaderValue } from "node:http";
import { ConfigError } from "../../model/errors.ts";
import { isBareURL } from "./proxy-choice.ts";

/**
 * Returns where an API is, and what a client calls itself there.
 * @throws ConfigError when one of them can never work
 */
export function checkedSettings(
  { label, baseURL: usual }: { readonly label: string; readonly baseURL: string },
  { baseURL = usual, userAgent }: { readonly baseURL?: string; readonly userAgent: string },
): { readonly baseURL: string; readonly userAgent: string } {
  return { baseURL: checkedBaseURL(baseURL, label, usual), userAgent: checkedUserAgent(userAgent, label) };
}

/** Returns what a client calls itself. @throws ConfigError when no header can hold it: each call would fail, as if the API could not be reached */
export function checkedUserAgent(text: string, label: string): string {
  try {
    validateHeaderValue("user-agent", text);
    return text;
  } catch {
    const why = `The user agent for ${label} has a character that no header may have, such as a line end.`;
    throw new ConfigError("invalid", `${why} Correct the …_USER_AGENT variable, or unset it.`);
  }
}

/**
 * Returns an API's base URL without trailing slashes; a path prefix stays. `label` is the provider's name for people, `example` a URL
 * that would do.
 * @throws ConfigError when it is no http(s) URL, or has credentials (they would end up in error texts), a query or a hash
 */
export function checkedBaseURL(text: string, label: string, example: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ConfigError("invalid", `The ${label} API URL is not an http or https URL; expected one like ${example}.`);
  }
  if (!isBareURL(url)) {
    throw new ConfigError(
      "invalid",
      `The ${label} API URL for ${url.host} must have no user, password, query or fragment; expected one like ${example}.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
