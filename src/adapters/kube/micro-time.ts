import { formatTime } from "../../model/time.ts";

/**
 * A Kubernetes `MicroTime` of a time in milliseconds: RFC 3339 in UTC with exactly 6 decimals. The API server refuses other
 * precisions with a 400 (kube-apiserver v1.35.4, verified 2026-08).
 */
export function microTime(ms: number): string {
  return `${formatTime(ms).slice(0, -1)}000Z`;
}
