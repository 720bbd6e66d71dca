import { RESOURCES } from "../../src/adapters/kube/call.ts";
import {
  decodePool,
  decodeRecordSet,
  decodeRoutedIP,
  decodeRoutedIPIssuer,
} from "../../src/adapters/kube/custom-resources.ts";
import { decodeNode } from "../../src/adapters/kube/node.ts";
import { decodePod } from "../../src/adapters/kube/pod.ts";
import { decodeEndpointSlice, decodeService } from "../../src/adapters/kube/service.ts";
import type { IPFamily } from "../../src/model/address-source.ts";
import type { NodeFacts, PodFacts } from "../../src/model/node.ts";
import { objectKey, type Pool, type RecordSet } from "../../src/model/resource.ts";
import type { EndpointSliceFacts } from "../../src/model/service.ts";
import { SHARD_LABEL } from "../../src/model/shard.ts";
import { familyOf } from "../../src/sandbox/digitalocean/actions.ts";
import type { Cloud } from "../../src/sandbox/digitalocean/cloud.ts";
import type { AddressState } from "../../src/sandbox/digitalocean/cloud-state.ts";
import { digitaloceanSandbox } from "../../src/sandbox/digitalocean/digitalocean-sandbox.ts";
import {
  type KubernetesSandbox,
  kubernetesSandbox,
  shippedCRDs,
} from "../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { type KubeObject, storeKey } from "../../src/sandbox/kubernetes/object-store.ts";
import type { ResourceType } from "../../src/sandbox/kubernetes/resource-types.ts";
import {
  boundlessCloudflare,
  cloudflareDNSAccount,
  type DNSAccount,
  digitalOceanDNSAccount,
  memoryDNSAccount,
} from "../fake/dns-account.ts";
import type { DNSProviderName } from "./history.ts";
import { RoutedPools } from "./routed-pools.ts";
import { Scheduler } from "./scheduler.ts";

const CRDS = shippedCRDs();
/** Zones that both providers have in the beginning. */
export const ZONES = ["example.com", "example.org"] as const;
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** The emulated cluster and account of one history, and the truth about them. */
export class World {
  readonly scheduler: Scheduler = new Scheduler(START_MS);
  readonly kubernetes: KubernetesSandbox;
  readonly cloud: Cloud;
  readonly dns: Readonly<Record<DNSProviderName, DNSAccount>>;
  /** By the name of an object, the label of its shard that it is created with. */
  shards: Readonly<Record<string, string>> = {};
  readonly #decoded = new WeakMap<KubeObject, unknown>();
  readonly #routed = new RoutedPools();
  #uids = 0;

  constructor() {
    this.kubernetes = kubernetesSandbox({
      now: () => this.scheduler.nowMs(),
      crds: CRDS,
      newUID: () => {
        this.#uids += 1;
        return `00000000-0000-4000-8000-${String(this.#uids).padStart(12, "0")}`;
      },
    });
    for (const name of ["flipop", "shop"])
      this.kubernetes.api.create(this.type("namespaces"), undefined, {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      });
    const now = (): number => this.scheduler.nowMs();
    const rate_limit = { per_hour: 1_000_000, per_minute: 1_000_000 };
    const digitalocean = digitaloceanSandbox({
      now,
      state: {
        account: { reserved_ip_limit: 100 },
        settings: { rate_limit, action_delay_ms: 0, creations_per_minute: 1000 },
      },
    });
    this.cloud = digitalocean.cloud();
    this.dns = {
      digitalocean: digitalOceanDNSAccount(digitalocean),
      cloudflare: cloudflareDNSAccount(boundlessCloudflare({ now })),
      hetzner: memoryDNSAccount("hetzner", now),
      webhook: memoryDNSAccount("webhook", now),
    };
    for (const account of Object.values(this.dns)) for (const zone of ZONES) account.addZone(zone);
  }

  nowMs(): number {
    return this.scheduler.nowMs();
  }

