import type { Story } from "./story.ts";
import { ready, uncordoned } from "./story-edits.ts";

const MINUTE_MS = 60_000;

/** One incident with the five commands of whoever is on call, for the manual. */
export const ON_CALL: Story = {
  title: "on call",
  play: async (world) => {
    world.pass(20 * MINUTE_MS);
    for (const node of ["worker-1", "worker-5"])
      world.edit("", "nodes.yaml", ready(node, false, world.nowMs() - 90_000));
    await world.quietly("reconcile");
    world.pass(MINUTE_MS);
    world.say("worker-1 and worker-5 have died. **What is wrong?**");
    await world.run("status pool/ingress/web");
    world.say("**Why is it like this, and what would end it?**");
    await world.run("explain ip/203.0.113.10 --no-history");
    world.say("**What happens if** somebody does that?");
    await world.run("plan --if node/worker-6=Uncordoned pool/ingress/web");
    world.say("**Is everything else all right?**");
    await world.run("doctor");
    world.edit(
      "Somebody uncordons worker-6, and the next run comes. **What did it do?**",
      "nodes.yaml",
      uncordoned("worker-6"),
    );
    world.pass(MINUTE_MS);
    await world.quietly("reconcile");
    await world.run("history ip/203.0.113.10 --since 10m");
  },
  told: {
    "since when": /203\.0\.113\.10 .* worker-1 \(not ready 2m30s\)/,
    "what would end it": "  1 kubectl uncordon worker-6\n",
    "what happens then": "> move 203.0.113.10 from worker-1 to worker-6",
    "that nothing else is wrong": "1 to look at, 1 not known, 31 fine, 9 not applicable.",
    "what was done": /08:22:00 .* > moved 203\.0\.113\.10 from worker-1 to worker-6/,
  },
};
