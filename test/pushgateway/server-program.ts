import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../cluster/child.ts";
import { freePorts } from "../cluster/ports.ts";

/** A program that serves HTTP on loopback. */
export interface ServerProgram {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a program and waits until it is ready (`/-/ready`); its log goes into `directory`.
 * @throws Error with the end of its log when it does not become ready
 */
async function startServer(
  name: string,
  program: string,
  argsFor: (address: string) => readonly string[],
  directory: string,
): Promise<ServerProgram> {
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const child = startChild(name, program, argsFor(address), directory);
  const url = `http://${address}`;
  for (let round = 0; round < 150 && child.isRunning(); round += 1) {
    const isReady = await fetch(`${url}/-/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return { url, stop: () => child.stop() };
    await sleep(100);
  }
  await child.stop();
  throw new Error(`${name} did not become ready: ${child.log()}`);
}

/** Starts an empty Pushgateway that keeps nothing on disk. */
export function startPushgateway(program: string, directory: string): Promise<ServerProgram> {
  const args = (address: string): readonly string[] => [`--web.listen-address=${address}`, "--persistence.file="];
  return startServer("pushgateway", program, args, directory);
}

/** Starts an Alertmanager that tells nobody. */
export function startAlertmanager(program: string, directory: string): Promise<ServerProgram> {
  const config = join(directory, "alertmanager.yml");
  writeFileSync(config, JSON.stringify({ route: { receiver: "nobody" }, receivers: [{ name: "nobody" }] }));
  const args = (address: string): readonly string[] => [
    `--config.file=${config}`,
    `--storage.path=${join(directory, "alerts")}`,
    `--web.listen-address=${address}`,
    "--cluster.listen-address=",
  ];
  return startServer("alertmanager", program, args, directory);
}

/** Starts a Prometheus that scrapes a Pushgateway every second, and judges the rules of these files. */
export function startPrometheus(
  program: string,
  directory: string,
  gateway: ServerProgram,
  ruleFiles: readonly string[] = [],
): Promise<ServerProgram> {
  const config = join(directory, "prometheus.yml");
  const target = gateway.url.replace("http://", "");
  const scrape = { job_name: "pushgateway", honor_labels: true, static_configs: [{ targets: [target] }] };
  const global = { scrape_interval: "1s", evaluation_interval: "1s" };
  // YAML reads JSON.
  writeFileSync(config, JSON.stringify({ global, rule_files: ruleFiles, scrape_configs: [scrape] }));
  const args = (address: string): readonly string[] => [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(directory, "tsdb")}`,
    `--web.listen-address=${address}`,
  ];
  return startServer("prometheus", program, args, directory);
}
