import { CloudRefusal } from "./cloud-refusal.ts";

/** Who calls, and when. */
export interface Caller {
  readonly nowMs: number;
  /** `*` = every scope. */
  readonly scopes: ReadonlySet<string>;
}

/** True when the caller's token has this scope. */
export function hasScope(caller: Caller, scope: string): boolean {
  return caller.scopes.has("*") || caller.scopes.has(scope);
}

/** @throws CloudRefusal 403 when the caller's token lacks this scope. */
export function need(caller: Caller, scope: string): void {
  needOneOf(caller, [scope]);
}

/** @throws CloudRefusal 403 when the caller's token has none of these scopes, each of which is enough. */
export function needOneOf(caller: Caller, scopes: readonly string[]): void {
  if (!scopes.some((scope) => hasScope(caller, scope))) {
    throw new CloudRefusal(403, "Forbidden", "You are not authorized to perform this operation");
  }
}
