import { PROVIDERS } from "../../src/adapters/registry.ts";
import { GRANT_KINDS, type GrantMode, grantAnnotation } from "../../src/model/grants.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { Plan } from "../../src/model/plan.ts";
import { GROUP, type PoolStatus } from "../../src/model/resource.ts";
import type { PassResult, Selection } from "../../src/model/run.ts";
import type { SavedPlan } from "../../src/model/saved-plan.ts";
import { contentHash } from "../../src/model/text.ts";
import type { WriterDeps } from "../../src/pass.ts";
import { shardOf } from "../../src/plan/shards.ts";
import type { ClusterReader } from "../../src/ports/cluster.ts";
import type { IPProvider, ProviderAccess } from "../../src/ports/providers.ts";
import type { Clock, LockState } from "../../src/ports/system.ts";
import { type PlannedWorld, planPass } from "../../src/reconcile.ts";
import { savePlan } from "../../src/saved/saved-plan.ts";
import { readSavedPlan, writeSavedPlan } from "../../src/snapshot/saved-plan-shape.ts";
import { DNS_NAMES } from "../fake/dns-account.ts";
import { type PortCall, slowed } from "../fake/slowed.ts";
import { checkAnonymized } from "../snapshot/check-anonymized.ts";
import { checkSnapshot, snapshotText } from "../snapshot/check-snapshot.ts";
import { checkAnnounced } from "./announced.ts";
import type { Backend, Ports, WorldKind } from "./backend.ts";
import { DNSSafety, isServedBy } from "./dns-safety.ts";
import { HetznerCloud } from "./hetzner-cloud.ts";
import { instrumented } from "./instrument.ts";
import type { OperationFault } from "./operation-fault.ts";
import { short } from "./scenario-names.ts";
import { adapterClock, type RunEnd, type RunOptions, work } from "./scenario-run.ts";
import { checkImpactTold } from "./told-impact.ts";
import { WorldCloud } from "./world-cloud.ts";
import type { WorldDNS } from "./world-dns.ts";
import { WorldNodes } from "./world-nodes.ts";
import { WorldPods } from "./world-pods.ts";
import { WorldPools } from "./world-pools.ts";
import { WorldRecordSets } from "./world-record-sets.ts";
import { WorldRoutedIPs } from "./world-routed-ips.ts";

const WRITES: ReadonlySet<string> = new Set([
  "assign",
  "unassign",
  "create",
  "delete",
  "patchPoolStatus",
  "setPoolFinalizer",
  "notePoolAcquisitions",
  "patchRecordSetStatus",
  "setRecordSetFinalizer",
  "patchRoutedIPStatus",
  "setRoutedIPFinalizer",
  "noteRoutedIPAcquisitions",
  "openPorts",
  "closePorts",
  "addMachines",
  "removeMachines",
  "writeRecords",
  "annotateNode",
  "createEvent",
]);

/** An Event as stored. */
interface StoredEvent {
  readonly type: string;
  readonly action: string;
  readonly reason: string;
  readonly series?: { readonly count: number };
}

/** A cluster and an account in which scenarios play; the same for every backend. */
export class World {
  readonly kind: WorldKind;
  readonly pools: WorldPools;
  readonly recordSets: WorldRecordSets;
  readonly routedIPs: WorldRoutedIPs;
  readonly nodes: WorldNodes;
  readonly pods: WorldPods;
  readonly cloud: WorldCloud;
  readonly dns: WorldDNS;
  readonly dnsSafety: DNSSafety;
  protected readonly backend: Backend;
  /** Called after every run that ended by itself, to look at what it left. */
  afterRun: (() => Promise<void>) | undefined;
  /** How grants count from now on. */
  grants: GrantMode | "off" = "off";
  /** How long a call takes before it leaves, milliseconds; absent = no time. */
  takesMs: ((call: PortCall) => number | undefined) | undefined;
  readonly #provider: string;
  #runs = 0;
  #hasFaults = false;
  #before: { readonly method: string; readonly action: () => Promise<void> }[] = [];
  /** The other clusters on the same accounts. */
  readonly #beside: World[] = [];

