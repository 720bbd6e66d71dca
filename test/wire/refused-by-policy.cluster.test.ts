import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeCluster } from "../cluster/context.ts";
import { RealWorld } from "./real-world.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1";
const MERGE = "application/merge-patch+json";
const SHOWN = "flipop.digitalocean.com/ipv4-reserved-ip";
const TRIES = ["--settle", "--timeout", "20s"] as const;

describeCluster("an admission policy of a real API server that refuses one node", () => {
  let world: RealWorld;
  beforeAll(async () => {
    world = await RealWorld.open();
  });
  afterAll(async () => {
    await world?.close();
  });

  /** Refuses the annotation of n1, as one that lacks a permission is refused: 403 with the reason Forbidden. */
  async function refuse(): Promise<void> {
    const metadata = { name: "frozen" };
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["nodes"] }];
    const expression = `object.metadata.name != 'n1' || !has(object.metadata.annotations) || !('${SHOWN}' in object.metadata.annotations)`;
    await world.api.call("POST", `${POLICIES}/validatingadmissionpolicies`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: { resourceRules: rules },
        validations: [{ expression, message: "n1 is frozen", reason: "Forbidden" }],
      },
    });
    await world.api.call("POST", `${POLICIES}/validatingadmissionpolicybindings`, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: "frozen", validationActions: ["Deny"] },
    });
    const isRefused = async (): Promise<boolean> => {
      const body = { metadata: { annotations: { [SHOWN]: "192.0.2.1" } } };
      const { status } = await world.api.request("PATCH", "/api/v1/nodes/n1?dryRun=All", body, MERGE);
      return status === 403;
    };
    while (!(await isRefused())) await sleep(100);
  }

  async function annotated(): Promise<readonly string[]> {
    const { items } = await world.api.call<{
      readonly items: readonly { readonly metadata: { name: string; annotations?: Record<string, string> } }[];
    }>("GET", "/api/v1/nodes");
    return items.flatMap(({ metadata: { name, annotations } }) => (annotations?.[SHOWN] === undefined ? [] : [name]));
  }

  test("the others are annotated in the same run, the run says what ends it, and it ends", async () => {
    await refuse();
    await world.change(3);
    world.guard(() => undefined);
    const run = await world.start(TRIES).ended;
    expect(await annotated()).toEqual(["n2", "n3"]);
    expect(run.text).toContain("ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: n1 is frozen");
    expect(run.text).toContain("No permission is missing: a rule of the cluster refuses it for this object.");
    expect(run.text).not.toContain("flipop may not patch nodes");
    expect(run.code, run.text).toBe(3);
    const { held, www } = world.truth();
    expect(www).toEqual(held);
    await world.api.call("DELETE", `${POLICIES}/validatingadmissionpolicybindings/frozen`);
    const isFree = async (): Promise<boolean> => {
      await world.start(TRIES).ended;
      return (await annotated()).includes("n1");
    };
    while (!(await isFree())) await sleep(1000);
    expect(await annotated()).toEqual(["n1", "n2", "n3"]);
  });
});
