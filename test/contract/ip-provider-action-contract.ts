import { describe, expect } from "vitest";
import { accountOf, type ExampleAddresses } from "./example-addresses.ts";
import { expectRefusal } from "./expect-refusal.ts";
import type { InWorld, IPProviderWorld } from "./ip-provider-world.ts";

const minuteMs = 60_000;

/** Declares the tests of assign and unassign. */
export function actionContract(inWorld: InWorld, examples: ExampleAddresses): void {
  describe("assign", () => assigning(inWorld, examples));
  describe("assign when it is refused", () => refusing(inWorld, examples));
  describe("unassign", () => unassigning(inWorld, examples));
}

function assigning(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, shown } = examples;
  inWorld(
    "attaches a free address once its action is done, and locks it until then",
    async ({ provider, seed, differs }) => {
      await seed.droplet("42", "nyc3");
      await seed.address(ip1, { region: "nyc3" });
      const action = await provider.assign(ip1, "42");
      expect(action.ip).toBe(ip1);
      expect(await provider.actionState(action)).toBe("pending");
      await expectOnItsWay({ provider, differs, examples }, {}, { holderID: "42" });
      await seed.advance(minuteMs);
      expect(await provider.actionState(action)).toBe("done");
      expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", holderID: "42", isLocked: false }));
      expect(await provider.machineAddresses("42")).toContain(ip1);
    },
  );

  inWorld("moves an address from another droplet without unassigning it first", async ({ provider, seed, differs }) => {
    await seed.droplet("42", "nyc3");
    await seed.droplet("43", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    const action = await provider.assign(ip1, "43");
    await expectOnItsWay({ provider, differs, examples }, { holderID: "42" }, { holderID: "43" });
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("done");
    expect((await provider.getAddress(ip1))?.holderID).toBe("43");
    expect(await provider.machineAddresses("42")).not.toContain(ip1);
  });

  inWorld(
    "attaches a BYOIP address although its action is never known",
    async ({ provider, seed }) => {
      await seed.droplet("42", "nyc3");
      await seed.address(ip1, { region: "nyc3", byoip: true });
      const action = await provider.assign(ip1, "42");
      expect(await provider.actionState(action)).toBe("unknown");
      await seed.advance(minuteMs);
      expect(await provider.actionState(action)).toBe("unknown");
      expect((await provider.getAddress(ip1))?.holderID).toBe("42");
    },
    "hasPrefixes",
  );
}

/** An address counts as locked while the change of this process is under way, wherever it is shown meanwhile, so that nobody takes it for done or changes it again. */
async function expectOnItsWay(
  {
    provider,
    differs,
    examples: { ip1, shown },
  }: Pick<IPProviderWorld, "provider" | "differs"> & { examples: ExampleAddresses },
  from: { readonly holderID?: string },
  to: { readonly holderID?: string },
): Promise<void> {
  const seen = differs.showsTargetEarly ? { ...to, isLocked: true } : { ...from, isLocked: differs.locksOwnChanges };
  expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", ...seen }));
}

