import { cloudflareSandbox } from "../../src/sandbox/cloudflare/cloudflare-sandbox.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { hetznerSandbox } from "../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { RecordedCall } from "../../src/sandbox/http-server.ts";
import { webhookSandbox } from "../../src/sandbox/webhook/webhook-sandbox.ts";

/** The zone of every name in a benchmark. */
export const ZONE = "example.com";
/** How many records of another type stand in the zone that are nobody's business. */
export const OTHER_RECORDS = 300;

/** A zone of an emulated DNS provider over HTTP, without latency and with limits that no benchmark reaches. */
export interface DNSZone {
  /** What flipop's environment says about the account. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every call so far, in order; emptied by {@link DNSZone.forgetCalls}. */
  readonly calls: readonly RecordedCall[];
  forgetCalls(): void;
  /** The zone's records as they now are, by id; two texts are equal when the records are. */
  records(): ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/** Starts an account at each provider of DNS, by the name that objects give it; the zone holds {@link OTHER_RECORDS} records. */
export const DNS_ZONES: Readonly<Record<string, () => Promise<DNSZone>>> = {
  digitalocean: openDigitalOcean,
  cloudflare: openCloudflare,
  hetzner: openHetzner,
  webhook: openWebhook,
};

const NO_LIMIT = 1_000_000;

async function openDigitalOcean(): Promise<DNSZone> {
  const calls: RecordedCall[] = [];
  const account = digitaloceanSandbox({
    now: () => Date.now(),
    onCall: (call) => calls.push(call),
    state: {
      settings: { rate_limit: { per_hour: NO_LIMIT, per_minute: NO_LIMIT } },
      domains: [{ name: ZONE, records: others().map(({ name, text }) => ({ type: "TXT", name, data: text })) }],
    },
  });
  const { url, close } = await account.serve();
  return {
    environment: { DIGITALOCEAN_API_URL: url, DIGITALOCEAN_ACCESS_TOKEN: "sandbox" },
    records: () => {
      const records = account.cloud().state.domains.flatMap((domain) => domain.records);
      return new Map(records.map((record) => [String(record.id), JSON.stringify(record)]));
    },
    close,
    ...log(calls),
  };
}

/** Starts an account at Cloudflare with the zone. */
export async function openCloudflare(): Promise<DNSZone> {
  const calls: RecordedCall[] = [];
  const account = cloudflareSandbox({
    now: () => Date.now(),
    onCall: (call) => calls.push(call),
    state: {
      settings: { requests_per_5_minutes: NO_LIMIT, records_per_zone: NO_LIMIT },
      zones: [
        { name: ZONE, dns_records: others().map(({ name, text }) => ({ type: "TXT", name, content: text, ttl: 300 })) },
      ],
    },
  });
  const { url, close } = await account.serve();
  return {
    environment: { CLOUDFLARE_API_URL: `${url}/client/v4`, CLOUDFLARE_TOKEN: "sandbox" },
    records: () => {
      const records = account.account().state.zones.flatMap((zone) => zone.dns_records);
      return new Map(records.map((record) => [record.id, JSON.stringify(record)]));
    },
    close,
    ...log(calls),
  };
}

/** Starts a project of Hetzner Cloud with the zone. */
async function openHetzner(): Promise<DNSZone> {
  const calls: RecordedCall[] = [];
  const rrsets = others().map(({ name, text }) => ({ name, type: "TXT", records: [{ value: text }] }));
  const project = hetznerSandbox({
    now: () => Date.now(),
    onCall: (call) => calls.push(call),
    state: { settings: { rate_limit: NO_LIMIT }, zones: [{ name: ZONE, rrsets }] },
  });
  const { url, close } = await project.serve();
  return {
    environment: { HCLOUD_API_URL: `${url}/v1`, HCLOUD_TOKEN: "sandbox" },
    records: () => {
      const sets = project.project().state.zones.flatMap((zone) => zone.rrsets);
      const records = sets.flatMap(({ records: own, name, type, ttl }) =>
        own.map(({ value }) => ({ name, type, ttl, value })),
      );
      return new Map(
        records.map((record) => [`${record.name} ${record.type} ${record.value}`, JSON.stringify(record)]),
      );
    },
    close,
    ...log(calls),
  };
}

/** Starts a webhook that looks after the zone. */
async function openWebhook(): Promise<DNSZone> {
  const calls: RecordedCall[] = [];
  const webhook = webhookSandbox({
    now: () => Date.now(),
    onCall: (call) => calls.push(call),
    state: {
      domains: [ZONE],
      records: others().map(({ name, text }) => ({ dnsName: `${name}.${ZONE}`, recordType: "TXT", targets: [text] })),
    },
  });
  const { url, close } = await webhook.serve();
  return {
    environment: { FLIPOP_DNS_WEBHOOK: url },
    records: () => {
      const sets = webhook.webhook().state.records;
      const records = sets.flatMap(({ targets, ...set }) => targets.map((target) => ({ ...set, target })));
      return new Map(
        records.map((record) => [`${record.dnsName} ${record.recordType} ${record.target}`, JSON.stringify(record)]),
      );
    },
    close,
    ...log(calls),
  };
}

function others(): readonly { readonly name: string; readonly text: string }[] {
  return Array.from({ length: OTHER_RECORDS }, (_, index) => ({
    name: `other-${index}`,
    text: `of somebody else, ${index}`,
  }));
}

function log(calls: RecordedCall[]): Pick<DNSZone, "calls" | "forgetCalls"> {
  return {
    calls,
    forgetCalls: () => {
      calls.length = 0;
    },
  };
}
