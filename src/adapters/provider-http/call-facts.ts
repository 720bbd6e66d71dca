/** What texts, errors and counters need to know about one call. */
export interface CallFacts {
  /**
   * The port's operation: `list`, `get`, `machine`, `limit`, `assign`, `unassign`, `action`, `create`, `delete`; for DNS `zone`,
   * `records`, `write`, or what an adapter writes in steps of: `add-record`, `set-ttl`, `remove-record`; for firewalls `firewalls`,
   * `firewall`, `tagged-machines`, `open-ports`, `close-ports`, `add-machines`, `remove-machines`.
   */
  readonly operation: string;
  /** The address, machine, zone, FQDN, firewall or tag the call is about; `""` for a whole list. */
  readonly subject: string;
  /** Infinitive with its object, for people: `assign 203.0.113.1 to droplet 42`. */
  readonly doing: string;
  /** What the token must be allowed for the call, as the provider's control panel names it: `reserved_ip:update`. */
  readonly scope: string;
  /** True for everything but a read: never repeated, and ambiguous when the answer is missing. */
  readonly isWrite: boolean;
  /** What a 404 means and what to do about it, when the provider's own words leave that open: one sentence. */
  readonly notFoundAdvice?: string;
}
