import { createDigitalOcean } from "../../src/adapters/digitalocean/create-digitalocean.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { IPProvider } from "../../src/ports/ip-provider.ts";
import type { DigitalOceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import { FaultList } from "../../src/sandbox/faults.ts";
import { emptyAccount } from "./account.ts";
import { type LoggedCall, loggedCloudRequest } from "./call-log.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** The emulated DigitalOcean behind HTTP on loopback, and the real adapter for it. */
export interface HTTPAccount {
  readonly account: DigitalOceanSandbox;
  readonly faults: FaultList;
  open(clock: Clock): IPProvider;
  close(): Promise<void>;
}

/** Less than a planned hang lasts, milliseconds. */
const TIMEOUT_MS = 1000;

/** Serves an empty account; every request it gets is entered into the log. */
export async function httpAccount(clock: VirtualClock, calls: LoggedCall[]): Promise<HTTPAccount> {
  const faults = new FaultList();
  const account = emptyAccount({
    now: () => clock.nowMs(),
    faults,
    onCall: (call) => calls.push(loggedCloudRequest(call)),
  });
  const server = await account.serve();
  return {
    account,
    faults,
    open: (processClock) =>
      createDigitalOcean({
        token: "token",
        baseURL: server.url,
        userAgent: "flipop/scenario",
        timeoutMs: TIMEOUT_MS,
        clock: processClock,
      }),
    close: () => server.close(),
  };
}
