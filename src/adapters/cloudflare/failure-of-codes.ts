import type { ProviderFailure } from "../../model/errors.ts";
import type { CloudflareComplaint } from "./complaint.ts";

/** What these codes mean whatever the status: the token is no token, or there is no such thing. */
const failureOfCode: ReadonlyMap<number, ProviderFailure> = new Map([
  [6003, "unauthorized"], // Invalid request headers; the chain says that it is the Authorization header.
  [9103, "unauthorized"],
  [9106, "unauthorized"],
  [7000, "not-found"], // No route for that URI.
  [7003, "not-found"], // Could not route: no such zone.
  [81_044, "not-found"],
]);

/** What an error answer means: of 429s and 5xxs the status says it, else the codes do, else the status. Pure. */
export function failureOfCodes(status: number, complaint: CloudflareComplaint): ProviderFailure {
  if (status === 429) return "rate-limited";
  if (status >= 500 || status === 408) return "unavailable";
  const listed = complaint.codes.map((code) => failureOfCode.get(code)).find((failure) => failure !== undefined);
  return listed ?? tokenFailure(status, complaint) ?? (status === 404 ? "not-found" : "refused");
}

/**
 * 401 is a bad token; 403 is a lack of permission, although its text is often "Authentication error" (10000), except when
 * 9109 says that the token itself is invalid.
 * @see https://github.com/cloudflare/terraform-provider-cloudflare/issues/1533 (verified 2026-11-21)
 */
function tokenFailure(status: number, { codes, text }: CloudflareComplaint): ProviderFailure | undefined {
  if (codes.includes(9109)) return status === 401 || /invalid access token/i.test(text) ? "unauthorized" : "forbidden";
  if (status === 403) return "forbidden";
  return status === 401 || codes.includes(10_000) ? "unauthorized" : undefined;
}
