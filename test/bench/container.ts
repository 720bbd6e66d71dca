import { join } from "node:path";
import { parse } from "yaml";
import { type CronJobOnWire, shippedText } from "../manifests/shipped.ts";

/** What the container of the shipped CronJob runs, and with how much memory. */
export interface Container {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The limit, as written. */
  readonly memory: string;
}

/** Returns what the container of the shipped CronJob runs, with a built package in the place of its image. */
export function shippedContainer(app: string): Container {
  const { template } = (parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec;
  const [container] = template.spec.containers;
  if (container === undefined) throw new Error("the CronJob has no container");
  const options = container.env.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
  return {
    command: [process.execPath, join(app, "bin/start.js"), ...container.args],
    environment: { NODE_OPTIONS: options },
    memory: container.resources.limits.memory,
  };
}
