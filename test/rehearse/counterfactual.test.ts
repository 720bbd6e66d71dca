import { describeSmallestChanges } from "./smallest-changes.ts";

/** The first worlds, for every save and commit; the others are long. */
describeSmallestChanges(Array.from({ length: 20 }, (_, seed) => seed));
