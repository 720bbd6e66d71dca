import { type APICase, aLease, anEvent, EVENTS, LEASES, patch, post, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** Validation, by the schema of a definition and of the built-in kinds. */
export const VALIDATION: readonly APICase[] = [
  ...(
    [
      ["a missing field", { size: undefined }, "spec.size: Required value"],
      [
        "a wrong type",
        { size: "big" },
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      ],
      [
        "a fraction for an integer",
        { size: 1.5 },
        'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
      ],
      [
        "a number below the minimum",
        { size: -1 },
        "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0",
      ],
      [
        "a number above the maximum",
        { size: 11 },
        "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
      ],
      [
        "a number off the step",
        { step: 0.7 },
        "spec.step: Invalid value: 0.7: spec.step in body should be a multiple of 0.5",
      ],
      [
        "a word outside the enumeration",
        { colour: "green" },
        'spec.colour: Unsupported value: "green": supported values: "red", "blue"',
      ],
      [
        "a text against the pattern",
        { code: "AB" },
        "spec.code: Invalid value: \"AB\": spec.code in body should match '^[a-z]+$'",
      ],
      [
        "a text that is too short",
        { code: "a" },
        'spec.code: Invalid value: "a": spec.code in body should be at least 2 chars long',
      ],
      ["a text that is too long", { code: "abcdef" }, "spec.code: Too long: may not be more than 5 bytes"],
      ["a list that is too long", { tags: ["a", "b", "c"] }, "spec.tags: Too many: 3: must have at most 2 items"],
      ["a duplicate in a set", { tags: ["a", "a"] }, 'spec.tags[1]: Duplicate value: "a"'],
      [
        "a duplicate in a list map",
        { parts: [{ name: "a" }, { name: "a", count: 2 }] },
        'spec.parts[1]: Duplicate value: {"name":"a"}',
      ],
      ["a missing field in a list", { parts: [{ count: 2 }] }, "spec.parts[0].name: Required value"],
      [
        "a map that is too big",
        { limits: { a: "1", b: "2", c: "3" } },
        "spec.limits: Too many: 3: must have at most 2 items",
      ],
      [
        "a map value of a wrong type",
        { limits: { a: 1 } },
        'spec.limits.a: Invalid value: "integer": spec.limits.a in body must be of type string: "integer"',
      ],
      [
        "a flag for a number or text",
        { port: true },
        'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
      ],

      [
        "a list for an object",
        { extra: [] },
        'spec.extra: Invalid value: "array": spec.extra in body must be of type object: "array"',
      ],
      [
        "a text for a flag",
        { isOn: "yes" },
        'spec.isOn: Invalid value: "string": spec.isOn in body must be of type boolean: "string"',
      ],
    ] as const
  ).map(([what, spec, why]) => ({
    title: `${what} is invalid`,
    steps: [post(WIDGETS, aWidget("w", spec))],
    expected: `422 Invalid: Widget.sandbox.test "w" is invalid: ${why}`,
  })),
  {
    title: "two mistakes are two causes",
    steps: [post(WIDGETS, aWidget("w", { size: -1, colour: "green" }))],
    show: ["reason", "details.causes.length"],
    expected: '422 reason="Invalid" details.causes.length=2',
  },
  {
    title: "a missing spec is invalid",
    steps: [post(WIDGETS, { ...aWidget("w"), spec: undefined })],
    expected: '422 Invalid: Widget.sandbox.test "w" is invalid: spec: Required value',
  },
  {
    title: "an invalid status is invalid",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w/status`, { status: { seen: "x" } })],
    expected:
      '422 Invalid: Widget.sandbox.test "w" is invalid: status.seen: Invalid value: "string": seen in body must be of type integer: "string"',
  },
  {
    title: "a lease with no duration is invalid",
    steps: [post(LEASES, aLease({ leaseDurationSeconds: 0 }))],
    expected:
      '422 Invalid: Lease.coordination.k8s.io "lock" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
  },
  {
    title: "a lease with negative transitions is invalid",
    steps: [post(LEASES, aLease({ leaseTransitions: -1 }))],
    expected:
      '422 Invalid: Lease.coordination.k8s.io "lock" is invalid: spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  },
  {
    title: "a lease time with three decimals is a bad request",
    steps: [post(LEASES, aLease({ renewTime: "2026-01-02T03:04:05.123Z" }))],
    expected:
      '400 BadRequest: Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-02T03:04:05.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  },
  {
    title: "a lease time without decimals is a bad request",
    steps: [post(LEASES, aLease({ renewTime: "2026-01-02T03:04:05Z" }))],
    expected:
      '400 BadRequest: Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  },
  {
    title: "an event time with three decimals is a bad request",
    steps: [post(EVENTS, anEvent({ eventTime: "2026-01-02T03:04:05.123Z" }))],
    expected:
      '400 BadRequest: Event in version "v1" cannot be handled as a Event: parsing time "2026-01-02T03:04:05.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  },
  {
    title: "an event about an object of another namespace is invalid",
    steps: [post(EVENTS, anEvent({ regarding: { kind: "Pod", namespace: "other", name: "p" } }))],
    expected: "201 Assigned: undefined",
  },
  {
    title: "an event about a cluster-scoped object belongs into default",
    steps: [post(EVENTS, anEvent({ regarding: { kind: "Node", name: "n" } }))],
    expected:
      '422 Invalid: Event "e1" is invalid: involvedObject.namespace: Invalid value: "": does not match event.namespace',
  },
  ...["eventTime", "reportingInstance", "action", "reason"].map((field) => ({
    title: `an event without ${field} is invalid`,
    steps: [post(EVENTS, anEvent({ [field]: undefined }))],
    expected: `422 Invalid: Event "e1" is invalid: ${field}: Required value`,
  })),
  {
    title: "an event without reportingController is invalid",
    steps: [post(EVENTS, anEvent({ reportingController: undefined }))],
    show: ["reason", "details.causes.0.message"],
    expected: '422 reason="Invalid" details.causes.0.message="Required value"',
  },
  {
    title: "an event without type is invalid",
    steps: [post(EVENTS, anEvent({ type: undefined }))],
    expected: '422 Invalid: Event "e1" is invalid: type: Invalid value: "": has invalid value: ',
  },
  {
    title: "an event of an unknown type is invalid",
    steps: [post(EVENTS, anEvent({ type: "Odd" }))],
    expected: '422 Invalid: Event "e1" is invalid: type: Invalid value: "": has invalid value: Odd',
  },
  {
    title: "an event with a note of 1,025 characters is invalid",
    steps: [post(EVENTS, anEvent({ note: "n".repeat(1025) }))],
    expected: '422 Invalid: Event "e1" is invalid: message: Invalid value: "": can have at most 1024 characters',
  },
  {
    title: "an event with a controller of two slashes is invalid",
    steps: [post(EVENTS, anEvent({ reportingController: "a/b/c" }))],
    expected:
      "422 Invalid: Event \"e1\" is invalid: reportingController: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  },
];
