import { afterEach, beforeEach, expect, test } from "vitest";
import { OPERATOR_LEASE } from "../../src/doctor/others.ts";
import { serveDNS } from "../../src/sandbox/dns-server.ts";
import { transcriptText } from "../golden/transcript.ts";
import { cronJobText, type Examined, leaseText, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = await World.open();
});

afterEach(() => world.close());

/** The table as a golden file has it: what differs from run to run is named instead. */
function tableOf(argv: readonly string[], { stdout, stderr, exitCode }: Examined): string {
  const text = transcriptText(argv, { stdout, stderr, exitCode, requests: [], configs: [], annotated: [] })
    .replaceAll(world.dir, "WORLD")
    .replace(/\.kubeconfig\.[\w-]+/g, "kubeconfig")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
    .replace(/\b\d+ ms/g, "N ms")
    .replace(/\b\d+ calls left/g, "N calls left")
    .replace(/successful run \d+s ago/g, "successful run Ns ago");
  // No word stands twice in a row, as where two halves of a sentence both say "until".
  expect(text.match(/\b([a-z]+) \1\b/i)).toBeNull();
  return text;
}

test.for([[], ["-o", "wide"]])("the table of a world in which all is well, doctor %s", async (args) => {
  const argv = ["doctor", ...args];
  const text = tableOf(argv, await world.examine(...args));
  await expect(text).toMatchFileSnapshot(`../golden/${argv.join(" ").replace("-o ", "")} of a healthy world.md`);
});

test("the table of a world in which much is wrong", async () => {
  world.install(
    cronJobText("suspend: true"),
    leaseText({ namespace: "flipop", name: "flipop" }, "laptop_1", 600_000),
    leaseText({ namespace: "ingress", name: "flipop" }, "", 1000),
    leaseText({ namespace: "ingress", name: OPERATOR_LEASE }, "operator-1", 1000, 600),
  );
  world.answer("selfsubjectaccessreviews", { status: { allowed: false } });
  world.answer("^/version$", { gitVersion: "v1.26.9" });
  world.change("pools.yaml", "  region: nyc3", "  suspend: true\n  desiredIPs: 6\n  region: nyc3");
  world.change("pools.yaml", "    - 203.0.113.12", "    - 203.0.113.12\n    - 203.0.113.77");
  world.change("digitalocean.yaml", "reserved_ip_limit: 5", "reserved_ip_limit: 4");
  const mark = '"heritage=external-dns,external-dns/owner=prod"';
  world.change("digitalocean.yaml", "    records:", `    records:\n      - { type: TXT, name: www, data: '${mark}' }`);
  world.change("dns.yaml", "ttl: 60", "ttl: 5");
  world.change(
    "cloudflare.yaml",
    "    dns_records:",
    "    dns_records:\n      - { name: nodes, type: CNAME, content: example.com }",
  );
  world.env["PUSHGATEWAY_URL"] = "http://127.0.0.1:1";
  const dns = await serveDNS(() => [{ fqdn: "www.example.com", address: "198.51.100.9", ttl: 60 }], undefined);
  world.env["FLIPOP_RESOLVER"] = dns.address;
  try {
    const text = tableOf(["doctor"], await world.examine());
    await expect(text).toMatchFileSnapshot("../golden/doctor of a bad world.md");
  } finally {
    await dns.close();
  }
});