  /** The definition of a resource. */
  type(plural: "namespaces" | keyof typeof RESOURCES): ResourceType {
    const { group, version, plural: name } = plural === "namespaces" ? CORE_NAMESPACES : RESOURCES[plural];
    const type = this.kubernetes.api.types.byPlural(group, version, name);
    if (type === undefined) throw new Error(`no resource ${plural}`);
    return type;
  }

  /** Every pool as stored, and every RoutedIP as the pool that it is. */
  pools(): readonly Pool[] {
    const routed = this.#all("routedIPs", decodeRoutedIP);
    const pools = this.#all("pools", decodePool);
    if (routed.length === 0) return pools;
    const issuers = this.#all("issuers", decodeRoutedIPIssuer);
    const services = this.#all("services", decodeService);
    return [...pools, ...routed.map((routedIP) => this.#routed.of(routedIP, issuers, services))];
  }

  /** Every EndpointSlice as stored. */
  endpointSlices(): readonly EndpointSliceFacts[] {
    return this.#all("endpointSlices", decodeEndpointSlice);
  }

  /** Every record set as stored. */
  recordSets(): readonly RecordSet[] {
    return this.#all("recordSets", decodeRecordSet);
  }

  nodes(): readonly NodeFacts[] {
    return this.#all("nodes", decodeNode);
  }

  /** Those with the label that objects ask for. */
  pods(): readonly PodFacts[] {
    return this.#all("pods", (pod) =>
      (pod as KubeObject).metadata.labels?.["app"] === "web" ? decodePod(pod) : undefined,
    );
  }

  pool(key: string): Pool | undefined {
    return this.pools().find(({ meta }) => objectKey(meta) === key);
  }

  /** Every address of the account, actions that are due carried out, sorted by text. */
  addresses(): readonly AddressState[] {
    this.cloud.settle(this.nowMs());
    const { reserved_ips, byoip, reserved_ipv6 } = this.cloud.state;
    return [...reserved_ips, ...byoip, ...reserved_ipv6].toSorted((a, b) => (a.ip < b.ip ? -1 : 1));
  }

  /** Those of one family. */
  addressesOf(family: IPFamily): readonly AddressState[] {
    return this.addresses().filter(({ ip }) => familyOf(ip) === family);
  }

  address(ip: string): AddressState | undefined {
    return this.addresses().find((address) => address.ip === ip);
  }

  /** Labels of a new object. */
  labelsOf(name: string): { readonly labels?: Readonly<Record<string, string>> } {
    const shard = this.shards[name];
    return shard === undefined ? {} : { labels: { [SHARD_LABEL]: shard } };
  }

  /** Who holds a Lease, by the stored record; `""` for nobody. */
  leaseHolder(name = "flipop"): string {
    const lease = this.kubernetes.api.store.get(storeKey(this.type("leases")), `flipop/${name}`);
    const spec = lease?.["spec"] as LeaseSpec | undefined;
    return spec?.holderIdentity ?? "";
  }

  /** True while somebody holds a Lease and has renewed it less than its duration ago. */
  isLeaseFresh(name: string, holder: string): boolean {
    const lease = this.kubernetes.api.store.get(storeKey(this.type("leases")), `flipop/${name}`);
    const spec = lease?.["spec"] as LeaseSpec | undefined;
    const renewedMs = Date.parse(spec?.renewTime ?? "");
    return spec?.holderIdentity === holder && this.nowMs() < renewedMs + (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  leaseAnnotations(): Readonly<Record<string, string>> {
    const lease = this.kubernetes.api.store.get(storeKey(this.type("leases")), "flipop/flipop");
    return lease?.metadata.annotations ?? {};
  }

  #all<T>(plural: keyof typeof RESOURCES, decode: (object: unknown) => T | undefined): readonly T[] {
    return this.kubernetes.api.store.all(storeKey(this.type(plural))).flatMap((object) => {
      const known = this.#decoded.get(object) as T | undefined;
      const value = known ?? decode(object);
      if (value === undefined) return [];
      this.#decoded.set(object, value);
      return [value];
    });
  }
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly renewTime?: string;
  readonly leaseDurationSeconds?: number;
}

const CORE_NAMESPACES = { group: "", version: "v1", plural: "namespaces" };
