import { execFileSync } from "node:child_process";
import * as account from "@digitalocean/dots/src/dots/v2/account/index.js";
import * as action from "@digitalocean/dots/src/dots/v2/actions/item/index.js";
import * as domains from "@digitalocean/dots/src/dots/v2/domains/index.js";
import * as droplets from "@digitalocean/dots/src/dots/v2/droplets/index.js";
import * as droplet from "@digitalocean/dots/src/dots/v2/droplets/item/index.js";
import * as firewalls from "@digitalocean/dots/src/dots/v2/firewalls/index.js";
import * as reservedIPs from "@digitalocean/dots/src/dots/v2/reserved_ips/index.js";
import * as reservedIPv6 from "@digitalocean/dots/src/dots/v2/reserved_ipv6/index.js";
import type { NavigationMetadata, RequestsMetadata } from "@microsoft/kiota-abstractions";
import { expect, test } from "vitest";

/** What the declared interfaces promise, read from the real metadata: verbs, path template, and what lies below. */
function shapeOf(
  requests: RequestsMetadata | undefined,
  below: Readonly<Record<string, NavigationMetadata>> = {},
): object {
  const verbs = Object.entries(requests ?? {}).map(([verb, request]) => `${verb} ${request.uriTemplate}`);
  const children = Object.entries(below).map(([name, child]) => {
    const parameters = child.pathParametersMappings ?? [];
    return [`${name}(${parameters.join()})`, shapeOf(child.requestsMetadata, child.navigationMetadata)] as const;
  });
  return { verbs: verbs.sort(), ...Object.fromEntries(children) };
}

test("the real module of reserved IPs has what dots.d.ts declares", () => {
  const shape = shapeOf(
    reservedIPs.Reserved_ipsRequestBuilderRequestsMetadata,
    reservedIPs.Reserved_ipsRequestBuilderNavigationMetadata,
  );
  const path = "{+baseurl}/v2/reserved_ips";
  expect(shape).toEqual({
    verbs: [`get ${path}{?page*,per_page*}`, `post ${path}{?page*,per_page*}`],
    "byReserved_ip(reserved_ip)": {
      verbs: [`delete ${path}/{reserved_ip}`, `get ${path}/{reserved_ip}`],
      "actions()": {
        verbs: [`get ${path}/{reserved_ip}/actions`, `post ${path}/{reserved_ip}/actions`],
        "byAction_id(action_id)": { verbs: [`get ${path}/{reserved_ip}/actions/{action_id}`] },
      },
    },
  });
});

test("the real modules of reserved IPv6 addresses and of actions have what dots.d.ts declares", () => {
  const shape = shapeOf(
    reservedIPv6.Reserved_ipv6RequestBuilderRequestsMetadata,
    reservedIPv6.Reserved_ipv6RequestBuilderNavigationMetadata,
  );
  const path = "{+baseurl}/v2/reserved_ipv6";
  expect(shape).toEqual({
    verbs: [`get ${path}{?page*,per_page*}`, `post ${path}{?page*,per_page*}`],
    "byReserved_ipv6(reserved_ipv6)": {
      verbs: [`delete ${path}/{reserved_ipv6}`, `get ${path}/{reserved_ipv6}`],
      "actions()": { verbs: [`post ${path}/{reserved_ipv6}/actions`] },
    },
  });
  expect(shapeOf(action.WithAction_ItemRequestBuilderRequestsMetadata)).toEqual({
    verbs: ["get {+baseurl}/v2/actions/{action_id}"],
  });
});

test("the real modules of droplets and the account have what dots.d.ts declares", () => {
  expect(shapeOf(droplet.WithDroplet_ItemRequestBuilderRequestsMetadata)).toEqual({
    verbs: ["delete {+baseurl}/v2/droplets/{droplet_id}", "get {+baseurl}/v2/droplets/{droplet_id}"],
  });
  expect(shapeOf(account.AccountRequestBuilderRequestsMetadata)).toEqual({ verbs: ["get {+baseurl}/v2/account"] });
});

test("the real module of domains has what dots.d.ts declares", () => {
  const shape = shapeOf(undefined, domains.DomainsRequestBuilderNavigationMetadata);
  const path = "{+baseurl}/v2/domains/{domain_name}";
  const one = `${path}/records/{domain_record_id}`;
  const list = `${path}/records{?name*,page*,per_page*,type*}`;
  expect(shape).toEqual({
    verbs: [],
    "byDomain_name(domain_name)": {
      verbs: [`delete ${path}`, `get ${path}`],
      "records()": {
        verbs: [`get ${list}`, `post ${list}`],
        "byDomain_record_id(domain_record_id)": {
          verbs: [`delete ${one}`, `get ${one}`, `patch ${one}`, `put ${one}`],
        },
      },
    },
  });
});

test("the real modules of firewalls and droplets have what dots.d.ts declares", () => {
  const shape = shapeOf(
    firewalls.FirewallsRequestBuilderRequestsMetadata,
    firewalls.FirewallsRequestBuilderNavigationMetadata,
  );
  const path = "{+baseurl}/v2/firewalls";
  const below = (name: string): object => ({
    verbs: [`delete ${path}/{firewall_id}/${name}`, `post ${path}/{firewall_id}/${name}`],
  });
  expect(shape).toEqual({
    verbs: [`get ${path}{?page*,per_page*}`, `post ${path}{?page*,per_page*}`],
    "byFirewall_id(firewall_id)": {
      verbs: [`delete ${path}/{firewall_id}`, `get ${path}/{firewall_id}`, `put ${path}/{firewall_id}`],
      "droplets()": below("droplets"),
      "rules()": below("rules"),
      "tags()": below("tags"),
    },
  });
  expect(shapeOf(droplets.DropletsRequestBuilderRequestsMetadata)).toMatchObject({
    verbs: expect.arrayContaining(["get {+baseurl}/v2/droplets{?name*,page*,per_page*,tag_name*,type*}"]),
  });
});

test("importing and making the adapter loads neither the SDK nor kiota", () => {
  const url = new URL("../../../src/adapters/digitalocean/digitalocean.ts", import.meta.url).href;
  const systemClock = new URL("../../../src/cli/system-clock.ts", import.meta.url).href;
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { openDigitalOcean } = await import(${JSON.stringify(url)});
    const { SYSTEM_CLOCK: clock } = await import(${JSON.stringify(systemClock)});
    openDigitalOcean({ token: "x", userAgent: "flipop/0", clock });
    console.log(loaded.filter((name) => /node_modules\\/(?!valibot)/.test(name)).length, loaded.length > 5);
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(output.trim()).toBe("0 true");
});
