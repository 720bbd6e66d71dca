/** A definition that uses every part of a structural schema the sandbox applies. */
export const widgetCRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.sandbox.test" },
  spec: {
    group: "sandbox.test",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList", shortNames: ["wdg"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer", minimum: 0, maximum: 10 },
                  step: { type: "number", multipleOf: 0.5 },
                  colour: { type: "string", enum: ["red", "blue"], default: "red" },
                  code: { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 5 },
                  tags: { type: "array", maxItems: 2, items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  parts: {
                    type: "array",
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                  },
                  limits: { type: "object", maxProperties: 2, additionalProperties: { type: "string" } },
                  extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  port: { "x-kubernetes-int-or-string": true },
                  note: { type: "string", nullable: true },
                  isOn: { type: "boolean" },
                },
              },
              status: {
                type: "object",
                properties: { phase: { type: "string" }, seen: { type: "integer" } },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** A Widget that is valid; `spec` is merged into a valid one. */
export function aWidget(name: string, spec: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { apiVersion: "sandbox.test/v1", kind: "Widget", metadata: { name }, spec: { size: 1, ...spec } };
}
