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
  return { protocol: port.text("protocol"), port: port.integerOrText("port") };
}
