import { createDigitalOcean } from "../../../src/adapters/digitalocean/create-digitalocean.ts";
import { digitaloceanSandbox } from "../../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { type IPProviderWorld, ipProviderContract } from "../../contract/ip-provider-contract.ts";
import { FakeClock } from "../../fake/fake-clock.ts";

ipProviderContract("the DigitalOcean adapter over HTTP, on the sandbox's account,", makeWorld);

async function makeWorld(): Promise<IPProviderWorld> {
  const clock = new FakeClock();
  const sandbox = digitaloceanSandbox({
    state: { account: { reserved_ip_limit: 250 }, settings: { action_delay_ms: 5000 } },
    now: () => clock.wallMs(),
  });
  const server = await sandbox.serve();
  const provider = createDigitalOcean({ token: "any", baseURL: server.url, userAgent: "flipop/0", clock });
  return {
    provider,
    seed: {
      droplet: (id, region) => sandbox.addDroplet({ id: Number(id), region }),
      address(ip, { region, droplet, locked = false, byoip = false }) {
        const holder = droplet === undefined ? null : Number(droplet);
        sandbox.addAddress({ ip, region, droplet_id: holder }, byoip ? "byoip" : "reserved");
        if (locked) addEndlessAction(ip, region, holder);
      },
      limit(count) {
        sandbox.cloud().state.account.reserved_ip_limit = count;
      },
      advance: (ms) => clock.advance(ms),
    },
    dispose: () => server.close(),
  };

  function addEndlessAction(ip: string, region: string, holder: number | null): void {
    const { state } = sandbox.cloud();
    state.actions.push({
      id: state.next.action_id,
      type: "unassign_ip",
      ip,
      region,
      status: "in-progress",
      droplet_id: null,
      from_droplet_id: holder,
      started_at: new Date(clock.wallMs()).toISOString(),
      completes_at: new Date(clock.wallMs() + 3_600_000).toISOString(),
      completed_at: null,
      outcome: "completed",
    });
    state.next.action_id += 1;
  }
}
