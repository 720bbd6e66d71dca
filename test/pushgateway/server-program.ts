import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild } from "../cluster/child.ts";
import { freePorts } from "../cluster/ports.ts";

/** A program that serves HTTP on loopback. */
export interface ServerProgram {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a program in `directory` and waits until it is ready (`/-/ready`); its log goes there, too.
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
  const child = startChild(name, resolve(program), argsFor(address), directory, directory);
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

/** Where Debian's Alertmanager looks for its templates. */
const TEMPLATES = "/usr/share/prometheus/alertmanager";

/** Starts an Alertmanager that tells nobody. One of a package that is only unpacked gets its templates from the folder that it runs in. */
export function startAlertmanager(installed: string, directory: string): Promise<ServerProgram> {
  const config = join(directory, "alertmanager.yml");
  const program = join(directory, "alertmanager");
  const here = "./".repeat(TEMPLATES.length / 2);
  const code = readFileSync(installed, "latin1").replaceAll(TEMPLATES, here);
  writeFileSync(program, code, { encoding: "latin1", mode: 0o755 });
  const templates = join(dirname(installed), "..", TEMPLATES.slice("/usr/".length));
  for (const name of ["default.tmpl", "email.tmpl"]) copyFileSync(join(templates, name), join(directory, name));
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
