/**
 * Servers for the tests of the dashboard: `mailstead dev`, with its user signed in. All test files of
 * a process share one server, which starts at the first call and ends with the process, and each file
 * has a project of its own in it (`newProject`). A file that needs other flags, stops its server or
 * changes what all projects share starts one of its own (`startDashboard`).
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { buildDashboard, sharedBrowser } from "./browser.ts";
import { isExecutable, startMailstead } from "./cli.ts";
import { startDnsServer, type TestDns } from "./dns-server.ts";
import { stringAt } from "./json.ts";
import { processFolder } from "./process-folder.ts";
import { shared } from "./shared.ts";
import { closeLeftTabs } from "./tabs.ts";

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/** A project of the shared server. */
export type DashboardProject = Pick<
  Dashboard,
  "url" | "info" | "log" | "cookie" | "secretKey" | "project" | "call"
>;

/**
 * Starts a server on free ports, with data that is removed at the end, and signs its user in:
 * `openPage(url, { cookie: server.cookie })` opens a page for that user.
 */
export async function startDashboard(
  words: readonly string[] = [],
  environment: Record<string, string> = {},
) {
  if (!isExecutable) buildDashboard();
  const isReady = (greeting: string) => greeting.endsWith("}\n");
  const ports = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];
  const server = await startMailstead(
    ["dev", "--json", "--data", "temporary", ...ports, ...words],
    isReady,
    { environment },
  );
  const info: unknown = JSON.parse(server.greeting);
  const url = stringAt(info, "url");
  const cookie = await signIn(url, stringAt(info, "dashboard"));
  const state = await call({ url, cookie }, "GET", "/app/api/state");
  const project = stringAt(state, "data.projects.0.id");
  return {
    ...server,
    info,
    url,
    /** The session, as in the header Cookie. */
    cookie,
    secretKey: stringAt(info, "secretKey"),
    project,
    /** Calls the interface as the signed-in user, for the project; resolves to the parsed body. */
    call: (method: string, path: string, body?: unknown) =>
      call({ url, cookie, project }, method, path, body),
  };
}

type SharedServer = Dashboard & {
  /** The name server that it asks. It has no records until a test adds some. */
  dns: TestDns;
};

/** Returns the server of this process, which starts at the first call and ends with the process. */
export const sharedServer = shared(
  startShared,
  // A test that takes too long ends the processes that it started.
  ({ child }) => child.exitCode === null && child.signalCode === null,
);

async function startShared(): Promise<SharedServer> {
  // The name server caches nothing for long, so that a test may change its records.
  const dns = await startDnsServer({ ttlSeconds: 0, negativeSeconds: 0 });
  const words = [`--dns=127.0.0.1:${dns.server.port}`, "--allow-private-addresses"];
  return { ...(await startDashboard(words, { TMPDIR: processFolder() })), dns };
}

let projects = 0;

/**
 * Makes a project with a secret key in the shared server. It is used once for each test file, so it
 * also undoes what the file before may have left: open pages, old sessions and settings of users.
 */
export async function newProject(): Promise<DashboardProject> {
  const [browser, server] = await Promise.all([sharedBrowser(), sharedServer()]);
  await closeLeftTabs(browser);
  resetUsers(server);
  const { url, info, log, cookie } = server;
  const made = await call({ url, cookie }, "POST", "/projects", { name: `Project ${++projects}` });
  const project = stringAt(made, "data.id");
  const key = await call({ url, cookie, project }, "POST", "/keys", { name: "Server" });
  return {
    url,
    info,
    log,
    cookie,
    project,
    secretKey: stringAt(key, "data.text"),
    call: (method, path, body) => call({ url, cookie, project }, method, path, body),
  };
}

/**
 * Opens the database of a server, to change what takes long to happen by itself. Only the server
 * writes its log back: it reports another process that does.
 */
export function openData(server: Pick<Dashboard, "info">): Database {
  const db = new Database(join(stringAt(server.info, "data"), "mailstead.db"));
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run("PRAGMA busy_timeout = 5000");
  return db;
}

/**
 * No user has settings, and all have entered their password just now. Accepted invitations are
 * forgotten, because an address may be invited only 20 times a day.
 */
function resetUsers(server: Dashboard): void {
  using db = openData(server);
  db.run("UPDATE users SET preferences = '{}'");
  db.run("DELETE FROM user_tokens WHERE kind = 'INVITATION' AND used_at IS NOT NULL");
  db.run("UPDATE user_sessions SET confirmed_at = ?", [Date.now()]);
}

/** Signs in as a browser that opens the address that the server printed; resolves to the header Cookie. */
async function signIn(url: string, dashboard: string): Promise<string> {
  const init = { headers: { accept: "text/html" }, redirect: "manual" } as const;
  const link = (await fetch(dashboard, init)).headers.get("location") ?? "";
  const token = new URL(link, url).hash.slice(1);
  const response = await fetch(`${url}/app/api/link`, {
    method: "POST",
    headers: { "content-type": "application/json", ...browserHeaders(url) },
    body: JSON.stringify({ token }),
  });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  if (cookie === "") throw new Error(`the sign-in link was refused: ${await response.text()}`);
  return cookie;
}

/** The headers that the server requires of requests with a cookie. */
const browserHeaders = (url: string) => ({ origin: url, "x-requested-with": "mailstead" });

async function call(
  { url, cookie, project }: { url: string; cookie: string; project?: string },
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: {
      cookie,
      ...browserHeaders(url),
      ...(project === undefined ? {} : { "x-project": project }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const answer: unknown = text === "" ? {} : JSON.parse(text);
  return answer;
}
