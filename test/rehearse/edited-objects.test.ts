import { describe, expect, test } from "vitest";
import { decodePool } from "../../src/adapters/kube/custom-resources.ts";
import { FINALIZER } from "../../src/model/resource.ts";
import { type ObjectEdit, parseEdit } from "../../src/rehearse/edit.ts";
import { EditedObjects, type FileObject } from "../../src/rehearse/edited-objects.ts";

const NOW_MS = Date.parse("2026-08-01T12:00:00Z");

function edit(text: string, value?: unknown): ObjectEdit {
  const parsed = parseEdit(text, { duration: () => undefined, yaml: () => ({ value }) });
  if (parsed.kind !== "object") throw new Error(text);
  return parsed;
}

function stored(name: string, more: { metadata?: object; spec?: object } = {}): object {
  return {
    metadata: { namespace: "shop", name, uid: "u1", generation: 3, labels: { kept: "yes" }, ...more.metadata },
    spec: { provider: "digitalocean", ips: ["203.0.113.1"], ...more.spec },
    status: { ips: { "203.0.113.1": { state: "active" } } },
  };
}

function file(name: string, spec: object, metadata: object = {}): FileObject {
  return { of: "pool", namespace: "shop", name, object: { metadata: { name, ...metadata }, spec } };
}

const seen = (objects: EditedObjects, object: object) => objects.seen("pool", object, decodePool, NOW_MS);

describe("objects as they would be", () => {
  test("a field is replaced, counts as a change of spec, and one that is emptied is gone", () => {
    const objects = new EditedObjects([edit("pool/shop/web.desiredIPs=2", 2), edit("pool/shop/web.ips=", null)], []);
    const pool = seen(objects, stored("web"));
    expect(pool).toMatchObject({ meta: { generation: 5, uid: "u1" }, spec: { desiredIPs: 2, ips: [] } });
    expect(pool?.status.ips["203.0.113.1"]?.state).toBe("active");
    objects.check();
  });

  test("the longest name that is there is meant, where names have dots", () => {
    const objects = new EditedObjects([edit("pool/shop/web.eu.suspend=true", true)], []);
    expect(seen(objects, stored("web"))?.spec.suspend).toBe(false);
    expect(seen(objects, stored("web.eu"))?.spec.suspend).toBe(true);
    objects.check();
  });

  test("a deleted object is gone, and with a finalizer it is being deleted", () => {
    const objects = new EditedObjects([edit("pool/shop/web=Deleted"), edit("pool/shop/kept=deleted")], []);
    expect(seen(objects, stored("web"))).toBeUndefined();
    expect(seen(objects, stored("kept", { metadata: { finalizers: [FINALIZER] } }))?.meta.isDeleting).toBe(true);
    objects.check();
  });

  test("a file replaces spec and keeps status, uid and foreign labels; edits come after it", () => {
    const laid = file(
      "web",
      { provider: "digitalocean", ips: ["203.0.113.2"], desiredIPs: 5 },
      { labels: { new: "1" } },
    );
    const objects = new EditedObjects([edit("pool/shop/web.desiredIPs=1", 1)], [laid]);
    const pool = seen(objects, stored("web", { spec: { region: "nyc3" } }));
    expect(pool).toMatchObject({
      meta: { uid: "u1", generation: 5, labels: { kept: "yes", new: "1" } },
      spec: { ips: ["203.0.113.2"], desiredIPs: 1, region: "" },
      status: { ips: { "203.0.113.1": { state: "active" } } },
    });
  });

  test("a file that says what is stored changes no generation", () => {
    const { spec } = stored("web") as { spec: object };
    expect(seen(new EditedObjects([], [file("web", spec)]), stored("web"))?.meta.generation).toBe(3);
  });

  test("an object that only a file has is the youngest, and can be edited", () => {
    const objects = new EditedObjects(
      [edit("pool/shop/more.desiredIPs=1", 1)],
      [file("more", { ips: ["203.0.113.9"] })],
    );
    const [pool] = objects.fresh("pool", decodePool, NOW_MS);
    expect(pool).toMatchObject({ meta: { createdAtMs: NOW_MS, generation: 2 }, spec: { desiredIPs: 1 } });
    expect(objects.fresh("dns", decodePool, NOW_MS)).toEqual([]);
    objects.check();
  });

  test.for([
    ["pool/shop/web.suspended=true", true, "changes nothing"],
    ["pool/shop/web.provider=digitalocean", "digitalocean", "changes nothing"],
    ["pool/shop/web=Delete", "Delete", "changes nothing"],
    ["pool/shop/wbe.suspend=true", true, "There is no object pool/shop/wbe"],
    ["dns/shop/web.suspend=true", true, "There is no object dns/shop/web"],
    ["pool/shops/web=Deleted", "Deleted", "There is no object pool/shops/web"],
  ] as const)("%s is refused once all is read", ([text, value, why]) => {
    const objects = new EditedObjects([edit(text, value)], []);
    seen(objects, stored("web"));
    expect(() => objects.check()).toThrow(why);
  });
});
