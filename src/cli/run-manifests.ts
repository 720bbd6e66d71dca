import { EXIT } from "../report/exit-code.ts";
import type { ManifestFlags } from "./flags.ts";
import { manifestText } from "./manifest-parts.ts";
import { type Streams, writeText } from "./write.ts";

/** Runs `manifests`: prints the shipped manifests with what the flags change. Needs no cluster. Returns the exit code. */
export function runManifests(streams: Streams, { only, ...changes }: ManifestFlags): number {
  writeText(streams, manifestText(only, changes));
  return EXIT.done;
}
