import { isIPv4, isIPv6 } from "node:net";

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const HOSTNAME =
  /^(?=.{1,255}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*\.?$/;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** The text formats that are checked; Kubernetes ignores the ones it does not know, and so does this. */
const CHECKS: ReadonlyMap<string, (value: string) => boolean> = new Map<string, (value: string) => boolean>(
  Object.entries({
    "date-time": (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
    date: (value) => DATE.test(value) && !Number.isNaN(Date.parse(value)),
    ipv4: isIPv4,
    ipv6: isIPv6,
    hostname: (value) => HOSTNAME.test(value),
    uuid: (value) => UUID.test(value),
    byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
  }),
);

/** True when a text has the format, or the format is not one that is checked. */
export function hasFormat(value: string, format: string): boolean {
  const check = CHECKS.get(format);
  return check === undefined || check(value);
}
