import { expect, test } from "vitest";
import { ServerClock } from "../../../src/adapters/kube/transport.ts";
import { FakeClock } from "../../fake/fake-clock.ts";

const start = Date.UTC(2026, 0, 2, 3, 4, 5);
const header = (ms: number): string => new Date(ms).toUTCString();

test("before the first answer it is local time", () => {
  const clock = new FakeClock(start + 250);
  expect(new ServerClock(clock).nowMs()).toBe(start + 250);
});

test.for([
  ["agrees to the second", 0, 250],
  ["is 1 s behind", -1000, 250],
  ["is 1 s ahead", 1000, 250],
] as const)("while the server's clock %s, local milliseconds are kept", ([, shiftMs, expected]) => {
  const clock = new FakeClock(start + 250);
  const server = new ServerClock(clock);
  server.observe(header(start + shiftMs));
  expect(server.nowMs()).toBe(start + expected);
});

test.for([-3_600_000, -3000, 3000, 3_600_000])(
  "a server's clock that is %i ms away is used and carried on",
  async (shiftMs) => {
    const clock = new FakeClock(start);
    const server = new ServerClock(clock);
    server.observe(header(start + shiftMs));
    const firstMs = server.nowMs();
    expect(firstMs).toBeGreaterThanOrEqual(start + shiftMs);
    expect(firstMs).toBeLessThan(start + shiftMs + 1000);
    await clock.advance(700);
    expect(server.nowMs()).toBe(firstMs + 700);
    server.observe(header(start + shiftMs));
    expect(server.nowMs()).toBe(firstMs + 700);
  },
);

test("a change of the local wall clock between answers moves nothing", async () => {
  const clock = new FakeClock(start);
  const server = new ServerClock(clock);
  server.observe(header(start));
  clock.shiftWall(3_600_000);
  await clock.advance(100);
  expect(server.nowMs()).toBe(start + 100);
  server.observe(header(start));
  expect(server.nowMs()).toBe(start + 100);
});

test.for([undefined, "", "yesterday"])("the header %j is ignored", (date) => {
  const server = new ServerClock(new FakeClock(start));
  server.observe(date);
  expect(server.nowMs()).toBe(start);
});
