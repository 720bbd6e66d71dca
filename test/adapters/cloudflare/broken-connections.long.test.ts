import { expect, test } from "vitest";
import { describeBrokenConnections } from "../http/http-contract.ts";
import { okJSON } from "./api-objects.ts";
import { HTTP_WORLD } from "./http-world.ts";
import { withServer } from "./with-server.ts";

describeBrokenConnections(HTTP_WORLD);

test("the token is asked for again for every request, so that a rotated one is used at once", async () => {
  const tokens = ["first\n", "second"];
  await withServer(
    { json: okJSON([]) },
    async ({ read, server }) => {
      await read();
      await read();
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
    },
    { token: () => tokens.shift() ?? "" },
  );
});
