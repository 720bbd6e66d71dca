import type { RecordSetSpec, RecordSetStatus } from "../../src/model/resource.ts";
import type { Full } from "./full.ts";
import { MAXIMAL_SPEC, MAXIMAL_STATUS } from "./maximal-pool.ts";

const { observedGeneration, conditions, publishedDNS, formerDNS, leftDNS, fight } = MAXIMAL_STATUS;

/** A status of a record set with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_RECORD_SET_STATUS: Full<RecordSetStatus> = {
  observedGeneration,
  conditions,
  summary: { addresses: "2/3" },
  state: "error",
  error: "invalid dnsRecordSet specification",
  publishedDNS,
  formerDNS,
  leftDNS,
  fight,
  ipv6: {
    publishedDNS: { ...publishedDNS, name: "www.example.com AAAA", addresses: ["2001:db8::1"] },
    formerDNS,
    leftDNS,
    fight,
  },
  unreadyNodes: [{ nodeName: "n1", since: "2026-01-02T03:04:05Z" }],
  retries: [
    {
      subject: "dns/digitalocean/www.example.com",
      attempts: 3,
      nextAttemptTime: "2026-01-02T03:04:05Z",
      error: "e",
      reason: "PermissionMissing",
    },
  ],
};

const { match, dnsRecordSet } = MAXIMAL_SPEC;

const spec: Full<Omit<RecordSetSpec, "match" | "dnsRecordSet">> = {
  provider: "digitalocean",
  addressType: "InternalIP",
  ipFamilies: ["IPv4", "IPv6"],
  gracePeriodSeconds: 1.5,
  whenEmpty: "Delete",
  reclaimPolicy: "Delete",
  suspend: true,
  approval: "Voluntary",
};

/** A spec of a record set with a value in every field that the model knows, as it is on the wire. */
export const MAXIMAL_RECORD_SET_SPEC: Readonly<Record<string, unknown>> = { ...spec, match, dnsRecordSet };
