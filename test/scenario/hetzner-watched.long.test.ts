import { commonGroups, ownGroups } from "./hetzner-scenarios.ts";
import { hetznerWorld } from "./memory-world.ts";
import { runGroups } from "./run-scenarios.ts";
import { watchedDrive } from "./run-watched-scenarios.ts";

const drive = watchedDrive("Hetzner, watched", 24);
runGroups([...commonGroups(), ...ownGroups()], hetznerWorld, drive);
