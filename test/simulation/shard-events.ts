import { SHARD_LABEL } from "../../src/model/shard.ts";
import type { ShardEvent } from "./shard-event.ts";
import type { World } from "./world.ts";

/** What an event about the shard of an object does to the world. */
export const SHARD_EFFECTS = {
  give(world: World, { object, name, shard }: ShardEvent): void {
    world.kubernetes.api.patch(world.type(object), `shop/${name}`, { metadata: { labels: { [SHARD_LABEL]: shard } } });
  },
};
