/** Which group of a Pushgateway a push is for. */
export interface PushGroup {
  readonly job: string;
  /** Further labels of the group, in order. */
  readonly grouping: readonly (readonly [name: string, value: string])[];
}

/**
 * Returns the path of a group: `/metrics/job@base64/ZmxpcG9w/cluster@base64/…`. Every value goes as base64url, because the Pushgateway decodes `%2F` before it routes
 * and then refuses the value. None may be empty: a group with an empty label collides with the one without, and every later push by anyone is refused until it is
 * deleted (Pushgateway 1.5.1, measured).
 */
export function groupPath({ job, grouping }: PushGroup): string {
  const parts = [["job", job] as const, ...grouping].map(([name, value]) => `${name}@base64/${encoded(value)}`);
  return `/metrics/${parts.join("/")}`;
}

function encoded(value: string): string {
  return Buffer.from(value, "utf8").toString("base64url");
}
