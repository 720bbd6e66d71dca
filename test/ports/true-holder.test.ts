import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { knownHolder, withTrueHolder } from "../../src/ports/true-holder.ts";

const FREE: Address = { ip: "203.0.113.1", region: "nyc3", isLocked: false };

function provider(carried: readonly string[] | undefined): {
  readonly name: string;
  readonly asked: string[];
  readonly machineAddresses: (machine: string) => Promise<readonly string[] | undefined>;
} {
  const asked: string[] = [];
  const machineAddresses = async (machine: string): Promise<readonly string[] | undefined> => {
    asked.push(machine);
    return carried;
  };
  return { name: "digitalocean", asked, machineAddresses };
}

describe("an address that is read on no machine", () => {
  test.for([
    ["it was on none before", FREE, undefined, []],
    ["it is locked, so the provider is at work", { ...FREE, isLocked: true }, "101", []],
    ["it is shown on a machine", { ...FREE, holderID: "102" }, "101", []],
    ["its machine has others", FREE, "101", ["101"]],
  ] as const)("is believed where %s", async ([, address, machine, asked]) => {
    const account = provider(["198.51.100.7"]);
    expect(await withTrueHolder(account, address, machine)).toBe(address);
    expect(account.asked).toEqual(asked);
  });

  test("is believed where its machine is gone", async () => {
    expect(await withTrueHolder(provider(undefined), FREE, "101")).toBe(FREE);
  });

  test("is unreadable where its machine has it", async () => {
    await expect(withTrueHolder(provider([FREE.ip]), FREE, "101")).rejects.toThrow(
      "digitalocean shows 203.0.113.1 on no machine, and machine 101 has it.",
    );
  });
});

test("an address that was sent somewhere is expected there, and one that was taken away where it was", () => {
  const address = { ...FREE, holderID: "101" };
  expect(knownHolder({ kind: "known", address })).toBe("101");
  expect(knownHolder({ kind: "known", address, movesTo: "102" })).toBe("102");
  expect(knownHolder({ kind: "known", address, movesTo: "" })).toBe("101");
  expect(knownHolder({ kind: "gap", error: "it is slow" })).toBeUndefined();
});
