import { memoryWorld } from "../scenario/memory-world.ts";
import { testRefusals } from "./refused.ts";

testRefusals(memoryWorld);
