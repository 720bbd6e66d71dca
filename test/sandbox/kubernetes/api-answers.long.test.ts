import { expect, test } from "vitest";
import { kubernetesSandbox, shippedCRDs } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { ALL_CASES } from "./all-cases.ts";
import { runCase, sandboxSend } from "./case-runner.ts";
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

/** What a case expects without the words of the message: `422 Invalid`. */
const withoutWords = (text: string): string => /^(\d+ \w+): /.exec(text)?.[1] ?? text;

test.for(ALL_CASES)("the sandbox answers as kube-apiserver does: $title", async (row) => {
  const sandbox = kubernetesSandbox({ crds: [widgetCRD, ...shippedCRDs()] });
  sandbox.write({ apiVersion: "v1", kind: "Namespace", metadata: { name: "sandbox-ns" } });
  const answer = await runCase(row, sandboxSend(sandbox), { namespace: "sandbox-ns", id: "node-of-the-case" });
  // Where the case names no fields, status and reason count; the words are those of kube-apiserver.
  expect(withoutWords(answer)).toBe(withoutWords(row.expected));
});

test("the sandbox tells of its resources and their columns what kube-apiserver tells", async () => {
  const send = sandboxSend(kubernetesSandbox({ crds: [widgetCRD, ...shippedCRDs()] }));
  expect(await groupsSeen(send)).toEqual(GROUPS);
  expect(await resourcesByVersion(send)).toEqual(RESOURCES);
  expect(await resourcesAtOnce(send)).toEqual(RESOURCES);
  expect(await columnsSeen(send)).toEqual(COLUMNS);
});