  /** @param first - the world that this one stands beside */
  constructor(backend: Backend, first?: World) {
    this.backend = backend;
    this.kind = backend.kind;
    const { rest, clock, prefix, hetzner } = backend;
    this.#provider = hetzner === undefined ? "digitalocean" : "hetzner";
    const access = { rest, clock, prefix, provider: this.#provider };
    this.pools = new WorldPools(access);
    this.recordSets = new WorldRecordSets(access);
    this.routedIPs = new WorldRoutedIPs(access);
    this.nodes = new WorldNodes(access);
    this.pods = new WorldPods(access);
    this.cloud =
      hetzner === undefined
        ? new WorldCloud(backend.account, clock)
        : new HetznerCloud(hetzner, backend.account, clock);
    this.dns = backend.dns;
    const ready = (): ReturnType<WorldNodes["ready"]> => [this, ...this.#beside].flatMap(({ nodes }) => nodes.ready());
    this.dnsSafety = first?.dnsSafety ?? new DNSSafety(this.dns, isServedBy(this.cloud, ready));
  }

  /** Adds another cluster on the same accounts, with namespace `shop`. */
  async beside(): Promise<World>;
  async beside<W extends World>(make: (backend: Backend, first: World) => W): Promise<W>;
  async beside(make = (backend: Backend, first: World) => new World(backend, first)): Promise<World> {
    const other = make(await this.backend.beside(), this);
    await other.namespace();
    this.#beside.push(other);
    return other;
  }

  /** Creates namespace `shop`, or another. */
  async namespace(name = "shop"): Promise<void> {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: `${this.backend.prefix}${name}` } };
    await this.backend.rest("POST", "/api/v1/namespaces", body);
  }

  /** Writes what namespace `shop`, or another, grants: `names`, `firewalls` and so on; what is not given is taken away. */
  async grant(grants: Readonly<Record<string, string>>, name = "shop"): Promise<void> {
    const none = Object.fromEntries(GRANT_KINDS.map((kind) => [grantAnnotation(kind), null]));
    const given = Object.fromEntries(Object.entries(grants).map(([kind, text]) => [`${GROUP}/${kind}`, text]));
    const body = { metadata: { annotations: { ...none, ...given } } };
    await this.backend.rest("PATCH", `/api/v1/namespaces/${this.backend.prefix}${name}`, body);
  }

