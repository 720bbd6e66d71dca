/** Everything known about a reason. */
export interface ReasonFacts {
  /** The sentence that explains it. */
  readonly text: string;
  /** What ends what is held for it. `none`: nothing has to, or nothing is ever held for it. `time`: its own time. `reading`: a later reading, the provider is at work. `change`: something else has to change first. `run`: a later run. */
  readonly wait: "none" | "time" | "reading" | "change" | "run";
  /** True for a guard: what is held for it hurts somebody, and is left on purpose. It fails no run with `--partial ok`. */
  readonly isGuard?: true;
  /** What it means for an object that the whole of it is held; absent where it is served all the same. */
  readonly service?: ServiceEffect;
  /** What is said of a node in a list, as in "3 nodeLabel mismatch"; absent = the text. */
  readonly phrase?: string;
  /** The same where the firewall before the node is meant, and not the node; absent = {@link phrase} says it. */
  readonly firewallPhrase?: string;
  /** What is said of a subject instead of the held text of the action, where that would not be the point. */
  readonly held?: Readonly<Partial<Record<"object" | "address" | "name" | "formerName" | "firewall", string>>>;
  /** True where the particulars are a taint, as in `dedicated=db:NoSchedule`. */
  readonly isOfTaint?: true;
  /** What a person can do about it. */
  readonly advice?: string;
  /** What is said for a RoutedIP instead, where fields or words are meant that it does not have. `adviceBy`: the particulars tell what is invalid. */
  readonly routedIP?: { readonly text?: string; readonly advice?: string; readonly adviceBy?: "detail" };
  /** How the particulars are told, where not behind the text. `detail`: they are a whole sentence. `namesake`, `owner`: they name one. */
  readonly tell?: "detail" | "namesake" | "owner";
  /** True where `status.nodeErrors` names a node that is passed over for it. */
  readonly isNodeError?: true;
  /** True where Ready with this reason shows that the addresses of the object were looked at: no other pass writes it. */
  readonly hasAddresses?: true;
}

/** What a hold on a whole object, on its name or on its firewall means for how the object is served. `idle`: nothing is wanted. Else the category of the trouble. */
export type ServiceEffect = "idle" | "config" | "permission" | "temporary";
