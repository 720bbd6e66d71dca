// Plays campaigns in memory: `npm run campaign -- --seed N`, `--seeds N [--from N]`, or `--field PATH`; with `--of "hetzner IPv6"` for pools whose addresses come from there.
import { parseArgs } from "node:util";
import { BOTH } from "./kinds.ts";
import { playCampaign } from "./play-campaign.ts";
import { campaignCommand, choiceOf, randomCampaign } from "./random-campaign.ts";
import { References } from "./references.ts";
import { settingNamed } from "./settings.ts";
import { fieldTours, type Tour } from "./tours.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    field: { type: "string" },
    of: { type: "string", default: "digitalocean" },
  },
});
const setting = settingNamed(values.of);
const references = new References(setting);
let steps = 0;
let count = 0;
let current = "";
// A promise that nothing will ever settle ends the process without a word.
process.on("exit", () => {
  if (current === "") return;
  process.exitCode = 1;
  process.stdout.write(`it hangs\n${current}\n`);
});
for (const [command, campaign] of chosen()) {
  current = command;
  count += 1;
  steps += campaign.length;
  try {
    await playCampaign(setting.open(), campaign, { references, command });
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n\n`);
  }
}
current = "";
process.stdout.write(`${count} campaigns, ${steps} edits\n`);

function* chosen(): Generator<readonly [command: string, steps: Tour["steps"]]> {
  if (values.field !== undefined) {
    for (const { title, command, steps: tour } of BOTH.flatMap((kind) => fieldTours(kind, setting)))
      if (title.includes(values.field)) yield [command, tour];
    return;
  }
  const choice = choiceOf(setting);
  const from = Number(values.seed ?? values.from);
  const last = values.seed === undefined ? from + Number(values.seeds) : from + 1;
  for (let seed = from; seed < last; seed += 1) yield [campaignCommand(seed, setting), randomCampaign(seed, choice)];
}
