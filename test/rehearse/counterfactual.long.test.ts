import { describeSmallestChanges } from "./smallest-changes.ts";

describeSmallestChanges(Array.from({ length: 180 }, (_, place) => 20 + place));
