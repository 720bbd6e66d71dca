import type { Address } from "../../model/address.ts";
import type { AnswerValue } from "../provider-http/answer-value.ts";
import { answeredID } from "./answered-id.ts";

/** A region such as `nyc3`. */
const slug = /^[a-z0-9][a-z0-9-]{0,62}$/;

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
    region: region.isAbsent ? "" : region.at("slug").textLike(slug, "a slug"),
    isLocked: value.at("locked").flag(),
    ...(droplet.isAbsent ? {} : { holderID: answeredID(droplet.at("id")) }),
  };
}
