import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API } from "../../cluster/api.ts";
import { describeCluster } from "../../cluster/context.ts";
import { shippedFiles, shippedText } from "../../manifests/shipped.ts";
import { ALL_CASES } from "./all-cases.ts";
import { runCase, type Send } from "./case-runner.ts";
import {
  COLUMNS,
  columnsSeen,
  GROUPS,
  groupsSeen,
  RESOURCES,
  resourcesAtOnce,
  resourcesByVersion,
} from "./client-contract.ts";
import { widgetCRD } from "./widget-crd.ts";

describeCluster("kube-apiserver", (cluster) => {
  const api = new API({ server: cluster.server, caFile: cluster.caFile, token: cluster.adminToken });

  const send: Send = ({ method, path, body, contentType, accept }) =>
    api.request<unknown>(method, path, body, contentType, accept);

  beforeAll(async () => {
    await api.applyManifests(JSON.stringify(widgetCRD));
    for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  });
  afterAll(() => api.close());

  test.for(ALL_CASES)("kube-apiserver answers as the sandbox does: $title", async (row) => {
    const namespace = await api.createNamespace("sandbox");
    const id = `node-${randomBytes(4).toString("hex")}`;
    const answer = await runCase(row, send, { namespace, id });
    await api.deleteNode(id);
    expect(answer).toBe(row.expected);
  });

  test("kube-apiserver tells of its resources and their columns what the sandbox tells", async () => {
    expect(await groupsSeen(send)).toEqual(GROUPS);
    expect(await resourcesByVersion(send)).toEqual(RESOURCES);
    expect(await resourcesAtOnce(send)).toEqual(RESOURCES);
    expect(await columnsSeen(send)).toEqual(COLUMNS);
  });
});
