import { describe, expect, test } from "vitest";
import { type Fault, FaultList } from "../../../src/sandbox/faults.ts";

const call = { server: "digitalocean", method: "GET", path: "/v2/reserved_ips/203.0.113.1" };

function taken(list: FaultList, count: number, of: typeof call = call): (number | undefined)[] {
  return Array.from({ length: count }, () => list.take(of)?.status);
}

describe("a list of faults", () => {
  test.for<readonly [string, Omit<Fault, "server">, (number | undefined)[]]>([
    ["applies once by default", { status: 500 }, [500, undefined, undefined]],
    ["applies as often as times says", { status: 500, times: 2 }, [500, 500, undefined]],
    ["applies for ever with times 0", { status: 500, times: 0 }, [500, 500, 500]],
    ["lets skip calls pass first", { status: 500, skip: 2 }, [undefined, undefined, 500]],
    ["fits the method, whatever its case", { status: 500, method: "get" }, [500, undefined, undefined]],
    ["does not fit another method", { status: 500, method: "POST" }, [undefined, undefined, undefined]],
    ["fits a part of the path", { status: 500, path: "reserved_ips/203" }, [500, undefined, undefined]],
    ["does not fit another path", { status: 500, path: "^/v2/droplets" }, [undefined, undefined, undefined]],
  ])("%s", ([, fault, expected]) => {
    expect(taken(new FaultList([{ server: "digitalocean", ...fault }]), 3)).toEqual(expected);
  });

  test("does not fit another server", () => {
    expect(taken(new FaultList([{ server: "kubernetes", status: 500 }]), 1)).toEqual([undefined]);
  });

  test("does not count calls that do not fit", () => {
    const list = new FaultList([{ server: "digitalocean", method: "GET", status: 500, skip: 1 }]);
    taken(list, 5, { ...call, method: "POST" });
    expect(taken(list, 2)).toEqual([undefined, 500]);
  });

  test("uses the first fault that fits, then the next", () => {
    const list = new FaultList([
      { server: "digitalocean", status: 500 },
      { server: "digitalocean", status: 503 },
    ]);
    expect(taken(list, 3)).toEqual([500, 503, undefined]);
  });

  test("a fault that lets a call pass leaves it to the next fault", () => {
    const list = new FaultList([
      { server: "digitalocean", status: 500, skip: 1 },
      { server: "digitalocean", status: 503 },
    ]);
    expect(taken(list, 2)).toEqual([503, 500]);
  });

  test("shows what remains, so that another run goes on with it", () => {
    const list = new FaultList([
      { server: "digitalocean", status: 500, skip: 1, times: 2 },
      { server: "digitalocean", status: 502, times: 0 },
      { server: "kubernetes", status: 503 },
    ]);
    taken(list, 2);
    expect(list.remaining()).toEqual([
      { server: "digitalocean", status: 500, skip: 0, times: 1 },
      { server: "digitalocean", status: 502, times: 0 },
      { server: "kubernetes", status: 503 },
    ]);
    list.clear();
    expect(list.remaining()).toEqual([]);
  });

  test("refuses a path that is no regular expression", () => {
    expect(() => new FaultList([{ server: "digitalocean", path: "(" }])).toThrow(SyntaxError);
  });
});
