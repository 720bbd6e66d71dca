#!/usr/bin/env node
// Starts flipop with the Node that `npm ci` puts into the checkout. Where there is none, or where it does not run, the Node that
// runs this file starts flipop, if it is new enough. Node 12 and newer understand this file, so that old ones can say what is missing.
"use strict";

const fs = require("fs");
const path = require("path");

/** The oldest Node that runs flipop, as package.json says in `engines`. */
const OLDEST = [22, 18];

/** What a supervisor, a terminal or a person may send. The program decides what it means. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** A terminal sends these to all processes of a job at once. */
const OF_TERMINAL = ["SIGINT", "SIGQUIT"];

const ROOT = path.dirname(__dirname);
const START = path.join(__dirname, "start.js");
const isWindows = process.platform === "win32";
const isCheckout = fs.existsSync(path.join(ROOT, "package-lock.json"));

/** True where this process can become another program: Windows has no such call, and Node before 22.15 does not make it. */
const canBecome = !isWindows && process.execve !== undefined;

function launch() {
  if (isCheckout && !fs.existsSync(path.join(ROOT, "node_modules"))) {
    refuse(`its packages are not installed. Run 'npm ci' in ${ROOT}, which brings Node.js along, too.`);
    return;
  }
  const isFit = isNewEnough(process.version);
  const inThisProcess = isFit && !canBecome;
  const node = (inThisProcess ? undefined : bundledNode()) || (isFit ? process.execPath : undefined);
  if (node === undefined) {
    const idle = isCheckout ? ", and npm brought none that runs here" : "";
    refuse(`needs Node.js ${OLDEST.join(".")} or newer, found ${process.version}${idle}. Install a newer one.`);
    return;
  }
  if (inThisProcess) startHere();
  else start(node);
}

/** Says why flipop does not start. */
function refuse(why) {
  process.stderr.write(`flipop: ${why}\n`);
  process.exitCode = 78;
}

/**
 * Returns the name under which the program appears, if another than usual, and its arguments. Links to this file make flipop a plugin
 * of kubectl, which runs the one for `kubectl flipop`, and asks the other one what to offer at TAB.
 */
function called() {
  const args = process.argv.slice(2);
  switch (path.basename(process.argv[1], ".cjs")) {
    case "kubectl-flipop":
      return { title: "kubectl flipop", args };
    case "kubectl_complete-flipop":
      return { title: undefined, args: ["__complete", "--", ...args] };
    default:
      return { title: undefined, args };
  }
}

/** Returns the path of the Node that npm installed, which npm scripts use, too; undefined where it is missing or does not run, as on Alpine and NixOS. */
function bundledNode() {
  const own = isWindows ? `node-win-${process.arch}/bin/node.exe` : ".bin/node";
  const file = path.join(ROOT, "node_modules", own);
  if (!fs.existsSync(file)) return undefined;
  if (fs.realpathSync(file) === process.execPath) return file;
  const { stdout } = require("child_process").spawnSync(file, ["-v"], { encoding: "utf8", windowsHide: true });
  return isNewEnough(stdout) ? file : undefined;
}

/** True if `version`, such as v22.18.0, is at least the oldest one. */
function isNewEnough(version) {
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) || [];
  return Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
}

/** Runs the program in this process. */
function startHere() {
  const { title, args } = called();
  if (title !== undefined) process.title = title;
  process.argv = [process.execPath, START, ...args];
  void import(require("url").pathToFileURL(START).href);
}

/** Turns this process into `node` with the program, or else starts it beside this process. */
function start(node) {
  const { title, args } = called();
  // Pages of big lists are garbage as soon as they are read. A small young generation gives their memory back early: with
  // 50,000 pods the peak is 200 MB instead of 280, in no more time (measured on Node 24.21).
  // Every Node that is new enough knows --disable-sigusr1. The signal does nothing then, instead of opening a port for a debugger.
  const own = ["--max-semi-space-size=8", "--disable-sigusr1"];
  const flags = [...own, ...(title === undefined ? [] : [`--title=${title}`]), ...process.execArgv];
  if (canBecome) process.execve(node, [node, ...flags, START, ...args], process.env);
  else startChild(node, [...flags, START, ...args]);
}

/**
 * Runs the program in a process of its own. What this process is sent goes on to the program, and this process ends as the program
 * ended. The channel tells the program when this process is gone.
 */
function startChild(node, args) {
  const child = require("child_process").spawn(node, args, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  const isOnTerminal = hasTerminal();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // The program has it from the terminal already; a second one would end it at once.
      if (!(isOnTerminal && OF_TERMINAL.includes(signal))) child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** True if a terminal controls this process. */
function hasTerminal() {
  if (isWindows) return true;
  try {
    fs.closeSync(fs.openSync("/dev/tty", "r"));
    return true;
  } catch (_) {
    return false;
  }
}

launch();
