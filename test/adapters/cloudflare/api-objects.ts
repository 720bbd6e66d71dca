/** The zone of the tests. */
export const zoneID = "023e105f4ecef8ad9ca31a8372d0c353";

/** The record name of the tests. */
export const fqdn = "www.example.com";

/** The path of the zone's records. */
export const recordsPath: string = `/client/v4/zones/${zoneID}/dns_records`;

/** A record as the API shows it. */
export function recordJSON(id: string, content: string, more: Readonly<Record<string, unknown>> = {}): object {
  return {
    id,
    name: fqdn,
    type: "A",
    content,
    proxiable: true,
    proxied: false,
    ttl: 60,
    settings: {},
    meta: {},
    comment: null,
    tags: [],
    created_on: "2026-01-01T00:00:00.000000Z",
    modified_on: "2026-01-01T00:00:00.000000Z",
    ...more,
  };
}

/** A zone as the API shows it. */
export function zoneJSON(more: Readonly<Record<string, unknown>> = {}): object {
  return { id: zoneID, name: "example.com", status: "active", paused: false, type: "full", ...more };
}

/** The envelope of a success. */
export function okJSON(result: unknown, more: Readonly<Record<string, unknown>> = {}): object {
  return { success: true, errors: [], messages: [], result, ...more };
}

/** The envelope of a list: one page of `total` items. */
export function listJSON(result: readonly unknown[], total: number = result.length, page = 1, perPage = 100): object {
  const pages = Math.ceil(total / perPage);
  const info = { page, per_page: perPage, count: result.length, total_count: total, total_pages: pages };
  return okJSON(result, { result_info: info });
}

/** The envelope of a batch. */
export function batchJSON(lists: {
  readonly deletes?: readonly unknown[];
  readonly patches?: readonly unknown[];
  readonly posts?: readonly unknown[];
}): object {
  return okJSON({ deletes: [], patches: [], puts: [], posts: [], ...lists });
}

/** The envelope of a failure with one error. */
export function errorJSON(code: number, message: string, chain?: readonly object[]): object {
  const error = { code, message, ...(chain === undefined ? {} : { error_chain: chain }) };
  return { success: false, errors: [error], messages: [], result: null };
}
