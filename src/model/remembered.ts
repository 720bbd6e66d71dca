/**
 * Returns a function that makes what `make` does, once for each value and the texts beside it, and keeps it as long as the value exists. So lists that a process has
 * anew only when something changed, and that objects which ask alike share, are gone through once. `make` must be pure.
 */
export function remembered<V extends object, A extends readonly string[], T extends object>(
  make: (value: V, ...beside: A) => T,
): (value: V, ...beside: A) => T {
  const made = new WeakMap<V, Map<string, T>>();
  return (value, ...beside) => {
    const own = made.get(value) ?? new Map<string, T>();
    made.set(value, own);
    const key = beside.join(" ");
    const before = own.get(key);
    if (before !== undefined) return before;
    const now = make(value, ...beside);
    own.set(key, now);
    return now;
  };
}
