import { type APICase, aLease, aPod, get, LEASES, NODES, post, WIDGETS } from "./api-case.ts";
import { aWidget } from "./widget-crd.ts";

/** Refused paths and POSTs. */
export const REFUSED_CREATIONS: readonly APICase[] = [
  { title: "a missing node is not found", steps: [get(`${NODES}/ID`)], expected: '404 NotFound: nodes "ID" not found' },
  {
    title: "a missing custom object is not found",
    steps: [get(`${WIDGETS}/none`)],
    expected: '404 NotFound: widgets.sandbox.test "none" not found',
  },
  {
    title: "an unknown group is no page",
    steps: [get("/apis/no.such.group/v1/things")],
    expected: "404 404 page not found",
  },
  {
    title: "an unknown resource of a known group is no page",
    steps: [get("/apis/sandbox.test/v1/things")],
    expected: "404 404 page not found",
  },
  {
    title: "an unknown core resource is no resource",
    steps: [get("/api/v1/things")],
    expected: "404 NotFound: the server could not find the requested resource",
  },
  {
    title: "a status of leases is no resource",
    steps: [get(`${LEASES}/lock/status`)],
    expected: "404 NotFound: the server could not find the requested resource",
  },
  {
    title: "a name that is taken already exists",
    steps: [post(WIDGETS, aWidget("w")), post(WIDGETS, aWidget("w"))],
    expected: '409 AlreadyExists: widgets.sandbox.test "w" already exists',
  },
  {
    title: "a lease name that is taken already exists",
    steps: [post(LEASES, aLease()), post(LEASES, aLease())],
    expected: '409 AlreadyExists: leases.coordination.k8s.io "lock" already exists',
  },
  {
    title: "an object in a missing namespace finds no namespace",
    steps: [post("/apis/coordination.k8s.io/v1/namespaces/missing-ID/leases", aLease())],
    expected: '404 NotFound: namespaces "missing-ID" not found',
  },
  {
    title: "a custom object in a missing namespace finds no namespace",
    steps: [post("/apis/sandbox.test/v1/namespaces/missing-ID/widgets", aWidget("w"))],
    expected: '404 NotFound: namespaces "missing-ID" not found',
  },
  {
    title: "an object without a name is invalid",
    steps: [post(LEASES, { metadata: {} })],
    expected:
      '422 Invalid: Lease.coordination.k8s.io "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    title: "a custom object without a name is invalid",
    steps: [post(WIDGETS, { ...aWidget("x"), metadata: {} })],
    expected:
      '422 Invalid: Widget.sandbox.test "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    title: "a name in upper case is invalid",
    steps: [post(LEASES, aLease({}, { name: "Lock" }))],
    expected:
      "422 Invalid: Lease.coordination.k8s.io \"Lock\" is invalid: metadata.name: Invalid value: \"Lock\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  },
  {
    title: "a label value with a space is invalid",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", labels: { a: "b c" } } })],
    expected:
      "422 Invalid: Widget.sandbox.test \"w\" is invalid: metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  },
  {
    title: "an annotation key with a space is invalid",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", annotations: { "a b": "c" } } })],
    expected:
      "422 Invalid: Widget.sandbox.test \"w\" is invalid: metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  },
  {
    title: "a label that is a number is a bad request",
    steps: [post(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "ID", labels: { a: 1 } } })],
    expected:
      '400 BadRequest: Node in version "v1" cannot be handled as a Node: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  },
  {
    title: "a body of another kind is a bad request",
    steps: [post(LEASES, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } })],
    expected:
      '400 BadRequest: Pod in version "v1" cannot be handled as a Lease: converting (v1.Pod) to (coordination.Lease): unknown conversion',
  },
  {
    title: "a body of another version is a bad request",
    steps: [post(WIDGETS, { ...aWidget("w"), apiVersion: "sandbox.test/v2" })],
    expected:
      "400 BadRequest: the API version in the data (sandbox.test/v2) does not match the expected API version (sandbox.test/v1)",
  },
  {
    title: "a body with another namespace is a bad request",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", namespace: "other" } })],
    expected: "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request",
  },
  {
    title: "a new object with a resourceVersion is refused",
    steps: [post(WIDGETS, { ...aWidget("w"), metadata: { name: "w", resourceVersion: "5" } })],
    expected: "500 undefined: resourceVersion should not be set on objects to be created",
  },
  {
    title: "a POST to all namespaces is not allowed",
    steps: [post("/api/v1/pods", aPod("p"))],
    expected: "405 MethodNotAllowed: the server does not allow this method on the requested resource",
  },
];
