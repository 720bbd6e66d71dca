import type { Section } from "./table.ts";
import type { World } from "./world.ts";
export async function benchScale(_world: World, _isFull: boolean): Promise<Section> {
  return { title: "Scale", figures: [] };
}
