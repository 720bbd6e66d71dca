import { type APICase, aLease, get, LEASES, NODES, PODS, patch, post, put, remove, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** Refused writes to what exists, and refused reads. */
export const REFUSED_CHANGES: readonly APICase[] = [
  {
    title: "a PUT with a stale resourceVersion conflicts",
    steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({ holderIdentity: "a" }, { resourceVersion: "1" }))],
    expected:
      '409 Conflict: Operation cannot be fulfilled on leases.coordination.k8s.io "lock": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    title: "a PUT of a lease without resourceVersion is invalid",
    steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({ holderIdentity: "a" }))],
    expected:
      '422 Invalid: leases.coordination.k8s.io "lock" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  },
  {
    title: "a PUT of a custom object without resourceVersion is invalid",
    steps: [post(WIDGETS, aWidget("w")), put(`${WIDGETS}/w`, aWidget("w"))],
    expected:
      '422 Invalid: widgets.sandbox.test "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  },
  {
    title: "a PUT of a missing custom object is not found",
    steps: [put(`${WIDGETS}/w`, { ...aWidget("w"), metadata: { name: "w", resourceVersion: "1" } })],
    expected: '404 NotFound: widgets.sandbox.test "w" not found',
  },
  {
    title: "a PUT of a missing lease with a uid conflicts",
    steps: [put(`${LEASES}/lock`, aLease({}, { resourceVersion: "1", uid: "gone" }))],
    show: ["reason"],
    expected: '409 reason="Conflict"',
  },
  {
    title: "a PUT of a missing lease creates it",
    steps: [put(`${LEASES}/lock`, aLease({}, { resourceVersion: "1" }))],
    show: ["kind"],
    expected: '201 kind="Lease"',
  },
  {
    title: "a PUT with another name is a bad request",
    steps: [post(LEASES, aLease()), put(`${LEASES}/lock`, aLease({}, { name: "b" }))],
    expected: "400 BadRequest: the name of the object (b) does not match the name on the URL (lock)",
  },
  {
    title: "a patch with a stale resourceVersion conflicts",
    steps: [
      post(WIDGETS, aWidget("w")),
      patch(`${WIDGETS}/w`, { metadata: { resourceVersion: "1", annotations: { a: "b" } } }),
    ],
    expected:
      '409 Conflict: Operation cannot be fulfilled on widgets.sandbox.test "w": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    title: "a status patch with a stale resourceVersion conflicts",
    steps: [
      post(WIDGETS, aWidget("w")),
      patch(`${WIDGETS}/w/status`, { metadata: { resourceVersion: "1" }, status: { phase: "b" } }),
    ],
    expected:
      '409 Conflict: Operation cannot be fulfilled on widgets.sandbox.test "w": the object has been modified; please apply your changes to the latest version and try again',
  },
  {
    title: "a patch of a missing object is not found",
    steps: [patch(`${NODES}/ID`, { metadata: {} })],
    expected: '404 NotFound: nodes "ID" not found',
  },
  {
    title: "a patch with another uid conflicts",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, { metadata: { uid: "other" } })],
    expected:
      '422 Invalid: Widget.sandbox.test "w" is invalid: metadata.uid: Invalid value: "other": field is immutable',
  },
  {
    title: "a patch without a patch content type is an unsupported media type",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, {}, "application/json")],
    expected:
      "415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  },
  {
    title: "a merge patch that is a list is a bad request",
    steps: [post(WIDGETS, aWidget("w")), patch(`${WIDGETS}/w`, [])],
    expected:
      "400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  },
  {
    title: "a new finalizer on an object that is being deleted is forbidden",
    steps: [
      post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", finalizers: ["a.test/x"] } }),
      remove(`${WIDGETS}/w`),
      patch(`${WIDGETS}/w`, { metadata: { finalizers: ["a.test/x", "a.test/y"] } }),
    ],
    expected:
      '422 Invalid: Widget.sandbox.test "w" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.test/y"}',
  },
  {
    title: "a DELETE with another uid conflicts",
    steps: [post(LEASES, aLease()), remove(`${LEASES}/lock`, { preconditions: { uid: "other" } })],
    expected:
      '409 Conflict: Operation cannot be fulfilled on Lease.coordination.k8s.io "lock": the UID in the precondition (other) does not match the UID in record (UID). The object might have been deleted and then recreated',
  },
  {
    title: "a DELETE of a missing object is not found",
    steps: [remove(`${LEASES}/lock`)],
    expected: '404 NotFound: leases.coordination.k8s.io "lock" not found',
  },
  {
    title: "a providerID cannot change",
    steps: [
      post(NODES, {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "ID" },
        spec: { providerID: "digitalocean://1" },
      }),
      patch(`${NODES}/ID`, { spec: { providerID: "digitalocean://2" } }),
    ],
    expected: "200 undefined: undefined",
  },
  {
    title: "a label selector that cannot be parsed is a bad request",
    steps: [get(`${PODS}?labelSelector=a%3D%3D%3Db`)],
    show: ["reason"],
    expected: '400 reason="BadRequest"',
  },
  {
    title: "a field selector on an unknown node field is a bad request",
    steps: [get(`${NODES}?fieldSelector=spec.providerID%3Dx`)],
    expected: "400 BadRequest: field label not supported: spec.providerID",
  },
  {
    title: "a field selector on an unknown custom field is a bad request",
    steps: [get(`${WIDGETS}?fieldSelector=spec.size%3D1`)],
    expected: "400 BadRequest: field label not supported: spec.size",
  },
  {
    title: "a field selector that cannot be read is a bad request",
    steps: [get(`${PODS}?fieldSelector=abc`)],
    expected: "400 BadRequest: invalid selector: 'abc'; can't understand 'abc'",
  },
  {
    title: "a malformed continue token is a bad request",
    steps: [get(`${PODS}?limit=1&continue=abc`)],
    show: ["reason"],
    expected: '400 reason="BadRequest"',
  },
  {
    title: "a limit that is no number is a bad request",
    steps: [get(`${PODS}?limit=abc`)],
    expected: '400 BadRequest: strconv.ParseInt: parsing "abc": invalid syntax',
  },
  {
    title: "a resourceVersion of the future times out",
    steps: [get(`${PODS}?resourceVersion=99999999`)],
    show: ["reason", "details.causes"],
    expected:
      '504 reason="Timeout" details.causes=[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}]',
  },
  {
    title: "a resourceVersion that is no number is a bad request",
    steps: [get(`${PODS}?resourceVersion=abc`)],
    expected:
      '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  },
  {
    title: "a watch resourceVersion that is no number is a bad request",
    steps: [get(`${PODS}?watch=true&resourceVersion=abc`)],
    expected: '500 undefined: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  },
];