function refusing(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, ip2, unknownIP, shown } = examples;
  for (const byoip of [false, true]) {
    const kind = byoip ? "a BYOIP" : "a reserved";
    inWorld(
      `is refused when the droplet holds ${kind} address already`,
      async ({ provider, seed }) => {
        await seed.droplet("42", "nyc3");
        await seed.address(ip1, { region: "nyc3", droplet: "42", byoip });
        await seed.address(ip2, { region: "nyc3" });
        await expectRefusal(provider.assign(ip2, "42"), "refused", {
          provider: accountOf(provider),
          operation: "assign",
          subject: ip2,
        });
        await seed.advance(minuteMs);
        expect(await provider.getAddress(ip2)).toEqual(shown(ip2, { region: "nyc3", isLocked: false }));
      },
      ({ isBound, hasPrefixes }) => isBound && (!byoip || hasPrefixes),
    );
  }

  inWorld("is refused when the address is on that droplet already, and leaves it there", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await expectRefusal(provider.assign(ip1, "42"), "refused", {
      provider: accountOf(provider),
      operation: "assign",
      subject: ip1,
    });
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
  });

  inWorld(
    "is refused when the droplet is in another region",
    async ({ provider, seed }) => {
      await seed.droplet("42", "fra1");
      await seed.address(ip1, { region: "nyc3" });
      await expectRefusal(provider.assign(ip1, "42"), "refused", {
        provider: accountOf(provider),
        operation: "assign",
        subject: ip1,
      });
      expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
    },
    "isBound",
  );

  inWorld("is busy while the address is locked", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", locked: true });
    await expectRefusal(provider.assign(ip1, "42"), "busy", {
      provider: accountOf(provider),
      operation: "assign",
      subject: ip1,
    });
  });

  inWorld("is busy while the address has an action of our own", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.droplet("43", "nyc3");
    await seed.address(ip1, { region: "nyc3" });
    await provider.assign(ip1, "42");
    await expectRefusal(provider.assign(ip1, "43"), "busy", {
      provider: accountOf(provider),
      operation: "assign",
      subject: ip1,
    });
    await seed.advance(minuteMs);
    expect((await provider.getAddress(ip1))?.holderID).toBe("42");
  });

  inWorld("is busy while the droplet has a pending event", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3" });
    await seed.address(ip2, { region: "nyc3" });
    await provider.assign(ip1, "42");
    await expectRefusal(provider.assign(ip2, "42"), "busy", {
      provider: accountOf(provider),
      operation: "assign",
      subject: ip2,
    });
  });

  inWorld("is not found for an unknown address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    const subject = unknownIP;
    await expectRefusal(provider.assign(subject, "42"), "not-found", {
      provider: accountOf(provider),
      operation: "assign",
      subject,
    });
  });

  inWorld("is not found for an unknown droplet", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    await expectRefusal(provider.assign(ip1, "4711"), "not-found", {
      provider: accountOf(provider),
      operation: "assign",
      subject: ip1,
    });
    expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
  });
}

function unassigning(inWorld: InWorld, examples: ExampleAddresses): void {
  const { ip1, ip2, unknownIP, shown } = examples;
  inWorld("detaches an address once its action is done, and keeps it", async ({ provider, seed, differs }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    const action = await provider.unassign(ip1);
    expect(action.ip).toBe(ip1);
    await expectOnItsWay({ provider, differs, examples }, { holderID: "42" }, {});
    await seed.advance(minuteMs);
    expect(await provider.actionState(action)).toBe("done");
    expect(await provider.getAddress(ip1)).toEqual(shown(ip1, { region: "nyc3", isLocked: false }));
    expect(await provider.machineAddresses("42")).not.toContain(ip1);
  });

  inWorld("makes room on the droplet for another address", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42" });
    await seed.address(ip2, { region: "nyc3" });
    await provider.unassign(ip1);
    await seed.advance(minuteMs);
    await provider.assign(ip2, "42");
    await seed.advance(minuteMs);
    expect((await provider.getAddress(ip2))?.holderID).toBe("42");
  });

  inWorld("is refused when the address is not assigned", async ({ provider, seed }) => {
    await seed.address(ip1, { region: "nyc3" });
    await expectRefusal(provider.unassign(ip1), "refused", {
      provider: accountOf(provider),
      operation: "unassign",
      subject: ip1,
    });
  });

  inWorld("is busy while the address is locked", async ({ provider, seed }) => {
    await seed.droplet("42", "nyc3");
    await seed.address(ip1, { region: "nyc3", droplet: "42", locked: true });
    await expectRefusal(provider.unassign(ip1), "busy", {
      provider: accountOf(provider),
      operation: "unassign",
      subject: ip1,
    });
  });

  inWorld("is not found for an unknown address", async ({ provider }) => {
    const subject = unknownIP;
    await expectRefusal(provider.unassign(subject), "not-found", {
      provider: accountOf(provider),
      operation: "unassign",
      subject,
    });
  });
}
