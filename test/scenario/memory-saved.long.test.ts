import { memoryWorld } from "./memory-world.ts";
import { partOf } from "./part-of.ts";
import { runScenarios } from "./run-scenarios.ts";
import { SavedWorld } from "./saved-world.ts";

/** Where the provider refuses a node in the middle of a run, the run goes on to another one: that stands in no plan. Saved plans have scenarios of their own. */
const GOES_ON = [
  /^21b BYOIP address of nobody on the droplet/,
  /^region mismatch that no label shows/,
  /^a droplet that the provider does not know/,
  /^an address is bought for a droplet that the provider does not know/,
  /^no droplet of a pool's nodes exists/,
  /^one bad node does not starve the others/,
  /^two bad nodes and one good/,
  /^a swap whose assignment fails/,
  /^a droplet is destroyed while its node still looks ready/,
  /^an assignment fails: the address is not published/,
  /^a node that the firewall refuses is passed over/,
];

const part = partOf(20);

runScenarios("memory", memoryWorld, {
  select: (all, group) =>
    part(
      all.filter(({ title }) => group !== "saved plans" && !GOES_ON.some((form) => form.test(title))),
      group,
    ),
  open: (backend) => new SavedWorld(backend),
  name: "memory, saved",
});
