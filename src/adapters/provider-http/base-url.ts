import { ConfigError } from "../../model/errors.ts";

/**
 * An API's base URL without trailing slashes; a path prefix stays. `label` is the provider's name for people, `example` a URL
 * that would do.
 * @throws ConfigError when it is no http(s) URL, or has credentials (they would end up in error texts), a query or a hash
 */
export function checkedBaseURL(text: string, label: string, example: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ConfigError("invalid", `The ${label} API URL is not an http or https URL; expected one like ${example}.`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ConfigError(
      "invalid",
      `The ${label} API URL for ${url.host} must have no user, password, query or fragment; expected one like ${example}.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
