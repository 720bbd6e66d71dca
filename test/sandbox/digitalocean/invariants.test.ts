import { describe, expect, test } from "vitest";
import { completeState } from "../../../src/sandbox/digitalocean/cloud-state.ts";
import { type APIClient, apiClient } from "./api-client.ts";

const account = {
  account: { reserved_ip_limit: 4 },
  droplets: [{ id: 101 }, { id: 102 }, { id: 103 }, { id: 201, region: "ams3" }],
  reserved_ips: [{ ip: "203.0.113.1", droplet_id: 101 }, { ip: "203.0.113.2" }],
  byoip: [{ ip: "192.0.2.10" }],
  reserved_ipv6: [{ ip: "2001:db8:1::1", droplet_id: 102 }, { ip: "2001:db8:1::2" }],
};

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function step(client: APIClient, random: (below: number) => number): number {
  const state = client.sandbox.cloud().state;
  if (random(3) === 0) return stepOfIPv6(client, random);
  const all = [...state.reserved_ips, ...state.byoip];
  const ip = all[random(all.length)]?.ip ?? "203.0.113.99";
  const droplet = [101, 102, 103, 201, 999][random(5)] ?? 101;
  switch (random(7)) {
    case 0:
      return client.unassign(ip).status;
    case 1:
      return client.send("DELETE", `/v2/reserved_ips/${ip}`).status;
    case 2:
      return client.send("POST", "/v2/reserved_ips", { region: "nyc3" }).status;
    case 3:
      return client.send("POST", "/v2/reserved_ips", { droplet_id: droplet }).status;
    case 4:
      return client.get("/v2/reserved_ips").status;
    default:
      return client.assign(ip, droplet).status;
  }
}

function stepOfIPv6(client: APIClient, random: (below: number) => number): number {
  const all = client.sandbox.cloud().state.reserved_ipv6;
  const path = `/v2/reserved_ipv6/${all[random(all.length)]?.ip ?? "2001:db8::99"}`;
  const droplet = [101, 102, 103, 201, 999][random(5)] ?? 101;
  switch (random(5)) {
    case 0:
      return client.send("POST", `${path}/actions`, { type: "unassign" }).status;
    case 1:
      return client.send("DELETE", path).status;
    case 2:
      return client.send("POST", "/v2/reserved_ipv6", { region_slug: "nyc3" }).status;
    default:
      return client.send("POST", `${path}/actions`, { type: "assign", droplet_id: droplet }).status;
  }
}

describe("any history of requests", () => {
  test.for([0, 3000, 30_000])(
    "keeps the account's rules, and refusals change nothing, with actions of %i ms",
    (delay) => {
      for (let seed = 1; seed <= 5; seed += 1) {
        const client = apiClient({ ...account, settings: { action_delay_ms: delay, list_lag_ms: 2000 } });
        const random = randomFrom(seed);
        for (let count = 0; count < 80; count += 1) {
          client.sandbox.cloud().settle(client.nowMs);
          const before = structuredClone(client.sandbox.cloud().state);
          const status = step(client, random);
          const { state } = client.sandbox.cloud();
          const unpruned = { creations: [], creations_ipv6: [] };
          // The list of recent creations is pruned when one is refused.
          if (status >= 400) expect({ ...state, ...unpruned }).toEqual({ ...before, ...unpruned });
          // Refuses two addresses on a droplet, an address on a droplet of another region, and one that is there twice.
          expect(completeState(state)).toEqual(state);
          expect(state.reserved_ips.length).toBeLessThanOrEqual(4);
          expect(state.reserved_ipv6.length).toBeLessThanOrEqual(4);
          client.nowMs += random(5000);
        }
      }
    },
  );
});
