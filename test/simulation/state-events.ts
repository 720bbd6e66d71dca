import {
  ACQUISITIONS_ANNOTATION,
  ACQUISITIONS_IPV6_ANNOTATION,
  LAST_RUN_ANNOTATION,
  NOT_BEFORE_PREFIX,
} from "../../src/model/lease-annotations.ts";
import type { StateEvent } from "./state-event.ts";
import type { World } from "./world.ts";

type Of<K extends StateEvent["kind"]> = Extract<StateEvent, { kind: K }>;
type Effects = { readonly [K in StateEvent["kind"]]: (world: World, event: Of<K>) => void };

const HOUR_MS = 3_600_000;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What every event about the memory of runs does to the world. */
export const STATE_EFFECTS: Effects = {
  "spoil-status": (world, { object, name, how, pick }) => {
    const type = world.type(object);
    const stored = (world.kubernetes.api.get(type, `shop/${name}`)["status"] ?? {}) as Readonly<
      Record<string, unknown>
    >;
    const fields = Object.keys(stored).sort();
    const field = fields[pick % Math.max(1, fields.length)];
    if (field === undefined) return;
    const value = how === "lose" ? null : inFuture(stored[field], new Date(world.nowMs() + HOUR_MS).toISOString());
    world.kubernetes.api.patch(type, `shop/${name}`, { status: { [field]: value } }, { subresource: "status" });
  },
  "spoil-lease": (world, { how }) => {
    const known = Object.keys(world.leaseAnnotations());
    const ahead = new Date(world.nowMs() + HOUR_MS).toISOString();
    const soon = new Date(world.nowMs() + 300_000).toISOString();
    const [text, until] =
      how === "future" ? [Array.from({ length: 12 }, () => ahead).join(","), soon] : ["soon,,?", "?"];
    const written = {
      [ACQUISITIONS_ANNOTATION]: text,
      [ACQUISITIONS_IPV6_ANNOTATION]: text,
      [`${NOT_BEFORE_PREFIX}digitalocean`]: until,
      [LAST_RUN_ANNOTATION]: until,
    };
    const annotations = how === "lose" ? Object.fromEntries(known.map((key) => [key, null])) : written;
    world.kubernetes.api.patch(world.type("leases"), "flipop/flipop", { metadata: { annotations } });
  },
};

/** The same value with every time in it replaced. */
function inFuture(value: unknown, time: string): unknown {
  if (typeof value === "string") return TIME.test(value) ? time : value;
  if (Array.isArray(value)) return value.map((item) => inFuture(item, time));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inFuture(item, time)]));
}
