import { ConfigError } from "../../model/errors.ts";

const example = "https://api.cloudflare.com/client/v4";

/**
 * The API's base URL without trailing slashes; a path prefix stays.
 * @throws ConfigError when it is no http(s) URL, or has credentials (they would end up in error texts), a query or a hash
 */
export function checkedBaseURL(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new ConfigError(
      "invalid",
      `The Cloudflare API URL is not an http or https URL; expected one like ${example}.`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ConfigError(
      "invalid",
      `The Cloudflare API URL for ${url.host} must have no user, password, query or fragment; expected one like ${example}.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
