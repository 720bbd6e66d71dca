import { ConfigError } from "../model/errors.ts";
import { EXIT } from "../report/exit-code.ts";
import type { ManifestFlags } from "./flags.ts";
import { manifestText } from "./manifest-parts.ts";
import { type Streams, writeText } from "./write.ts";

/** Runs `manifests`: prints the shipped manifests with what the flags change. Needs no cluster. Returns the exit code. @throws ConfigError `usage` for flags that do not go together */
export function runManifests(streams: Streams, { only, mode, ...changes }: ManifestFlags): number {
  if (mode === "watch" && changes.schedule !== undefined)
    throw new ConfigError(
      "usage",
      "--schedule is for the CronJob: with --mode watch nothing is scheduled. Leave it out.",
    );
  writeText(streams, manifestText(only ?? mode, changes));
  return EXIT.done;
}
