import { YAMLFile } from "../yaml-file.ts";
import type { CloudState } from "./cloud-state.ts";
import { completeState } from "./complete-state.ts";

const header = `The DigitalOcean account of this sandbox. Edit it at any time: it is read again before the next request.
Try: remove a droplet (its reserved IPs become unassigned) · set a droplet_id to null · locked: true on an address ·
pending_event_until: "2026-12-31T00:00:00Z" on a droplet · account.reserved_ip_limit: 1 ·
settings.action_delay_ms: 20000 (assignments take 20 s) · settings.fail_next_actions: 2 (they end errored) ·
settings.list_lag_ms: 5000 · tokens: {my-token: [account:read, reserved_ip:read, ...]} ("*" = every scope; none at all =
any token is accepted) · byoip: [{ip: 203.0.113.200, region: nyc3}] · anchor_ip: null ·
domains: [{name: example.com, records: [{type: A, name: www, data: 203.0.113.1, ttl: 60}]}] ("@" is the domain itself) ·
firewalls: [{name: web, inbound_rules: [{protocol: tcp, ports: 22, sources: {addresses: [192.0.2.0/24]}}], droplet_ids: [101], tags: [k8s]}]
(without an id it gets one; status: failed, or waiting; tags: [k8s] on a droplet) ·
pending_changes: [{droplet_id: 102}] on a firewall (never carried out; with status: failed it was given up there) ·
unreachable: true on a droplet (whatever changes at its firewalls stays pending for it).
Missing fields get defaults: "droplets: [{id: 101}]" is enough. Comments further down are lost when it is written.`;

/** `digitalocean.yaml` of a sandbox directory. Its `load` throws ConfigError with the file, and the line or path that is wrong. */
export function worldFile(path: string): YAMLFile<CloudState> {
  return new YAMLFile<CloudState>(path, { header, decode: completeState, encode });
}

/** What people look for comes first; what is empty and they have no use for is left out. */
function encode(state: CloudState): object {
  const { account, droplets, reserved_ips, byoip, domains, firewalls, settings, tokens } = state;
  const { actions, creations, history, next } = state;
  return {
    account,
    droplets,
    reserved_ips,
    byoip,
    domains,
    firewalls,
    settings,
    tokens,
    ...(actions.length === 0 ? {} : { actions }),
    ...(creations.length === 0 ? {} : { creations }),
    ...(history.length === 0 ? {} : { history }),
    next,
  };
}