  /** Nodes of these names, each with its droplet. */
  async machines(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.cloud.droplet(name);
      await this.nodes.create(name);
    }
  }

  /** A namespace as the cluster knows it. */
  namespaceName(name: string): string {
    return `${this.backend.prefix}${name}`;
  }

  nowMs(): number {
    return this.backend.clock.nowMs();
  }

  /** Lets time pass while nothing runs. */
  advance(ms: number): void {
    this.backend.clock.advance(ms);
  }

  /** Plans a fault; it applies to whatever run comes next. */
  fail(fault: OperationFault): void {
    this.#hasFaults = true;
    this.backend.fail(this.#named(fault));
  }

  clearFaults(): void {
    this.#hasFaults = false;
    this.backend.clearFaults();
  }

  /** Does something else, once, just before the next call of this method of a port leaves the process. */
  before(method: string, action: () => Promise<void>): void {
    this.#before.push({ method, action });
  }

  /** Another run takes the Lease, as if this one had been asleep for too long. */
  async stealLease(): Promise<void> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.namespaceName("shop")}/leases/flipop`;
    const now = new Date(this.nowMs()).toISOString().replace("Z", "000Z");
    await this.backend.rest("PATCH", path, { spec: { holderIdentity: "thief", acquireTime: now, renewTime: now } });
  }

  /** Writes annotations of the Lease behind flipop's back; creates the Lease where there is none. */
  async annotateLease(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const namespace = this.namespaceName("shop");
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const { rest } = this.backend;
    await rest("PATCH", `${path}/flipop`, { metadata: { annotations } }).catch(() =>
      rest("POST", path, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "flipop", namespace, annotations },
      }),
    );
  }

  /** One pass of a new process. @throws what `reconcilePass` throws; Error when the process did not end by itself */
  async pass(options: Omit<RunOptions, "dieBeforeWrite"> = {}): Promise<PassResult> {
    const end = await this.run(options);
    if (end.kind !== "done") throw new Error(`the run ended ${end.kind}`);
    return end.result;
  }

  /** One pass of a process that dies before its n-th write. Returns false when it ended before that. */
  async crash(dieBeforeWrite: number, options: RunOptions = {}): Promise<boolean> {
    return (await this.run({ ...options, dieBeforeWrite })).kind === "died";
  }

  /** One run of a new process; the log of calls begins with it. */
  async run(options: RunOptions = {}): Promise<RunEnd> {
    const planned = await this.#planBefore(options);
    this.backend.clearLog();
    // What happens in the middle of a run can be announced by nobody.
    const isClear = this.#before.length === 0 && options.settle !== true && options.saved === undefined;
    const end = await this.runBeside(options);
    if (end.kind === "done" && isClear) checkAnnounced(end.result, planned);
    if (end.kind === "done") checkImpactTold(end.result.plan);
    if (end.kind === "done") await this.afterRun?.();
    return end;
  }

  /** True while no fault is planned, and nothing is to happen in the middle of a run. */
  protected get isUndisturbed(): boolean {
    return !this.#hasFaults && this.#before.length === 0 && this.takesMs === undefined;
  }

  /** What `plan` says right before a run in a clear world: no fault is planned that its reading could use up. Undefined elsewhere. */
  async #planBefore({ selection, ...others }: RunOptions): Promise<Plan | undefined> {
    const isClear =
      this.kind === "memory" && !this.#hasFaults && this.takesMs === undefined && Object.keys(others).length === 0;
    return isClear ? await this.plan(selection ?? {}) : undefined;
  }

  /** As {@link run}, beside another one: the log goes on. */
  async runBeside(options: RunOptions = {}): Promise<RunEnd> {
    const { clock } = this.backend;
    const running = clock.process();
    const pending = new Set<Promise<unknown>>();
    const death = Promise.withResolvers<RunEnd>();
    let writes = 0;
    let isDead = false;
    const life = {
      before: (method: string, args: readonly unknown[]) => this.doBefore(method, args),
      isDead: () => isDead,
      diesAt: (method: string) => {
        if (this.isWrite(method)) writes += 1;
        isDead ||= writes === options.dieBeforeWrite;
        if (isDead) death.resolve({ kind: "died" });
        return isDead;
      },
    };
    this.#runs += 1;
    let lock: LockState | undefined;
    const mayWrite = (): boolean => lock?.isHeld() !== false;
    const ports = this.backend.open(adapterClock(running.clock), { ...life, mayWrite });
    const deps = this.deps(running.clock, instrumented(ports, clock, life, pending), options);
    try {
      return await Promise.race([
        work(deps, { ...options, selection: this.#selection(options.selection ?? {}) }, this.#runs, (taken) => {
          lock = taken;
        }),
        death.promise,
      ]);
    } finally {
      isDead = true;
      await Promise.allSettled(pending);
      running.kill();
      ports.close();
    }
  }

  /** Lets a process that goes on see what the providers show now, before anything else happens; a single run knows nothing from before. */
  async look(): Promise<void> {
    await Promise.resolve();
  }

  /** The Warnings of namespace `shop`, as `ACTION REASON xCOUNT`, sorted. */
  async warnings(): Promise<readonly string[]> {
    const path = `/apis/events.k8s.io/v1/namespaces/${this.namespaceName("shop")}/events`;
    const { items } = (await this.backend.rest("GET", path)) as { readonly items: readonly StoredEvent[] };
    return items
      .filter(({ type }) => type === "Warning")
      .map(({ action, reason, series }) => `${action} ${reason} x${series?.count ?? 1}`)
      .toSorted();
  }

  /** What a run would do; writes nothing. */
  async plan(selection: Selection = {}): Promise<Plan> {
    return (await this.#planned(selection)).plan;
  }

  /** The same as it is saved, and as it comes back from its file. */
  async savePlan(selection: Selection = {}): Promise<SavedPlan> {
    const { observation: world, plan } = await this.#planned(selection);
    const about = { clusterUID: "cluster", selection: this.#selection(selection), limits: {} };
    return readSavedPlan(JSON.parse(JSON.stringify(writeSavedPlan(savePlan({ world, plan }, about)))));
  }

  async #planned(selection: Selection): Promise<PlannedWorld> {
    const running = this.backend.clock.process();
    const life = { isDead: () => false, diesAt: () => false, before: async () => undefined };
    const ports = this.backend.open(adapterClock(running.clock), { ...life, mayWrite: () => false });
    const own = instrumented(ports, this.backend.clock, life, new Set());
    try {
      const { observation, plan } = await planPass(this.deps(running.clock, own), this.#selection(selection));
      if (isLooked(plan) && isNew(observation, plan, selection)) {
        checkSnapshot(observation, plan, this.#selection(selection));
        checkAnonymized(observation);
      }
      await this.note({ observation, plan }, ports.cluster);
      return { observation, plan };
    } finally {
      running.kill();
      ports.close();
    }
  }

  /** Is shown every world that was planned, and its cluster. */
  protected async note(_planned: PlannedWorld, _cluster: ClusterReader): Promise<void> {
    await Promise.resolve();
  }

  /** Requests about addresses since the last run began: all, and those that change something. */
  cloudCalls(): readonly string[] {
    return this.#lines(({ side }) => side === "cloud");
  }

  cloudWrites(): readonly string[] {
    return this.#lines(({ side, isWrite }) => side === "cloud" && isWrite);
  }

  /** Requests to DNS providers since the last run began: all, and those that change something. */
  dnsCalls(): readonly string[] {
    return this.#lines(({ side }) => side === "dns");
  }

  dnsWrites(): readonly string[] {
    return this.#lines(({ side, isWrite }) => side === "dns" && isWrite);
  }

  /** Every write since the last run began, in order, the Lease aside. */
  writes(): readonly string[] {
    return this.#lines(({ isWrite }) => isWrite);
  }

  /** Writes to Kubernetes since the last run began, the Lease aside. */
  kubeWrites(): readonly string[] {
    return this.#lines(({ side, isWrite }) => side === "cluster" && isWrite);
  }

  /** How often namespaces were listed since the last run began. */
  namespaceLists(): number {
    return this.#lines(({ line }) => line === "list namespaces").length;
  }

  /** A pool's addresses, one line each: `ip1 active n1`, `ip2 no-match n2 (HolderLost)`. */
  async show(pool = "web"): Promise<readonly string[]> {
    return addressLines(await this.pools.status(pool));
  }

  /** The same of a RoutedIP. */
  async showRouted(name = "vip"): Promise<readonly string[]> {
    return addressLines(await this.routedIPs.status(name));
  }

  /** Lets the requests that were given up, and still hang in a server, have their effect. */
  async lateEffects(): Promise<void> {
    if (this.kind !== "memory") await new Promise((resolve) => setTimeout(resolve, 800));
  }

  /** Ends the world and takes its objects away. */
  async close(): Promise<void> {
    this.clearFaults();
    for (const other of this.#beside) await other.backend.close();
    await this.pools.removeAll();
    await this.recordSets.removeAll();
    await this.routedIPs.removeAll();
    await this.pods.removeAll();
    await this.nodes.removeAll();
    await this.backend.close();
  }

  protected deps(
    clock: Clock,
    { cluster, provider, providerIPv6, otherProvider, dns, firewalls }: Ports,
    { withoutToken = [], withoutAddresses = [], selection = {} }: RunOptions = {},
  ): Omit<WriterDeps, "lock"> {
    const leaseName = { namespace: `${this.backend.prefix}shop`, name: "flipop" };
    const grants = (): WriterDeps["grants"] => this.grants;
    const slow = <T extends object>(name: string, port: T): T =>
      slowed(name, port, clock, (call) => this.takesMs?.(call));
    const access = (name: string, port: IPProvider): ProviderAccess<IPProvider> =>
      withoutAddresses.includes(port.name)
        ? { kind: "no-token", name: port.name, variables: ["TOKEN"] }
        : { kind: "usable", provider: slow(name, port) };
    return {
      cluster: slow("cluster", cluster),
      clock,
      get grants() {
        return grants();
      },
      leaseName,
      shard: shardOf(selection),
      providers: new Map<string, ProviderAccess<IPProvider>>([
        [this.#provider, access("addresses", provider)],
        ...(providerIPv6 === undefined
          ? []
          : [[providerIPv6.name, { kind: "usable", provider: slow("IPv6 addresses", providerIPv6) }] as const]),
        ...(otherProvider === undefined
          ? []
          : [[otherProvider.name, access("other addresses", otherProvider)] as const]),
      ]),
      registry: PROVIDERS,
      firewallProviders: new Map([[firewalls.name, { kind: "usable", provider: slow("firewalls", firewalls) }]]),
      dnsProviders: new Map(
        DNS_NAMES.map((name) => [
          name,
          withoutToken.includes(name)
            ? { kind: "no-token", name, variables: [`${name.toUpperCase()}_TOKEN`] }
            : { kind: "usable", provider: slow(name, dns[name]) },
        ]),
      ),
    };
  }

  #selection({ namespace, objects, ...rest }: Selection): Selection {
    const { prefix } = this.backend;
    return {
      ...rest,
      ...(namespace === undefined ? {} : { namespace: `${prefix}${namespace}` }),
      ...(objects === undefined ? {} : { objects: objects.map((key) => objectIn(prefix, key)) }),
    };
  }

  #named(fault: OperationFault): OperationFault {
    const isNamed = ["annotateNode", "listPods", "listEndpointSlices"].includes(fault.operation);
    return isNamed && fault.subject !== undefined
      ? { ...fault, subject: `${this.backend.prefix}${fault.subject}` }
      : fault;
  }

  /** Whether a method of a port changes something, the Lease aside. */
  protected isWrite(method: string): boolean {
    return WRITES.has(method);
  }

  protected async doBefore(method: string, args: readonly unknown[]): Promise<void> {
    if (method === "unassign") this.dnsSafety.checkUnassignment(String(args[0]));
    const due = this.#before.find((entry) => entry.method === method);
    this.#before = this.#before.filter((entry) => entry !== due);
    await due?.action();
  }

  #lines(isWanted: (call: ReturnType<Backend["log"]>[number]) => boolean): readonly string[] {
    return this.backend
      .log()
      .filter(isWanted)
      .map(({ line }) => line);
  }
}

/** `pool/NAMESPACE/NAME`, which the kind may be left out of, with the namespace as the cluster knows it. */
function objectIn(prefix: string, key: string): string {
  const [first = "", ...rest] = key.split("/");
  return first === "dns" ? `dns/${prefix}${rest.join("/")}` : `pool/${prefix}${key}`;
}

function addressLines({ ips }: Pick<PoolStatus, "ips">): readonly string[] {
  return Object.entries(ips)
    .map(([address, { state, nodeName, reason }]) =>
      [short(address), state, nodeName ?? "", reason === undefined ? "" : `(${reason})`]
        .filter((word) => word !== "")
        .join(" "),
    )
    .sort();
}

/** `SNAPSHOTS=all` compares every plan with that of a snapshot; else one of eight, the same at every run. */
function isLooked({ planID }: Plan): boolean {
  return process.env["SNAPSHOTS"] === "all" || Number.parseInt(planID.slice(0, 8), 16) % 8 === 0;
}

/** Worlds that were looked at. Histories begin alike, and what they have in common needs no second look. */
const LOOKED_AT = new Set<string>();

function isNew(observation: Observation, { planID }: Plan, selection: Selection): boolean {
  const world = contentHash(snapshotText(observation) + planID + JSON.stringify(selection));
  const isFirst = !LOOKED_AT.has(world);
  LOOKED_AT.add(world);
  return isFirst;
}
