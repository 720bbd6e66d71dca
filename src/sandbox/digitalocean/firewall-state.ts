/** Whom a rule is about; a list that is not there is empty. */
export interface TargetState {
  addresses?: string[];
  droplet_ids?: number[];
  load_balancer_uids?: string[];
  kubernetes_ids?: string[];
  tags?: string[];
}

interface RuleState {
  protocol: "tcp" | "udp" | "icmp";
  /** `80`, `8000-9000`, `0` for all ports, always so for icmp. */
  ports: string;
  /** Absent = allow. */
  action?: "allow" | "deny";
}

/** A rule for what comes in. */
export interface InboundState extends RuleState {
  sources: TargetState;
}

/** A rule for what goes out. */
export interface OutboundState extends RuleState {
  destinations: TargetState;
}

/** A change that is not carried out to a droplet yet. */
interface PendingChangeState {
  droplet_id: number;
  removing: boolean;
  /** `failed` = given up at this droplet, until its next change. Absent = `waiting`. */
  status?: "waiting" | "failed";
  /** RFC 3339. Absent = it never ends by itself, not even when its droplet is deleted. */
  completes_at?: string;
}

/** A cloud firewall of the emulated account. */
export interface FirewallState {
  id: string;
  name: string;
  inbound_rules: InboundState[];
  outbound_rules: OutboundState[];
  /** Droplets attached one by one. */
  droplet_ids: number[];
  tags: string[];
  /** Written by hand: the last change was given up, or is at work without naming a droplet. The next change takes it away. */
  status?: "waiting" | "failed";
  /** Absent = none. */
  pending_changes?: PendingChangeState[];
}
