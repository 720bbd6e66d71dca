import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OPERATOR_LEASE } from "../../src/doctor/others.ts";
import { leaseText, saidOf, World } from "./world.ts";

let world: World;

beforeEach(async () => {
  world = await World.open();
});

afterEach(() => world.close());

const FORBIDDEN = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", code: 403 };

/** The Deployment that the Go operator's manifests make, as far as anything is read of it. */
const operatorDeployment = (replicas: number, namespace = "flipop"): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: flipop, namespace: ${namespace}, labels: { app: flipop } }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: flipop } }
  template:
    metadata: { labels: { app: flipop } }
    spec: { containers: [{ name: flipop, image: "digitaloceanapps/flipop:latest" }] }
`;

describe("a Deployment of the Go operator", () => {
  test("that stands still is a warning: it may be started, and is in the way of ours", async () => {
    world.add("cluster.yaml", operatorDeployment(0));
    for (const args of [[], ["--pre"]]) {
      const examined = await world.examine("-o", "json", "--only", "others", ...args);
      expect(saidOf(examined, "FLP191")).toEqual([
        "warning the Deployment flipop/flipop of the Go operator is still there, with 0 replicas of digitaloceanapps/flipop:latest",
      ]);
      expect(examined.stdout).toContain("What flipop manifests --mode watch prints cannot replace it");
      expect(examined.stdout).toContain("kubectl -n flipop delete deployment,role,rolebinding flipop");
    }
  });

  test("in another namespace is in nobody's way", async () => {
    world.add("cluster.yaml", operatorDeployment(0, "ingress"));
    const examined = await world.examine("-o", "json", "--only", "others");
    expect(saidOf(examined, "FLP191")).toEqual([expect.stringMatching(/^warning the Deployment ingress\/flipop /)]);
    expect(examined.stdout).not.toContain("--mode watch");
  });

  test("that has replicas is a failure before it takes its Lease, and told once when it has", async () => {
    world.add("cluster.yaml", operatorDeployment(1));
    expect(saidOf(await world.examine("-o", "json", "--only", "others"), "FLP191")).toEqual([
      "error the Deployment flipop/flipop of the Go operator has 1 replica of digitaloceanapps/flipop:latest",
    ]);
    world.add("cluster.yaml", leaseText({ namespace: "flipop", name: OPERATOR_LEASE }, "operator-1", 1000, 600));
    expect(saidOf(await world.examine("-o", "json", "--pre"), "FLP191")).toEqual([
      "error the Go operator runs in namespace flipop: operator-1 renews its Lease",
    ]);
  });

  test("is none where it is flipop's own, by its labels or by what it runs; whoever may not look goes by the Lease", async () => {
    const labels = "{ app: flipop, app.kubernetes.io/part-of: flipop }";
    const own = operatorDeployment(1).replace("labels: { app: flipop }", `labels: ${labels}`);
    const homemade = operatorDeployment(1, "ingress").replace(':latest"', ':1", args: [reconcile, --watch]');
    for (const text of [own, homemade]) world.add("cluster.yaml", text);
    expect(saidOf(await world.examine("-o", "json", "--only", "others"), "FLP191")).toEqual([
      "success no Go operator runs",
    ]);
    world.add("cluster.yaml", operatorDeployment(1, "net"));
    world.answer("/apis/apps/v1/deployments", FORBIDDEN, 403);
    expect(saidOf(await world.examine("-o", "json", "--only", "others"), "FLP191")).toEqual([
      "success no Go operator runs",
    ]);
  });
});

test("before flipop is installed nothing is said of whether it is", async () => {
  const examined = await world.examine("--pre", "-o", "json");
  expect(saidOf(examined, "FLP111")).toEqual(["skipped not looked at with --pre"]);
});
