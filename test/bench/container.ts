import { join } from "node:path";
import { parse } from "yaml";
import { type CronJobOnWire, type PodSpecOnWire, shippedText } from "../manifests/shipped.ts";

/** What the container of a shipped manifest runs, and with how much memory. */
export interface Container {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The limit, as written. */
  readonly memory: string;
}

interface DeploymentOnWire {
  readonly spec: { readonly template: { readonly spec: PodSpecOnWire } };
}

/** Returns what the container of the shipped CronJob runs, with a built package in the place of its image. */
export function cronJobContainer(app: string): Container {
  return containerOf((parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec.template.spec, app);
}

/** Returns what the container of the shipped Deployment runs, with a built package in the place of its image. */
export function watcherContainer(app: string): Container {
  return containerOf((parse(shippedText("watch/deployment.yaml")) as DeploymentOnWire).spec.template.spec, app);
}

function containerOf({ containers: [container] }: PodSpecOnWire, app: string): Container {
  if (container === undefined) throw new Error("the pod has no container");
  const options = container.env.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "";
  return {
    command: [process.execPath, join(app, "bin/start.js"), ...container.args],
    environment: { NODE_OPTIONS: options },
    memory: container.resources.limits.memory,
  };
}
