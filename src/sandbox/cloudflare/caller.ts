import type { AccountState, Permission, ZoneState } from "./account-state.ts";
import { APIRefusal, refusal } from "./api-refusal.ts";

/** Who calls, and when. */
export interface Caller {
  readonly nowMs: number;
  /** True when the token may do this in that zone. */
  readonly may: (permission: Permission, zone: ZoneState) => boolean;
}

/**
 * The caller that an `Authorization` header makes.
 * @throws APIRefusal when there is none (9106), it is not `Bearer TOKEN` (6003), or the token is not known (9109)
 */
export function callerOf(authorization: string | undefined, tokens: AccountState["tokens"], nowMs: number): Caller {
  const token = tokenOf(authorization);
  if (Object.keys(tokens).length === 0) return { nowMs, may: () => true };
  const grants = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (grants === undefined) throw refusal(403, 9109, "Invalid access token");
  return {
    nowMs,
    may(permission, zone) {
      const granted = [zone.id, zone.name, "*"].flatMap((key) =>
        Object.hasOwn(grants, key) ? (grants[key] ?? []) : [],
      );
      return granted.includes(permission) || (permission === "dns:read" && granted.includes("dns:edit"));
    },
  };
}

function tokenOf(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw refusal(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers");
  }
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const chain = [{ code: 6111, message: "Invalid format for Authorization header" }];
  throw new APIRefusal(400, [{ code: 6003, message: "Invalid request headers", error_chain: chain }]);
}
