import { ON_CALL } from "./on-call.ts";
import { STORIES } from "./stories.ts";
import { StoryWorld } from "./story-world.ts";

// Plays the stories whose titles begin with one of the arguments, all without an argument, and prints what was written down as JSON, by title. A process of its own: in a
// test, the modules that a command loads come from another process, and time would pass while it waits for them.

const wanted = process.argv.slice(2);
const filled = StoryWorld.open();
const { exitCode, stdout, said } = await filled.quietly("reconcile --settle");
if (exitCode !== 0) throw new Error(`the world is not as it should be: ${stdout}${said}`);

const transcripts: Record<string, string> = {};
for (const { title, play } of [...STORIES, ON_CALL]) {
  if (wanted.length > 0 && !wanted.some((start) => title.startsWith(start))) continue;
  const world = filled.copy();
  await play(world).catch((error: unknown) => world.say(`It came out otherwise: ${String(error)}`));
  transcripts[title] = world.transcript(title);
  world.close();
}
filled.close();
process.stdout.write(JSON.stringify(transcripts));
