/** True where every archive, program and command line is to be made, run and compared; else a part of them, the same at every run. */
export const PLAYS_ALL: boolean = process.env["PACKAGING"] === "all";
