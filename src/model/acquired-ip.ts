/** `status.acquired[]`: an address flipop got for this pool from the provider. */
export interface AcquiredIP {
  readonly ip: string;
  /** RFC 3339. */
  readonly acquiredAt: string;
  /** True when it was found after a lost answer or by annotation: it is used, and never deleted. */
  readonly adopted?: boolean;
}

/** `status.pendingAcquisitions[]`: the intent of one creation whose answer is not known yet. */
export interface PendingAcquisition {
  /** RFC 3339, just before the call. */
  readonly startedAt: string;
  readonly region?: string;
  /** Target droplet, as a provider ID, when the address was asked for a droplet. */
  readonly providerID?: string;
  readonly nodeName?: string;
  /** Every address of the account just before the call, sorted. */
  readonly knownIPs: readonly string[];
  /** True when status had lost it and the pool's annotation still told of it: which addresses the account had is not known. */
  readonly restored?: boolean;
  /** The addresses it may have been, sorted, as a person was told; listing one of them in `spec.ips` is the answer. */
  readonly candidates?: readonly string[];
}

/** `status.released[]`: no longer managed, still attached where it was. */
export interface ReleasedIP {
  readonly ip: string;
  readonly providerID?: string;
  readonly nodeName?: string;
  /** True when flipop acquired it and may delete it. */
  readonly acquired?: boolean;
}
