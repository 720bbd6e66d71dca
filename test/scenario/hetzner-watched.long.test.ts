import { commonGroups, ownGroups } from "./hetzner-scenarios.ts";
import { hetznerWorld } from "./memory-world.ts";
import { runGroups } from "./run-scenarios.ts";
import { watchedDrive } from "./run-watched-scenarios.ts";

runGroups([...commonGroups(), ...ownGroups()], hetznerWorld, watchedDrive("Hetzner, watched", 12));
