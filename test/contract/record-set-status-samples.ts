import type { RecordSetStatus } from "../../src/model/resource.ts";
import { FULL_STATUS } from "./pool-status-samples.ts";

/** The status of a record set nobody has served yet. */
export const EMPTY_RECORD_SET_STATUS: RecordSetStatus = {
  conditions: [],
  formerDNS: [],
  unreadyNodes: [],
  retries: [],
};

const { observedGeneration, conditions, error, publishedDNS, formerDNS, leftDNS, fight } = FULL_STATUS;

/** A status with every field: a new one does not compile until it is here. */
export const FULL_RECORD_SET_STATUS: Required<RecordSetStatus> = {
  observedGeneration,
  conditions,
  summary: { addresses: "1/2" },
  error,
  state: "in-progress",
  publishedDNS,
  formerDNS,
  leftDNS,
  fight,
  ipv6: {
    publishedDNS: {
      provider: "digitalocean",
      zone: "example.com",
      name: "www.example.com AAAA",
      addresses: ["2001:db8::1", "2001:db8::2"],
    },
    formerDNS,
    leftDNS,
    fight,
  },
  unreadyNodes: [{ nodeName: "node-1", since: "2026-01-02T03:04:05Z" }],
  retries: [
    {
      subject: "dns/digitalocean/www.example.com",
      attempts: 1,
      nextAttemptTime: "2026-01-02T03:04:05Z",
      error: "no answer",
    },
  ],
};
