#!/usr/bin/env node
// Runs the program in this system's package, which is an optional dependency of this one.
const { spawn } = require("node:child_process");
const { name } = require("./package.json");

const system = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}-${system}/tnr${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: package '${name}-${system}' is not installed; install '${name}' without --omit=optional, or use the container image on systems without a package, such as Alpine`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both processes, and `tnr` stops immediately on a second signal.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: failed to run '${program}': ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
