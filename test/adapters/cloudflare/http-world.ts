import { createCloudflare } from "../../../src/adapters/cloudflare/cloudflare.ts";
import { SYSTEM_CLOCK } from "../../../src/cli/system-clock.ts";
import type { HTTPWorld } from "../http/http-contract.ts";
import { batchJSON, errorJSON, fqdn, listJSON, recordJSON, recordsPath } from "./api-objects.ts";
import { token, withServer, zone } from "./with-server.ts";

const ip = "203.0.113.1";

/** Cloudflare, for the contract of calls over HTTP: it reads the records of a name and writes them. */
export const HTTP_WORLD: HTTPWorld = {
  name: "Cloudflare",
  token,
  reading: {
    operation: "records",
    text: `read the A records of ${fqdn}`,
    good: { json: listJSON([recordJSON("a", ip)]) },
  },
  writing: { before: [{ json: listJSON([]) }], good: { json: batchJSON({ posts: [recordJSON("a", ip)] }) } },
  refusals: [
    { status: 400, json: errorJSON(1004, "No.") },
    { status: 409, json: errorJSON(1, "No.") },
  ],
  serverError: { reply: { status: 500, json: errorJSON(1000, "Oops") }, text: "1000 Oops (500)" },
  brokenStatus: 520,
  tooMany: (headers) => ({ status: 429, json: errorJSON(971, "Please wait."), headers }),
  tooManyText: "971 Please wait.",
  usualWaitSeconds: 300,
  mostInFlight: 4,
  withServer: (script, body, options) =>
    withServer(
      script,
      ({ provider, server, read, write }) => body({ provider, server, read, write: () => write([ip]) }),
      options,
    ),
  readAt: (baseURL) =>
    createCloudflare({ token, baseURL, userAgent: "flipop/0", clock: SYSTEM_CLOCK }).readRecords(zone, fqdn),
  apiPath: "/client/v4",
  readPath: recordsPath,
  usualURL: "https://api.cloudflare.com/client/v4",
};
