import type { Script } from "node:vm";

export function cacheOf(program: string): string;
export function compile(program: string): Script;
export function run(script: Script, program: string): void;
