import { describe, expect, test } from "vitest";
import { externalOwner, plainMarks, type ZoneTexts } from "../../src/model/external-dns.ts";

const MARK = "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/shop/web";
const ENCRYPTED = `${"dGhpcyBpcyBub3QgcmVhZGFibGUgYnkgYW55Ym9keSB3aXRob3V0IHRoZSBrZXku".repeat(2)}`;

/** A zone with these marks, and with A records at these names. */
function zone(marks: Readonly<Record<string, string>>, names: readonly string[] = []): ZoneTexts {
  const texts = Object.entries(marks).map(([fqdn, text]) => ({ fqdn, text }));
  return { texts, names: new Map(names.map((name) => [name, new Set(["A"])])) };
}

function ownerOf(fqdn: string, marks: Readonly<Record<string, string>>, names: readonly string[] = []) {
  return externalOwner(fqdn, zone(marks, names), names.includes(fqdn))?.id;
}

const WWW = "www.example.com";

describe("a mark of external-dns", () => {
  test.each([
    ["plain", MARK],
    ["in quotes", `"${MARK}"`],
    ["in two parts", `"heritage=external-dns,external-dns/ow" "ner=prod"`],
    ["in two parts without a space", `"heritage=external-dns,external-dns/ow""ner=prod"`],
    ["in quotes within quotes", `"\\"${MARK}\\""`],
    ["in another order", "external-dns/owner=prod,heritage=external-dns"],
  ])("is read %s", (_, text) => expect(ownerOf(WWW, { "a-www.example.com": text })).toBe("prod"));

  test.each([
    ["of somebody else", "heritage=other,external-dns/owner=prod"],
    ["a text that speaks of it", "see heritage=external-dns"],
    ["a policy", "v=spf1 include:_spf.example.com -all"],
    ["nothing", ""],
  ])("is not %s", (_, text) => expect(externalOwner(WWW, zone({ "a-www.example.com": text }), true)).toBeUndefined());

  test("without an owner counts all the same", () => {
    expect(externalOwner(WWW, zone({ [WWW]: "heritage=external-dns" }), true)).toEqual({ mark: WWW });
  });

  test("that is encrypted counts in the new form alone", () => {
    const found = externalOwner(WWW, zone({ "a-www.example.com": ENCRYPTED }), true);
    expect(found).toEqual({ mark: "a-www.example.com", isEncrypted: true });
    expect(externalOwner(WWW, zone({ [WWW]: ENCRYPTED }), true)).toBeUndefined();
    expect(externalOwner(WWW, zone({ "a-www.example.com": "c2hvcnQ=" }), true)).toBeUndefined();
  });
});

describe("a mark belongs to the A record", () => {
  const names = [WWW, "api.example.com", "www-old.example.com", "old.example.com"];
  test.each([
    ["in the old form", WWW, "www.example.com"],
    ["in the new form", WWW, "a-www.example.com"],
    ["with a prefix", WWW, "pre-a-www.example.com"],
    ["with a prefix in the old form", WWW, "pre-www.example.com"],
    ["with a prefix that is a label", WWW, "_external_dns.a-www.example.com"],
    ["with the type in the prefix", WWW, "a-pre-www.example.com"],
    ["with the type in a prefix that is a label", WWW, "pre-a.www.example.com"],
    ["with a suffix", WWW, "a-www-post.example.com"],
    ["with a suffix in the old form", WWW, "www-post.example.com"],
    ["with the type in the suffix", WWW, "www-a-post.example.com"],
    ["of the longer name", "www-old.example.com", "pre-a-www-old.example.com"],
  ])("%s", (_, name, mark) => {
    expect(ownerOf(name, { [mark]: MARK }, names)).toBe("prod");
    for (const other of names.filter((one) => one !== name))
      expect(ownerOf(other, { [mark]: MARK }, names), other).toBeUndefined();
  });

  test.each([
    ["of a CNAME", "cname-www.example.com"],
    ["of an AAAA record", "aaaa-www.example.com"],
    ["of a CNAME with a prefix", "pre-cname-www.example.com"],
    ["of a CNAME with the type in the suffix", "www-cname.example.com"],
    ["of another name", "a-www2.example.org"],
    ["of a name below", "www.www.example.net"],
    ["of a name that is there", "a-www-old.example.com"],
  ])("not %s", (_, mark) => expect(ownerOf(WWW, { [mark]: MARK }, names)).toBeUndefined());

  test("of an apex, in the forms that stay inside its zone", () => {
    expect(ownerOf("example.com", { "example.com": MARK }, ["example.com"])).toBe("prod");
    expect(ownerOf("example.com", { "pre-a.example.com": MARK }, ["example.com", WWW])).toBe("prod");
    expect(ownerOf("example.com", { "pre-cname.example.com": MARK }, ["example.com", WWW])).toBeUndefined();
    expect(ownerOf("example.com", { "a-www.example.com": MARK }, ["example.com", WWW])).toBeUndefined();
  });

  test("of a wildcard, whatever stands for the asterisk", () => {
    const star = "*.example.com";
    expect(ownerOf(star, { "a-*.example.com": MARK }, [star])).toBe("prod");
    expect(ownerOf(star, { "a-any.example.com": MARK }, [star, WWW])).toBe("prod");
    expect(ownerOf(star, { "a-www.example.com": MARK }, [star, WWW])).toBeUndefined();
    expect(ownerOf(star, { "pre-a-www.example.com": MARK }, [star, WWW])).toBeUndefined();
  });

  test("without prefix and suffix also where it has no record yet; with them only where it has", () => {
    expect(ownerOf(WWW, { "a-www.example.com": MARK })).toBe("prod");
    expect(ownerOf(WWW, { [WWW]: MARK })).toBe("prod");
    expect(ownerOf(WWW, { "pre-a-www.example.com": MARK })).toBeUndefined();
  });

  test("in the old form not where the name has records of other types alone", () => {
    const texts = [{ fqdn: WWW, text: MARK }];
    expect(externalOwner(WWW, { texts, names: new Map([[WWW, new Set(["CNAME"])]]) }, false)).toBeUndefined();
  });
});

test("a name that cannot be asked for is not asked for", () => {
  expect(plainMarks(WWW)).toEqual([WWW, "a-www.example.com"]);
  expect(plainMarks("*.example.com")).toEqual(["*.example.com"]);
});

describe("AAAA records", () => {
  const set = `${WWW} AAAA`;
  const owner = "heritage=external-dns,external-dns/owner=prod";
  const texts = (mark: string): ZoneTexts => ({
    texts: [{ fqdn: mark, text: owner }],
    names: new Map([[WWW, new Set(["A", "AAAA"])]]),
  });

  test.each(["aaaa-www.example.com", "pre-aaaa-www.example.com", "aaaa-www-post.example.com", WWW])(
    "%s is a mark of theirs",
    (mark) => expect(externalOwner(set, texts(mark), true)?.id).toBe("prod"),
  );

  test("have other marks than A records", () => {
    expect(externalOwner(set, texts("a-www.example.com"), true)).toBeUndefined();
    expect(externalOwner(WWW, texts("aaaa-www.example.com"), true)).toBeUndefined();
    expect(externalOwner(set, { ...texts(WWW), names: new Map([[WWW, new Set(["A"])]]) }, false)).toBeUndefined();
    expect(plainMarks(set)).toEqual([WWW, "aaaa-www.example.com"]);
  });
});
