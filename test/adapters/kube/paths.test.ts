import { describe, expect, test } from "vitest";
import type { ObjectMeta } from "../../../src/model/resource.ts";
import type { ClusterReader, ClusterWriter } from "../../../src/ports/cluster.ts";
import { EMPTY_STATUS } from "../../contract/pool-status-samples.ts";
import { failure, list } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const LEASE = { holder: "", durationSeconds: 15, acquireTimeMs: 0, renewTimeMs: 0, transitions: 0, annotations: {} };

function aMeta(namespace: string, name: string): ObjectMeta {
  const rest = { generation: 1, createdAtMs: 0, isDeleting: false, finalizers: [], labels: {} };
  return { namespace, name, uid: "u", resourceVersion: "1", ...rest };
}

/** Every call that puts a name into a path, with that name. */
const CALLS: Readonly<Record<string, (cluster: ClusterWriter, name: string) => Promise<unknown>>> = {
  readNode: (cluster, name) => cluster.readNode(name),
  annotateNode: (cluster, name) => cluster.annotateNode(name, { address: null, pool: null }),
  "readPool by name": (cluster, name) => cluster.readPool({ namespace: "shop", name }),
  "readPool by namespace": (cluster, namespace) => cluster.readPool({ namespace, name: "web" }),
  readRecordSet: (cluster, name) => cluster.readRecordSet({ namespace: "shop", name }),
  readRoutedIP: (cluster, name) => cluster.readRoutedIP({ namespace: "shop", name }),
  "readLease by name": (cluster, name) => cluster.readLease("shop", name),
  "readLease by namespace": (cluster, namespace) => cluster.readLease(namespace, "flipop"),
  createLease: (cluster, namespace) => cluster.createLease({ ...LEASE, namespace, name: "flipop" }),
  replaceLease: (cluster, name) => cluster.replaceLease({ ...LEASE, namespace: "shop", name, resourceVersion: "1" }),
  patchPoolStatus: (cluster, name) => cluster.patchPoolStatus(aMeta("shop", name), EMPTY_STATUS),
  setPoolFinalizer: (cluster, name) => cluster.setPoolFinalizer(aMeta("shop", name), true),
  createEvent: (cluster, namespace) =>
    cluster.createEvent({
      regarding: { kind: "FloatingIPPool", meta: aMeta(namespace, "web") },
      ...{ type: "Normal", reason: "NodeMatched", action: "AssignIP", note: "" },
    }),
  listPods: (cluster, namespace) => cluster.listPods({ namespace, label: "app=web" }),
  listEndpointSlices: (cluster, namespace) => cluster.listEndpointSlices({ namespace, name: "web" }),
};

describe("a name in a path", () => {
  const refused = Object.keys(CALLS).flatMap((call) => [".", "..", "\ud800"].map((name) => [call, name] as const));
  test.for(refused)("%s of %o is refused before anything is sent", async ([call, name]) => {
    await withServer([list("List", [])], async ({ writer, asked }) => {
      const error = await rejection(Promise.resolve(CALLS[call]?.(writer, name)));
      expect(error).toMatchObject({ name: "KubeError", failure: "invalid", status: 0 });
      expect(error.message).toMatch(/^Cannot ask for [a-z]+: ".+" is not the name of a /);
      expect(asked).toEqual([]);
    });
  });

  test.for(Object.keys(CALLS))("%s sends one name as one segment, whatever is in it", async (call) => {
    await withServer([failure(404, "NotFound", "no such path")], async ({ writer, asked }) => {
      await Promise.resolve(CALLS[call]?.(writer, "a/../b?c#d%2e%2e")).catch(() => undefined);
      expect(asked.length).toBeGreaterThan(0);
      for (const { url } of asked) expect(url.split("?")[0]).toContain("/a%2F..%2Fb%3Fc%23d%252e%252e");
    });
  });

  test.for<[string, (reader: ClusterReader) => Promise<unknown>]>([
    ["a node", (reader) => reader.readNode("")],
    ["a Lease", (reader) => reader.readLease("shop", "")],
    ["a pool", (reader) => reader.readPool({ namespace: "shop", name: "" })],
  ])("%s without a name is not taken for the list of all", async ([, read]) => {
    await withServer([list("List", [])], async ({ reader, asked }) => {
      expect(await rejection(read(reader))).toMatchObject({ failure: "invalid", status: 0 });
      expect(asked).toEqual([]);
    });
  });
});
