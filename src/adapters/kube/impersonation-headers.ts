import { ConfigError } from "../../model/errors.ts";
import type { Impersonation } from "./connection.ts";

/**
 * The headers that make the API server treat the caller as somebody else; none without a user. Pure.
 * @throws ConfigError when a name has a character that no header can carry
 * @see https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ (2026-08)
 */
export function impersonationHeaders(
  impersonation: Impersonation,
): Readonly<Record<string, string | readonly string[]>> {
  if (impersonation.user === undefined) return {};
  const { user, groups, uid = "", extra: more } = impersonation;
  for (const value of [user, ...groups, uid, ...Object.values(more).flat()]) checkValue(value);
  const extra = Object.entries(impersonation.extra).map(([key, values]) => [
    `Impersonate-Extra-${encodeURIComponent(key)}`,
    values,
  ]);
  return {
    "Impersonate-User": impersonation.user,
    ...(impersonation.groups.length === 0 ? {} : { "Impersonate-Group": impersonation.groups }),
    ...(impersonation.uid === undefined ? {} : { "Impersonate-Uid": impersonation.uid }),
    ...Object.fromEntries(extra),
  };
}

/** Node sends a header in Latin-1 and refuses what it cannot write so. */
function checkValue(value: string): void {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw new ConfigError(
    "invalid",
    `The name ${JSON.stringify(value)} to act as cannot be sent: it has a line end or another control character, or a letter outside Latin-1. ` +
      "Correct --as, --as-group, or the kubeconfig.",
  );
}
