import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { envelope, listOf, messageField, sayProtobuf, textField } from "./protobuf-writer.ts";
import type { Asked, Say } from "./scripted-server.ts";
import { rejection, withServer } from "./with-server.ts";

const node = (name: string): Buffer => messageField(1, textField(1, name));
const page = (names: readonly string[], token = ""): Buffer => listOf("NodeList", names.map(node), token);
const expired = sayProtobuf(
  envelope(
    "Status",
    textField(2, "Failure"),
    textField(3, "The provided continue parameter is too old."),
    textField(4, "Expired"),
  ),
  410,
);
const tokenOf = ({ url }: Asked): string | null => new URL(url, "http://x").searchParams.get("continue");

function begin(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "application/vnd.kubernetes.protobuf" });
}

/** A page up to its last item, and the rest. */
function halves(body: Buffer): { readonly most: Buffer; readonly rest: Buffer } {
  return { most: body.subarray(0, -8), rest: body.subarray(-8) };
}

/** Long enough for the next page to be asked for, milliseconds. */
const TRAVEL_MS = 100;

/** Sends a page up to its last item, then breaks the connection. */
function breakOff(body: Buffer): Say {
  return (response) => {
    begin(response);
    response.write(halves(body).most);
    void setTimeout(TRAVEL_MS).then(() => response.destroy());
  };
}

describe("pages of a list in protobuf", () => {
  test("the next page is asked for while this one travels, and no third one", async () => {
    const held: (() => void)[] = [];
    const hold =
      (body: Buffer): Say =>
      (response) => {
        const { most, rest } = halves(body);
        begin(response);
        response.write(most);
        held.push(() => response.end(rest));
      };
    const script = [hold(page(["a"], "t1")), hold(page(["b"], "t2")), hold(page(["c"]))];
    await withServer(script, async ({ reader, asked }) => {
      const listing = reader.listNodes();
      await expect.poll(() => held.length).toBe(2);
      await setTimeout(50);
      expect(asked.map(tokenOf)).toEqual([null, "t1"]);
      held[0]?.();
      await expect.poll(() => held.length).toBe(3);
      held[2]?.();
      held[1]?.();
      expect((await listing).map(({ name }) => name)).toEqual(["a", "b", "c"]);
      expect(asked.map(tokenOf)).toEqual([null, "t1", "t2"]);
    });
  });

  test("a first page that breaks off counts for nothing, nor does the page that it led to", async () => {
    const script = [
      breakOff(page(["gone", "gone-too", "cut"], "old")),
      sayProtobuf(page(["of-the-old-list"])),
      sayProtobuf(page(["a"], "new")),
      sayProtobuf(page(["b"])),
    ];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b"]);
      expect(asked.map(tokenOf)).toEqual([null, "old", null, "new"]);
    });
  });

  test("a later page that breaks off is read again, and nothing is counted twice", async () => {
    const later = page(["b", "c", "d"]);
    const script = [sayProtobuf(page(["a"], "t1")), breakOff(later), sayProtobuf(later)];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
      expect(asked.map(tokenOf)).toEqual([null, "t1", "t1"]);
    });
  });

  test("a page that breaks off at every try fails the list", async () => {
    await withServer([breakOff(page(["a", "b"]))], async ({ reader }) => {
      expect(await rejection(reader.listNodes())).toMatchObject({ failure: "unavailable" });
    });
  });

  test("a list that expires while the page before travels starts again", async () => {
    const slow: Say = (response) => {
      const { most, rest } = halves(page(["gone"], "t1"));
      begin(response);
      response.write(most);
      void setTimeout(TRAVEL_MS).then(() => response.end(rest));
    };
    const script = [slow, expired, sayProtobuf(page(["a"], "t1")), sayProtobuf(page(["b"]))];
    await withServer(script, async ({ reader, asked }) => {
      expect((await reader.listNodes()).map(({ name }) => name)).toEqual(["a", "b"]);
      expect(asked.map(tokenOf)).toEqual([null, "t1", null, "t1"]);
    });
  });
});
