import { describe, expect, test } from "vitest";
import {
  type AskingSpec,
  grantAdvice,
  judgeWishes,
  MOST_GRANTED,
  MOST_PROBLEMS,
  parseGrants,
  wishesOf,
} from "../../src/model/grants.ts";

const PREFIX = "flipop.digitalocean.com";

const read = (annotations: Readonly<Record<string, string>>): ReturnType<typeof parseGrants> =>
  parseGrants("shop", Object.fromEntries(Object.entries(annotations).map(([key, text]) => [`${PREFIX}/${key}`, text])));

/** What of a spec is missing, as sentences; the test's namespace is "shop". */
const missing = (spec: AskingSpec, annotations: Readonly<Record<string, string>>): readonly string[] =>
  judgeWishes(wishesOf(spec), "shop", read(annotations)).flatMap(({ sentence }) => sentence ?? []);

describe("a grant is judged", () => {
  const rows: readonly (readonly [string, AskingSpec, Readonly<Record<string, string>>, readonly string[]])[] = [
    ["a name in full", { name: "www.example.com" }, { names: "www.example.com" }, []],
    ["one of several, by lines", { name: "b.example.com" }, { names: "a.example.com,\n\tb.example.com" }, []],
    ["the apex by its own name", { name: "example.com" }, { names: "example.com" }, []],
    [
      "the apex does not grant what is under it",
      { name: "www.example.com" },
      { names: "example.com" },
      ["namespace shop is not granted the name www.example.com"],
    ],
    ["a star is one label", { name: "a.edge.example.com" }, { names: "*.edge.example.com" }, []],
    [
      "a star is not two labels",
      { name: "a.b.edge.example.com" },
      { names: "*.edge.example.com" },
      ["namespace shop is not granted the name a.b.edge.example.com"],
    ],
    [
      "a star is not no label",
      { name: "edge.example.com" },
      { names: "*.edge.example.com" },
      ["namespace shop is not granted the name edge.example.com"],
    ],
    ["the record * itself", { name: "*.edge.example.com" }, { names: "*.edge.example.com" }, []],
    [
      "one name does not grant the record *",
      { name: "*.edge.example.com" },
      { names: "www.edge.example.com" },
      ["namespace shop is not granted the name *.edge.example.com"],
    ],
    ["a firewall by name", { firewall: ["web", "web", "f-1"] }, { firewalls: "web" }, []],
    ["a firewall by id, named by name", { firewall: ["web", "web", "f-1"] }, { firewalls: "f-1" }, []],
    [
      "another firewall",
      { firewall: ["web", "web", "f-1"] },
      { firewalls: "Web db" },
      ["namespace shop is not granted the firewall web"],
    ],
    ["an address", { ips: ["203.0.113.7"] }, { addresses: "203.0.113.7" }, []],
    ["an address of a network", { ips: ["203.0.113.7", "203.0.113.0"] }, { addresses: "203.0.113.0/29" }, []],
    [
      "an address beside the network",
      { ips: ["203.0.113.7", "203.0.113.8"] },
      { addresses: "203.0.113.0/29" },
      ["namespace shop is not granted the address 203.0.113.8"],
    ],
    ["every address", { ips: ["203.0.113.7"] }, { addresses: "0.0.0.0/0" }, []],
    ["an IPv6 address", { ips: ["2001:db8::1"] }, { addresses: "2001:db8::1" }, []],
    ["an IPv6 address, however the grant is written", { ips: ["2001:db8::a"] }, { addresses: "2001:DB8:0::000A" }, []],
    [
      "IPv6 addresses of a network",
      { ips: ["2001:db8:1::", "2001:db8:1::ffff"] },
      { addresses: "2001:db8:1::/112" },
      [],
    ],
    ["a network of one IPv6 address", { ips: ["2001:db8::1"] }, { addresses: "2001:db8::1/128" }, []],
    ["a network, written out", { ips: ["2001:db8:1::5"] }, { addresses: "2001:0DB8:0001:0:0:0:0:0/48" }, []],
    [
      "IPv6 addresses on both sides of a network",
      { ips: ["2001:db8:0:ffff::1", "2001:db8:1::1", "2001:db8:1:1::"] },
      { addresses: "2001:db8:1::/64" },
      [
        "namespace shop is not granted the address 2001:db8:0:ffff::1",
        "namespace shop is not granted the address 2001:db8:1:1::",
      ],
    ],
    [
      "a length that divides a group",
      { ips: ["2001:db8:7fff::1", "2001:db8:8000::1"] },
      { addresses: "2001:db8:8000::/33" },
      ["namespace shop is not granted the address 2001:db8:7fff::1"],
    ],
    [
      "every IPv6 address, and none of IPv4",
      { ips: ["2001:db8::1", "fe80::1", "203.0.113.7"] },
      { addresses: "::/0" },
      ["namespace shop is not granted the address 203.0.113.7"],
    ],
    [
      "every IPv4 address, and none of IPv6",
      { ips: ["203.0.113.7", "2001:db8::1", "::1"] },
      { addresses: "0.0.0.0/0" },
      ["namespace shop is not granted the address 2001:db8::1", "namespace shop is not granted the address ::1"],
    ],
    [
      "both families side by side",
      { ips: ["203.0.113.7", "2001:db8::1"] },
      { addresses: "203.0.113.0/24 2001:db8::/64" },
      [],
    ],
    [
      "an IPv4 address that is written as IPv6 grants nothing",
      { ips: ["203.0.113.7"] },
      { addresses: "::ffff:203.0.113.7, ::ffff:0:0/96" },
      ["namespace shop is not granted the address 203.0.113.7"],
    ],
    ["an entry that is no address asks for nothing", { ips: ["nonsense"] }, {}, []],
    ["purchases", { ips: ["203.0.113.7"], desiredIPs: 3 }, { addresses: "203.0.113.7", purchases: "2" }, []],
    [
      "one purchase too many",
      { desiredIPs: 3 },
      { purchases: "2" },
      ["namespace shop may hold 2 acquired addresses, and 3 are asked for"],
    ],
    [
      "desiredIPs below the list buys nothing",
      { ips: ["203.0.113.7"], desiredIPs: 1 },
      { addresses: "203.0.113.7" },
      [],
    ],
    ["take-over", { foreignHolder: "TakeOver" }, { "take-over": "true" }, []],
    [
      "no take-over",
      { foreignHolder: "TakeOver" },
      { "take-over": "false" },
      ["namespace shop is not granted take-overs (foreignHolder: TakeOver)"],
    ],
    ["Hold asks for nothing", { foreignHolder: "Hold" }, {}, []],
    [
      "nothing is granted without an annotation",
      { name: "www.example.com", firewall: ["web"], ips: ["203.0.113.7"], desiredIPs: 2, foreignHolder: "TakeOver" },
      {},
      [
        "namespace shop is not granted the name www.example.com",
        "namespace shop is not granted the firewall web",
        "namespace shop is not granted the address 203.0.113.7",
        "namespace shop may hold 0 acquired addresses, and 1 is asked for",
        "namespace shop is not granted take-overs (foreignHolder: TakeOver)",
      ],
    ],
  ];
  test.for(rows)("%s", ([, spec, annotations, sentences]) => {
    expect(missing(spec, annotations)).toEqual(sentences);
  });

  test("a namespace that is not known grants nothing", () => {
    expect(judgeWishes(wishesOf({ name: "www.example.com" }), "shop", undefined)).toEqual([
      {
        wish: { grant: "names", name: "www.example.com" },
        isGranted: false,
        sentence: "namespace shop is not granted the name www.example.com",
      },
    ]);
  });
});

