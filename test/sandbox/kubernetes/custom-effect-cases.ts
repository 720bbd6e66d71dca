import { type APICase, patch, post, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** What writes of custom objects do. */
export const CUSTOM_EFFECTS: readonly APICase[] = [
  {
    title: "a created object has generation 1 and defaults, and no status",
    steps: [post(WIDGETS, { ...aWidget("w", { parts: [{ name: "a" }] }), status: { phase: "x" } })],
    show: ["metadata.generation", "spec", "status"],
    expected:
      '201 metadata.generation=1 spec={"colour":"red","parts":[{"count":1,"name":"a"}],"size":1} status=undefined',
  },
  {
    title: "unknown fields are pruned, preserved ones stay",
    steps: [post(WIDGETS, aWidget("w", { sise: 1, extra: { a: { b: 1 } } }))],
    show: ["spec"],
    expected: '201 spec={"colour":"red","extra":{"a":{"b":1}},"size":1}',
  },
  {
    title: "null is kept where it is allowed",
    steps: [post(WIDGETS, aWidget("w", { note: null, colour: null }))],
    show: ["spec"],
    expected: '201 spec={"colour":"red","note":null,"size":1}',
  },
  {
    title: "a change of spec counts the generation on",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { spec: { size: 2 } })],
    show: ["metadata.generation", "spec.size"],
    expected: "200 metadata.generation=2 spec.size=2",
  },
  {
    title: "a change of metadata does not count the generation on",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { metadata: { annotations: { a: "b" } } })],
    show: ["metadata.generation", "metadata.annotations"],
    expected: '200 metadata.generation=1 metadata.annotations={"a":"b"}',
  },
  {
    title: "a status sent to the main endpoint is ignored",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { spec: { size: 3 }, status: { phase: "x" } })],
    show: ["spec.size", "status"],
    expected: "200 spec.size=3 status=undefined",
  },
  {
    title: "only the status counts at /status",
    steps: [
      post(WIDGETS, aWidget("w")),
      patch(`${WIDGETS}/w/status`, {
        metadata: { annotations: { a: "b" } },
        spec: { size: 3 },
        status: { phase: "x" },
      }),
    ],
    show: ["spec.size", "status", "metadata.annotations", "metadata.generation"],
    expected: '200 spec.size=1 status={"phase":"x"} metadata.annotations=undefined metadata.generation=1',
  },
  {
    title: "an unknown status field is pruned",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { status: { phase: "x", colour: "y" } })],
    show: ["status"],
    expected: '200 status={"phase":"x"}',
  },
  {
    title: "a merge patch with null removes a field",
    steps: [post(WIDGETS, aWidget("w", { code: "abc" })), patch(`${WIDGETS}/w`, { spec: { code: null } })],
    show: ["spec"],
    expected: '200 spec={"colour":"red","size":1}',
  },
];
