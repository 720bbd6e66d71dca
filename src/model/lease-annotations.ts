/** What runs leave for later runs as annotations of the Lease, which every mutating run writes anyway. */

/** Times of the newest acquisitions, RFC 3339, separated by commas: at most 12 are made a minute over all runs. */
export const ACQUISITIONS_ANNOTATION = "flipop.digitalocean.com/acquisitions";
/** The same of IPv6 addresses. */
export const ACQUISITIONS_IPV6_ANNOTATION = "flipop.digitalocean.com/acquisitions-ipv6";
/** Prefix of `…/not-before-PROVIDER`: RFC 3339 time before which the provider asked for no call. */
export const NOT_BEFORE_PREFIX = "flipop.digitalocean.com/not-before-";
/** Prefix of `…/put-off-PROVIDER`: how many names of DNS the last run did not look at, until when, and where the next look begins. */
export const PUT_OFF_PREFIX = "flipop.digitalocean.com/put-off-";
/** The shards that have run beside the Lease, separated by commas: `1/3,2/3,web`. Only on the Lease of the process without `--shard`. */
export const SHARDS_ANNOTATION = "flipop.digitalocean.com/shards";
/** When the last run ended, RFC 3339. */
export const LAST_RUN_ANNOTATION = "flipop.digitalocean.com/last-run";
/** When the last run without any failure of its own ended, RFC 3339. */
export const LAST_SUCCESS_ANNOTATION = "flipop.digitalocean.com/last-success";
/** What is counted over all runs, as JSON: calls to providers and how long they took, changes, assignments by address, failovers. */
export const TOTALS_ANNOTATION = "flipop.digitalocean.com/totals";
/** The exit code of the last run, and a word for it. */
export const LAST_RESULT_ANNOTATION = "flipop.digitalocean.com/last-result";
/** How grants counted in the last mutating run: `warn` or `require`; absent = they did not. */
export const GRANTS_ANNOTATION = "flipop.digitalocean.com/grants";
