/**
 * How long an acquisition counts, milliseconds: the provider counts over a minute, and from when the creation reaches it, which is up to a few seconds after the
 * time on the Lease.
 */
export const ACQUISITION_WINDOW_MS = 65_000;
