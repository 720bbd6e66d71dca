import type { RoutedIP, RoutedIPSpec, RoutedPort } from "../../model/routed-ip.ts";
import { decodeDNSSpec } from "./decode-dns-spec.ts";
import { decodeObject } from "./decode-object.ts";
import { decodeRoutedIPStatus } from "./decode-routed-ip-status.ts";
import type { SpecReader } from "./spec-reader.ts";

/** A RoutedIP, see {@link decodeObject}. Never throws. */
export function decodeRoutedIP(object: unknown): RoutedIP | undefined {
  return decodeObject(object, { spec: decodeSpec, status: decodeRoutedIPStatus });
}

function decodeSpec(spec: SpecReader): RoutedIPSpec {
  return {
    issuer: spec.text("issuer"),
    address: spec.text("address"),
    serviceName: spec.text("serviceName"),
    ports: spec.objects("ports").map(decodePort),
    gracePeriodSeconds: spec.seconds("gracePeriodSeconds"),
    foreignHolder: spec.word("foreignHolder", ["Hold", "TakeOver"], "Hold"),
    ...(spec.has("dnsRecordSet") ? { dnsRecordSet: decodeDNSSpec(spec.object("dnsRecordSet"), "digitalocean") } : {}),
    suspend: spec.flag("suspend"),
  };
}

function decodePort(port: SpecReader): RoutedPort {
  const protocol = port.text("protocol");
  // An entry without protocol opens nothing; with one, "no port" must not come to mean all of them.
  const isRequired = protocol !== "" && protocol.toLowerCase() !== "icmp";
  return { protocol, port: port.integerOrText("port", isRequired) };
}
