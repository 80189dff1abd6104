/**
 * Develops the dashboard: runs `mailstead dev` with the given arguments, which restarts when its
 * sources change, and serves the dashboard from source on port 8026, where a change of its sources
 * loads the page again. All other requests go to that server.
 *
 * `bun scripts/dev.ts [OPTIONS OF mailstead dev]`
 *
 * A sign-in on the printed address is also one on port 8026, because cookies ignore the port.
 */

import { resolve } from "node:path";
import dashboard from "../src/dashboard/index.html";

const ROOT = resolve(import.meta.dir, "..");
const SERVER_PORT = 8025;
const PORT = 8026;

const server = Bun.spawn(
  [
    process.execPath,
    "--watch",
    "src/main.ts",
    "dev",
    "--port",
    `${SERVER_PORT}`,
    ...Bun.argv.slice(2),
  ],
  { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] },
);

/** Sends a request to the server; the response is a stream, as live updates need it. */
async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const target = `http://127.0.0.1:${SERVER_PORT}${pathname}${search}`;
  // The header Host stays, because the server compares it with Origin.
  return fetch(target, {
    method: request.method,
    headers: request.headers,
    body: request.body,
    redirect: "manual",
    decompress: false,
    signal: request.signal,
  });
}

const pages = Bun.serve({
  hostname: "127.0.0.1",
  port: PORT,
  idleTimeout: 0,
  development: { hmr: true },
  routes: {
    "/app": dashboard,
    "/app/*": dashboard,
    "/app/api/*": forward,
    "/app/assets/*": forward,
  },
  fetch: forward,
});
console.log(`Dashboard from source: ${pages.url.href}app`);

process.on("SIGINT", () => server.kill());
process.on("SIGTERM", () => server.kill());
process.exitCode = await server.exited;
await pages.stop(true);
