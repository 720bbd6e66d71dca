/** Work that may take long, and stops again and again so that something else can be done in between. It ends with what was made; whoever does it goes on at once or later. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does the work without a stop. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Makes something of each entry of a list, and stops after each. */
export function* eachInSteps<E, T>(list: readonly E[], make: (entry: E) => T): Steps<readonly T[]> {
  const made: T[] = [];
  for (const entry of list) {
    made.push(make(entry));
    yield;
  }
  return made;
}
