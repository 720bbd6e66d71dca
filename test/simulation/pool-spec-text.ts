/** The spec of a pool as a manifest has it, with the fields the simulator plays with. */
export interface PoolSpecText {
  readonly provider: string;
  readonly region?: string;
  readonly ips?: readonly string[];
  readonly desiredIPs?: number;
  readonly assignmentCoolOffSeconds?: number;
  readonly gracePeriodSeconds?: number;
  readonly reclaimPolicy?: "Retain" | "Delete";
  readonly foreignHolder?: "Hold" | "TakeOver";
  readonly suspend?: boolean;
  readonly match?: { readonly nodeLabel?: string; readonly podLabel?: string };
}
