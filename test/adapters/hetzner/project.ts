import type { HetznerOptions } from "../../../src/adapters/hetzner/api.ts";
import { openHetzner } from "../../../src/adapters/hetzner/hetzner.ts";
import type { Clock } from "../../../src/ports/system.ts";
import { FaultList } from "../../../src/sandbox/faults.ts";
import { type HetznerSandbox, hetznerSandbox } from "../../../src/sandbox/hetzner/hetzner-sandbox.ts";
import type { RecordedCall } from "../../../src/sandbox/http-server.ts";
import { FakeClock } from "../../fake/fake-clock.ts";
import { openAPIValidator } from "../../openapi/validator.ts";

const validator = openAPIValidator("hetzner");

/** An emulated project, and the adapter for it, which speaks to it over HTTP. */
export interface HetznerProject {
  readonly sandbox: HetznerSandbox;
  readonly hetzner: ReturnType<typeof openHetzner>;
  readonly faults: FaultList;
  readonly clock: FakeClock;
  /** `POST /v1/floating_ips 201`, in order. */
  readonly calls: string[];
  /** Another process of the same project. */
  again(options?: Partial<HetznerOptions>): ReturnType<typeof openHetzner>;
}

/** Runs a test on a project of this state. Every request must be as the API's description says. */
export async function inProject(state: object, body: (project: HetznerProject) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const faults = new FaultList();
  const calls: string[] = [];
  const offSpec: string[] = [];
  const onCall = ({ method, path, query, body: sent, status }: RecordedCall): void => {
    calls.push(`${method} ${path} ${status}`);
    offSpec.push(...validator.checkRequest(method, query === "" ? path : `${path}?${query}`, sent));
  };
  const sandbox = hetznerSandbox({ state, now: () => clock.wallMs(), faults, onCall });
  const server = await sandbox.serve();
  // Waits are over at once.
  const impatient: Clock = {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    sleep: async (ms) => await clock.advance(ms),
  };
  const options = { token: "secret-token", baseURL: `${server.url}/v1`, userAgent: "flipop-test", clock: impatient };
  const again = (more: Partial<HetznerOptions> = {}): ReturnType<typeof openHetzner> =>
    openHetzner({ ...options, ...more });
  try {
    await body({ sandbox, hetzner: again(), faults, clock, calls, again });
  } finally {
    await server.close();
  }
  if (offSpec.length > 0) throw new Error(`Not as the API description says:\n${offSpec.join("\n")}`);
}
