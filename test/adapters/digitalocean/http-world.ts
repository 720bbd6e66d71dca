import { openDigitalOcean } from "../../../src/adapters/digitalocean/digitalocean.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { HTTPWorld } from "../http/http-contract.ts";
import { addressJSON, errorJSON } from "./api-objects.ts";
import { token, withServer } from "./with-server.ts";

const ip = "203.0.113.1";

/** DigitalOcean, for the contract of calls over HTTP: it reads an address and acquires one. */
export const HTTP_WORLD: HTTPWorld = {
  name: "DigitalOcean",
  token,
  reading: { operation: "get", text: `read ${ip}`, good: { json: { reserved_ip: addressJSON(ip) } } },
  writing: { before: [], good: { status: 202, json: { reserved_ip: addressJSON(ip), links: {} } } },
  refusals: [{ status: 422, json: errorJSON("unprocessable_entity", "No.") }],
  serverError: { reply: { status: 500, json: errorJSON("server_error", "Oops") }, text: "Oops (500)" },
  brokenStatus: 503,
  tooMany: (headers) => ({ status: 429, json: errorJSON("too_many_requests", "API rate limit exceeded."), headers }),
  tooManyText: "API rate limit exceeded.",
  usualWaitSeconds: 2,
  mostInFlight: 5,
  withServer: (script, body, options) =>
    withServer(
      script,
      ({ provider, server }) =>
        body({
          provider,
          server,
          read: () => provider.getAddress(ip),
          write: () => provider.create({ region: "nyc3" }, { uid: "uid", knownIPs: [] }),
        }),
      options,
    ),
  readAt: (baseURL) =>
    openDigitalOcean({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK }).addresses.getAddress(ip),
  apiPath: "",
  readPath: `/v2/reserved_ips/${ip}`,
  usualURL: "https://api.digitalocean.com",
};