describe("an entry that cannot be read grants nothing, and the others count", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["names", "WWW.example.com", "write it in lower case"],
    ["names", "www.example.com.", "write it without the last dot"],
    ["names", "bücher.example.com", "write it as DNS has it, in ASCII (xn--…)"],
    ["names", "www", "write the name in full, with its zone"],
    ["names", "*", "write the name in full, with its zone"],
    ["names", "www.*.example.com", "it is not a DNS name"],
    ["names", "a..example.com", "it is not a DNS name"],
    ["names", `${"a".repeat(64)}.example.com`, "it is not a DNS name"],
    ["addresses", "203.0.113.07", "it is not a canonical IPv4 address or CIDR"],
    ["addresses", "203.0.113.0/29/1", "it is not a canonical IPv4 address or CIDR"],
    ["addresses", "203.0.113.0/", "the length of the prefix is not 0 to 32"],
    ["addresses", "/24", "it is not a canonical IPv4 address or CIDR"],
    ["addresses", "2001:db8::g", "it is not an IPv6 address or CIDR"],
    ["addresses", "2001:db8::1::2", "it is not an IPv6 address or CIDR"],
    ["addresses", "fe80::1%eth0", "it is not an IPv6 address or CIDR"],
    ["addresses", "[2001:db8::1]", "it is not an IPv6 address or CIDR"],
    ["addresses", "::ffff:203.0.113.7", "it is not an IPv6 address or CIDR"],
    ["addresses", "::FFFF:203.0.113.0/120", "it is not an IPv6 address or CIDR"],
    ["addresses", "2001:db8::/64/1", "it is not an IPv6 address or CIDR"],
    ["addresses", "2001:db8::/129", "the length of the prefix is not 0 to 128"],
    ["addresses", "2001:db8::/1280", "the length of the prefix is not 0 to 128"],
    ["addresses", "2001:db8::/064", "the length of the prefix is not 0 to 128"],
    ["addresses", "2001:db8::/-1", "the length of the prefix is not 0 to 128"],
    ["addresses", "2001:db8::/", "the length of the prefix is not 0 to 128"],
    ["addresses", "2001:DB8::1/64", "it has host bits; the network is 2001:db8::/64"],
    ["addresses", "2001:db8::/0", "it has host bits; the network is ::/0"],
    ["addresses", "203.0.113.0/33", "the length of the prefix is not 0 to 32"],
    ["addresses", "203.0.113.0/029", "the length of the prefix is not 0 to 32"],
    ["addresses", "203.0.113.7/29", "it has host bits; the network is 203.0.113.0/29"],
    ["addresses", "203.0.113.7/0", "it has host bits; the network is 0.0.0.0/0"],
  ];
  test.for(rows)("%s: %s", ([kind, entry, why]) => {
    const good = kind === "names" ? "good.example.com" : "198.51.100.7";
    const grants = read({ [kind]: `${entry}, ${good}` });
    expect([...(kind === "names" ? grants.names : grants.addresses)]).toEqual([good]);
    expect(grants.problems.map((problem) => [problem.annotation, problem.why])).toEqual([[`${PREFIX}/${kind}`, why]]);
  });

  test("IPv6 addresses are kept in the one form of flipop, each once", () => {
    const { addresses, problems } = read({
      addresses: "2001:DB8::1 2001:db8:0:0:0:0:0:1 ::/0 0::0/0 FD00::/8 2001:db8::0:0/64",
    });
    expect([[...addresses], problems]).toEqual([["2001:db8::1", "::/0", "fd00::/8", "2001:db8::/64"], []]);
  });

  const values: readonly (readonly [string, string, string])[] = [
    ["purchases", "-1", "it is not a number from 0 to 999999"],
    ["purchases", "1e3", "it is not a number from 0 to 999999"],
    ["purchases", "3 4", "it is not a number from 0 to 999999"],
    ["purchases", "07", "it is not a number from 0 to 999999"],
    ["take-over", "yes", "it is neither true nor false"],
    ["take-over", "True", "it is neither true nor false"],
  ];
  test.for(values)("%s: %s", ([kind, text, why]) => {
    const grants = read({ [kind]: text, firewalls: "web" });
    expect([grants.purchases, grants.mayTakeOver, [...grants.firewalls]]).toEqual([0, false, ["web"]]);
    expect(grants.problems).toEqual([{ annotation: `${PREFIX}/${kind}`, entry: text, why }]);
  });

  test("an annotation that is no grant is told of, whatever its name", () => {
    const grants = read({ name: "www.example.com", __proto__: "x" });
    expect(grants.problems).toEqual([
      {
        annotation: `${PREFIX}/name`,
        entry: "",
        why: "no such grant; there are names, firewalls, addresses, purchases, take-over",
      },
    ]);
  });

  test("256 KiB of nonsense are read within bounds, and few of them told of", () => {
    const grants = read({ names: `good.example.com ${"!".repeat(99)} ${"ü,".repeat(130_000)}` });
    expect([...grants.names]).toEqual(["good.example.com"]);
    expect(grants.problems).toHaveLength(MOST_PROBLEMS + 1);
    expect(grants.problems.at(-1)?.why).toBe(`${MOST_GRANTED - MOST_PROBLEMS} more entries grant nothing`);
    expect(grants.problems[0]?.why).toBe(`only the first ${MOST_GRANTED} entries are read`);
    const long = read({ names: "a".repeat(262_144) });
    expect(long.problems.map(({ entry }) => entry.length)).toEqual([101]);
  });

  test("of each annotation that is bad an entry is told of, however many the first one has", () => {
    const bad = { names: "a b c d e f g", addresses: "10.0.0.0/40 ::g", purchases: "-1", "take-over": "yes" };
    const { problems } = read(bad);
    expect(problems.map(({ annotation, entry }) => [annotation, entry])).toEqual([
      [`${PREFIX}/names`, "a"],
      [`${PREFIX}/addresses`, "10.0.0.0/40"],
      [`${PREFIX}/purchases`, "-1"],
      [`${PREFIX}/take-over`, "yes"],
      [`${PREFIX}/names`, "b"],
      [`${PREFIX}/addresses`, ""],
    ]);
    expect(problems.at(-1)).toMatchObject({
      why: "6 more entries grant nothing, of this annotation and others",
      count: 6,
    });
  });

  test("one entry more than is told of is counted", () => {
    expect(read({ names: "a b c d e f" }).problems.at(-1)?.why).toBe("1 more entry grants nothing");
  });

  test("the first thousand entries count, and the next one does not", () => {
    const all = Array.from({ length: MOST_GRANTED + 1 }, (_, n) => `n${n}.example.com`);
    const { names } = read({ names: all.join("\n") });
    expect([names.size, names.has("n999.example.com"), names.has("n1000.example.com")]).toEqual([1000, true, false]);
  });
});

