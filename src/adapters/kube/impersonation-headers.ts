import type { Impersonation } from "./connection.ts";

/**
 * The headers that make the API server treat the caller as somebody else; none without a user. Pure.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ (2026-08)
 */
export function impersonationHeaders(
  impersonation: Impersonation,
): Readonly<Record<string, string | readonly string[]>> {
  if (impersonation.user === undefined) return {};
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
