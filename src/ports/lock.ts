/** What a mutating run needs of the lock it holds. */
export interface LockState {
  /** True while mutations are allowed; asked before each one. */
  isHeld(): boolean;
  /** Fires when the lock is lost. */
  readonly lost: AbortSignal;
  /** The annotations of the lock as last read or written. */
  annotations(): Readonly<Record<string, string>>;
  /** Leaves notes for later runs on the lock: sets (string) or removes (null) annotations. Throws when the lock is lost. */
  annotate(changes: Readonly<Record<string, string | null>>): Promise<void>;
}
