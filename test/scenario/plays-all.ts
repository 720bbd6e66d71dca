/** True where every scenario is to be played; else a part of them, the same at every run, so that the suite keeps to its time. */
export const PLAYS_ALL: boolean = process.env["SCENARIOS"] === "all";
