import type { Schema } from "./schema.ts";
import type { Cause } from "./status-error.ts";
import { hasFormat } from "./value-format.ts";

/** A cause in the words of the API server's schema validation. */
export function invalidInBody(value: unknown, why: string, path: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${path} in body ${why}`;
  return { reason: "FieldValueInvalid", message, field: path };
}

/** What a text violates of length, pattern and format. Pure. */
export function validateText(value: string, schema: Schema, path: string): readonly Cause[] {
  const { pattern, format, minLength, maxLength } = schema;
  const length = Array.from(value).length;
  const causes: Cause[] = [];
  if (maxLength !== undefined && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    causes.push({ reason: "FieldValueTooLong", message, field: path });
  }
  if (minLength !== undefined && length < minLength) {
    causes.push(invalidInBody(value, `should be at least ${minLength} chars long`, path));
  }
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) {
    causes.push(invalidInBody(value, `should match '${pattern}'`, path));
  }
  if (format !== undefined && !hasFormat(value, format)) {
    causes.push(invalidInBody(value, `must be of type ${format}: ${JSON.stringify(value)}`, path));
  }
  return causes;
}

const INTEGER_LIMITS: ReadonlyMap<string, number> = new Map<string, number>(
  Object.entries({ int32: 2 ** 31, int64: 2 ** 63 }),
);

/** What a number violates of bounds, step and integer format. Pure. */
export function validateNumber(value: number, schema: Schema, path: string): readonly Cause[] {
  const { multipleOf, format = "" } = schema;
  const limit = INTEGER_LIMITS.get(format);
  const wrong = [
    belowMinimum(value, schema),
    aboveMaximum(value, schema),
    multipleOf !== undefined && value % multipleOf !== 0 ? `should be a multiple of ${multipleOf}` : undefined,
    limit !== undefined && (value >= limit || value < -limit) ? `must be of type ${format}: "${value}"` : undefined,
  ];
  return wrong.flatMap((why) => (why === undefined ? [] : [invalidInBody(value, why, path)]));
}

function belowMinimum(value: number, { minimum, exclusiveMinimum }: Schema): string | undefined {
  if (minimum === undefined) return undefined;
  if (exclusiveMinimum === true) return value <= minimum ? `should be greater than ${minimum}` : undefined;
  return value < minimum ? `should be greater than or equal to ${minimum}` : undefined;
}

function aboveMaximum(value: number, { maximum, exclusiveMaximum }: Schema): string | undefined {
  if (maximum === undefined) return undefined;
  if (exclusiveMaximum === true) return value >= maximum ? `should be less than ${maximum}` : undefined;
  return value > maximum ? `should be less than or equal to ${maximum}` : undefined;
}