describe("the advice is a command with what is granted already", () => {
  const wish = { grant: "names", name: "www.example.com" } as const;

  test("of a short list", () => {
    expect(grantAdvice([wish], "shop", read({ names: "a.example.com b.example.com" }))).toBe(
      "Whoever may change namespaces can grant it: kubectl annotate --overwrite namespace shop flipop.digitalocean.com/names='a.example.com,b.example.com,www.example.com'",
    );
  });

  test("of a long list it is an edit", () => {
    const names = Array.from({ length: 11 }, (_, n) => `n${n}.example.com`).join(",");
    expect(grantAdvice([wish], "shop", read({ names }))).toBe(
      "Whoever may change namespaces can grant it: kubectl edit namespace shop, and add www.example.com to flipop.digitalocean.com/names.",
    );
  });

  test("for all that is missing, since a command for each would take back what the one before granted", () => {
    const [first, ...more] = ["192.0.2.1", "192.0.2.2", "192.0.2.1"].map((ip) => ({ grant: "addresses", ip }) as const);
    expect(first && grantAdvice([first, ...more], "shop", read({ addresses: "192.0.2.9" }))).toBe(
      "Whoever may change namespaces can grant it: kubectl annotate --overwrite namespace shop flipop.digitalocean.com/addresses='192.0.2.9,192.0.2.1,192.0.2.2'",
    );
    expect(
      grantAdvice(
        [
          { grant: "purchases", count: 2 },
          { grant: "purchases", count: 5 },
        ],
        "shop",
        read({}),
      ),
    ).toContain("/purchases='5'");
  });

  test("a number is replaced", () => {
    expect(grantAdvice([{ grant: "purchases", count: 3 }], "shop", read({ purchases: "2" }))).toBe(
      "Whoever may change namespaces can grant it: kubectl annotate --overwrite namespace shop flipop.digitalocean.com/purchases='3'",
    );
  });
});
