/** The version every JSON document carries; changes within it only add. */
export const API_VERSION = "cli.flipop.digitalocean.com/v1";

/** A JSON object, ready to be written as JSON or YAML. */
export type JSONObject = { readonly [name: string]: JSONValue | undefined };

/** A JSON value; undefined fields of objects are left out when written. */
export type JSONValue = string | number | boolean | null | readonly JSONValue[] | JSONObject;
