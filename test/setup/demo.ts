import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { failNode } from "./fail-node.ts";
import { uncomment } from "./uncomment.ts";

const FLIPOP = fileURLToPath(new URL("../../bin/flipop", import.meta.url));
const isTTY = process.stdout.isTTY === true;
const dir = mkdtempSync(join(tmpdir(), "flipop-demo-"));
const world = join(dir, "sandbox");

process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => process.exit(code));
}

say(
  "A small cluster, its DigitalOcean account and a DNS zone at Cloudflare, all embedded and kept as YAML files. What would flipop do?",
);
run("plan");
say("Nothing has been changed yet. Make it so:");
run("reconcile");
say("Where is every address now, and what does DNS say?");
run("status");
say(
  "Now worker-1 fails. In nodes.yaml of the sandbox its Ready condition becomes False, as the kubelet would report it.",
);
const nodes = join(world, "nodes.yaml");
writeFileSync(nodes, failNode(readFileSync(nodes, "utf8"), "worker-1", new Date()));
run("plan");
say(
  "An address is about to follow, and a node's own address to leave DNS. The CronJob of a real cluster runs this every minute:",
);
run("reconcile");
run("status");
say("Another run finds nothing to do, and says so in one line:");
run("reconcile");
say(
  "A Service can have an address of its own, and a cloud firewall that lets its clients in. In routed-ips.yaml of the sandbox one is no comment any more:",
);
const routedIPs = join(world, "routed-ips.yaml");
writeFileSync(routedIPs, uncomment(readFileSync(routedIPs, "utf8")));
run("plan");
run("reconcile");
say("Keep such a world and play with its files: bin/flipop --sandbox world plan");

/** Prints a line of narration. */
function say(text: string): void {
  process.stdout.write(`\n${isTTY ? `\u001b[36m# ${text}\u001b[39m` : `# ${text}`}\n`);
}

/** Runs a command on the demo's world and shows the command line and what it prints; ends the demo when it does not work. */
function run(command: string): void {
  process.stdout.write(`\n$ flipop --sandbox sandbox ${command}\n`);
  const { status, error } = spawnSync(FLIPOP, ["--sandbox", "sandbox", command], { cwd: dir, stdio: "inherit" });
  if (error === undefined && status === 0) return;
  process.stderr.write(
    `The demo ends here: flipop ${command} ended with ${error?.message ?? `exit code ${status}`}.\n`,
  );
  process.exit(1);
}
