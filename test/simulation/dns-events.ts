import { setNamed } from "../../src/model/record-types.ts";
import { GROUP, VERSION } from "../../src/model/resource.ts";
import { type DNSRecord, replaceRecords } from "../fake/dns-account.ts";
import type { DNSEvent, HandEdit } from "./dns-event.ts";
import { isIn, recordsOf } from "./dns-view.ts";
import type { World } from "./world.ts";

type Of<K extends DNSEvent["kind"]> = Extract<DNSEvent, { kind: K }>;
type Effects = { readonly [K in DNSEvent["kind"]]: (world: World, event: Of<K>) => void };

/** What every event about record sets and DNS does to the world. */
export const DNS_EFFECTS: Effects = {
  "record-set": (world, { name, spec }) => {
    world.kubernetes.api.create(world.type("recordSets"), "shop", {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: "NodeDNSRecordSet",
      metadata: { name, ...world.labelsOf(name) },
      spec,
    });
  },
  "edit-record-set": (world, { name, spec }) => {
    world.kubernetes.api.patch(world.type("recordSets"), `shop/${name}`, { spec });
  },
  "delete-record-set": (world, { name }) => {
    world.kubernetes.api.remove(world.type("recordSets"), `shop/${name}`);
  },
  "wipe-record-set": (world, { name }) => {
    const type = world.type("recordSets");
    const stored = world.kubernetes.api.get(type, `shop/${name}`)["status"] ?? {};
    const status = Object.fromEntries(Object.keys(stored).map((field) => [field, null]));
    world.kubernetes.api.patch(type, `shop/${name}`, { status }, { subresource: "status" });
  },
  "node-addresses": (world, { name, external }) => {
    const addresses = external.map((address) => ({ type: "ExternalIP", address }));
    const status = { addresses: [...addresses, { type: "Hostname", address: name }] };
    world.kubernetes.api.patch(world.type("nodes"), name, { status }, { subresource: "status" });
  },
  "hand-record": handEdit,
  zone: (world, { provider, zone, isThere }) => {
    const account = world.dns[provider];
    if (isThere === (account.zoneName(zone) !== undefined)) return;
    if (isThere) account.addZone(zone);
    else account.removeZone(zone);
  },
  "automatic-ttl": (world, { provider, zone, fqdn, value }) => {
    if (provider === "cloudflare" && world.dns[provider].zoneName(zone) !== undefined)
      world.dns[provider].setAutomatic(zone, fqdn, value);
  },
};

function handEdit(world: World, { provider, zone, fqdn: text, edit, pick }: Of<"hand-record">): void {
  const { fqdn, type } = setNamed(text);
  const account = world.dns[provider];
  if (account.zoneName(zone) === undefined) return;
  const set = recordsOf(account, zone, text);
  const chosen = set[pick % Math.max(1, set.length)];
  const isChosen = (record: DNSRecord): boolean => isIn(record, text) && record.content === chosen?.content;
  const [{ ttlSeconds } = { ttlSeconds: 120 }] = set;
  const content = type === "A" ? `192.0.2.${60 + pick}` : `2001:db8:ffff::${60 + pick}`;
  const stranger: DNSRecord = { fqdn, type, content, ttlSeconds };
  const isOwn = (record: DNSRecord): boolean => isIn(record, text);
  const edits: Readonly<Record<HandEdit, () => void>> = {
    add: () => account.addRecord(zone, stranger),
    remove: () => account.removeRecords(zone, isChosen),
    "remove-all": () => account.removeRecords(zone, isOwn),
    replace: () => replaceRecords(account, zone, isChosen, { content: stranger.content }),
    double: () => chosen && account.addRecord(zone, chosen),
    ttl: () => replaceRecords(account, zone, isOwn, { ttlSeconds: 300 + pick }),
    others: () => {
      account.addRecord(zone, { ...stranger, type: "TXT", content: `"${pick}"` });
      account.addRecord(zone, { ...stranger, fqdn: `other.${zone}` });
    },
    cname: () => {
      if (set.length === 0) account.addRecord(zone, { ...stranger, type: "CNAME", content: "elsewhere.example" });
    },
  };
  edits[edit]();
}
