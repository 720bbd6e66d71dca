import type { Address } from "../../model/address.ts";
import type { AnswerValue } from "./answer-value.ts";

/**
 * The address in a `reserved_ip` object. `droplet` null or absent = unattached; a droplet without an id is a fault, never
 * "unattached"; a region that is null or absent is `""`.
 * @throws AnswerFault
 */
export function decodeAddress(value: AnswerValue): Address {
  const region = value.at("region");
  const droplet = value.at("droplet");
  return {
    ip: value.at("ip").ipv4(),
    region: region.isAbsent ? "" : region.at("slug").slug(),
    isLocked: value.at("locked").flag(),
    ...(droplet.isAbsent ? {} : { holderID: droplet.at("id").id() }),
  };
}
