import { expect, test } from "vitest";
import { withPlanned } from "../../src/model/acquisition-memory.ts";
import type { AcquiredIP, PendingAcquisition } from "../../src/model/address.ts";

const AT = "2026-01-02T03:00:00Z";
const bought = (...ips: string[]): readonly AcquiredIP[] => ips.map((ip) => ({ ip, acquiredAt: AT }));
const pending = (region: string, ...knownIPs: string[]): PendingAcquisition => ({ startedAt: AT, region, knownIPs });
const [A, B, C] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"] as const;
const NONE = { acquired: [], pendingAcquisitions: [] };

test.for([
  [
    "an answer that was stored since the plan was made stays, and its acquisition does not come back",
    {
      stored: { acquired: bought(A, B), pendingAcquisitions: [] },
      seen: { acquired: bought(A), pendingAcquisitions: [pending("nyc3", A)] },
      wanted: { acquired: bought(A), pendingAcquisitions: [pending("nyc3", A)] },
      merged: { acquired: bought(A, B), pendingAcquisitions: [] },
    },
  ],
  [
    "what the plan found and gave up is entered beside an answer that was stored meanwhile",
    {
      stored: { acquired: bought(A, B), pendingAcquisitions: [] },
      seen: { acquired: bought(A), pendingAcquisitions: [pending("nyc3", A)] },
      wanted: { acquired: bought(C), pendingAcquisitions: [pending("nyc3", A)] },
      merged: { acquired: bought(B, C), pendingAcquisitions: [] },
    },
  ],
  [
    "an acquisition that began since the plan was made stays",
    {
      stored: { acquired: [], pendingAcquisitions: [pending("nyc3")] },
      seen: NONE,
      wanted: NONE,
      merged: { acquired: [], pendingAcquisitions: [pending("nyc3")] },
    },
  ],
  [
    "what the plan says of an acquisition replaces what was stored of it",
    {
      stored: { acquired: [], pendingAcquisitions: [pending("nyc3", A), pending("nyc3", A)] },
      seen: { acquired: [], pendingAcquisitions: [pending("nyc3", A), pending("nyc3", A)] },
      wanted: { acquired: [], pendingAcquisitions: [{ ...pending("nyc3", A), candidates: [B] }, pending("nyc3", A)] },
      merged: { acquired: [], pendingAcquisitions: [{ ...pending("nyc3", A), candidates: [B] }, pending("nyc3", A)] },
    },
  ],
  [
    "an acquisition that the plan found the address of ends",
    {
      stored: { acquired: [], pendingAcquisitions: [pending("nyc3"), pending("fra1")] },
      seen: { acquired: [], pendingAcquisitions: [pending("nyc3"), pending("fra1")] },
      wanted: { acquired: bought(A), pendingAcquisitions: [pending("fra1")] },
      merged: { acquired: bought(A), pendingAcquisitions: [pending("fra1")] },
    },
  ],
] as const)("%s", ([, { stored, seen, wanted, merged }]) => {
  expect(withPlanned(stored, seen, wanted)).toEqual(merged);
});
