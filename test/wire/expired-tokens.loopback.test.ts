import { beforeAll, describe, expect, test } from "vitest";
import { type Beginnings, beginnings, callsOf, play, several } from "./play.ts";
import { sampled } from "./sampled.ts";
import type { ServerName, Strike, WireCall } from "./wire.ts";
import { WIRE_STORIES } from "./wire-story.ts";

/** How each server refuses a token that was valid a moment ago. */
const REFUSALS: Readonly<Record<ServerName, Strike["answer"]>> = {
  kubernetes: {
    status: 401,
    body: {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    },
  },
  digitalocean: { status: 401, body: { id: "Unauthorized", message: "Unable to authenticate you" } },
  cloudflare: {
    status: 401,
    body: { success: false, errors: [{ code: 1000, message: "Invalid API Token" }], messages: [], result: null },
  },
};
const SERVERS = Object.keys(REFUSALS) as readonly ServerName[];
const AT_ONCE = 6;
/** Of the calls to a server one in so many is played; those to the API server are many. */
const ONE_IN: Readonly<Record<ServerName, number>> = { kubernetes: 8, digitalocean: 2, cloudflare: 2 };
/** Every call is answered: a deadline, or a Lease that is over, would only end runs of a busy machine. Whoever cannot give the Lease back leaves it to the next run to wait for. */
const ANSWERED = {
  callTimeoutMs: 20_000,
  timeoutMs: 120_000,
  args: ["--lease-duration", "15s", "--renew-deadline", "12s"],
};
const NEW_TOKEN = "kube-fedcba9876543210fedcba9876543210";
/** Notes of the run, whose loss does not matter to any object. */
const NOTES = /\/events$|\/leases/;

let begin: Beginnings;
beforeAll(async () => {
  begin = await beginnings();
});

/** From the struck call on, nothing of this server is answered otherwise. */
function fromCallOn(struck: WireCall, answer: Strike["answer"]): (call: WireCall) => Strike | undefined {
  let isOver = false;
  return (call) => {
    isOver ||= call.key === struck.key;
    return isOver && call.server === struck.server
      ? { isLost: true, ...(answer === undefined ? {} : { answer }) }
      : undefined;
  };
}

for (const [number, story] of WIRE_STORIES.entries()) {
  describe(`${story.name} in whose course the token expires`, () => {
    test.for(SERVERS)("of %s, at whichever call, says so, and ends well once there is a new one", async (server) => {
      const all = (await callsOf(story, begin)).filter((call) => call.server === server);
      const calls = sampled(all, ONE_IN[server], number);
      const results = await several(calls, AT_ONCE, async (call) => {
        const { problems, run } = await play(story, begin, fromCallOn(call, REFUSALS[server]), ANSWERED);
        const isTold = /token|credentials|401/i.test(run.text);
        // A change that the provider accepted and did not show is left to the next run, which will speak of the token.
        const isNoted = run.code === 0 && (NOTES.test(call.path) || run.text.includes("unconfirmed"));
        const complaints = [
          ...problems,
          ...([0, 3, 77].includes(run.code) ? [] : [`it ended with ${run.code}: ${run.text}`]),
          ...(isTold || isNoted ? [] : [`it ended with ${run.code} and did not speak of the token: ${run.text}`]),
        ];
        return complaints.map((problem) => `${call.key}: ${problem}`);
      });
      expect(results.flat()).toEqual([]);
      expect(calls.length).toBeGreaterThan(1);
    });

    test("of the API server, at whichever call, goes on with the one that is in the file by then", async () => {
      const all = (await callsOf(story, begin)).filter(({ server }) => server === "kubernetes");
      // The other calls than those at which the token is refused for good; the stories have most calls in common.
      const calls = sampled(all, ONE_IN.kubernetes, number + 1);
      const results = await several(calls, AT_ONCE, async (struck) => {
        let isOver = false;
        const replace: Parameters<typeof play>[2] = (call, world) => {
          if (call.key === struck.key) world.replaceToken(NEW_TOKEN);
          isOver ||= call.key === struck.key;
          const isRefused =
            isOver && call.server === "kubernetes" && !call.headers["authorization"]?.endsWith(NEW_TOKEN);
          return isRefused ? { isLost: true, ...(REFUSALS.kubernetes && { answer: REFUSALS.kubernetes }) } : undefined;
        };
        const { problems, run } = await play(story, begin, replace, ANSWERED);
        const complaints = [...problems, ...(run.code === 0 ? [] : [`it ended with ${run.code}: ${run.text}`])];
        return complaints.map((problem) => `${struck.key}: ${problem}`);
      });
      expect(results.flat()).toEqual([]);
      expect(calls.length).toBeGreaterThan(1);
    });
  });
}
