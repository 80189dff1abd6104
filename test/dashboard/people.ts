/** A server with people of every role, and pages that each of them opens. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import {
  type Dashboard,
  type Layout,
  openPage,
  startDashboard,
  withoutLiveMessages,
} from "../support/browser.ts";
import { stringAt } from "../support/json.ts";

export const PASSWORD = "the harbour is quiet at night";

/** The header Cookie of each. */
export type People = { owner: string; admin: string; editor: string; viewer: string };
export type Person = keyof People;
export type PeopledServer = Dashboard & { people: People };

/** Starts a server whose project has an admin, an editor and a viewer, who have a password. `words` are flags. */
export async function startWithPeople(words: readonly string[] = []): Promise<PeopledServer> {
  const server = await startDashboard(words);
  const people = {
    owner: server.cookie,
    admin: await accept(server, "Anna Admin", "ADMIN"),
    editor: await accept(server, "Eva Editor", "EDITOR"),
    viewer: await accept(server, "Vera Viewer", "VIEWER"),
  };
  return { ...server, people };
}

/** Invites a person, who accepts; resolves to the header Cookie of the new session. */
async function accept(server: Dashboard, name: string, role: string): Promise<string> {
  const email = `${name.split(" ")[0]?.toLowerCase()}@acme.example`;
  const invited = await server.call("POST", "/team/invitations", { email, role });
  const token = new URL(stringAt(invited, "data.link")).hash.slice(1);
  const response = await fetch(`${server.url}/app/api/invitation/accept`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: server.url,
      "x-requested-with": "mailstead",
    },
    body: JSON.stringify({ token, name, password: PASSWORD }),
  });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  if (cookie === "") throw new Error(`the invitation was refused: ${await response.text()}`);
  return cookie;
}

/** Makes all sessions old enough that the password must be entered again. */
export function ageSessions(server: Dashboard): void {
  const db = new Database(join(stringAt(server.info, "data"), "mailstead.db"));
  db.run("UPDATE user_sessions SET confirmed_at = confirmed_at - 3600000");
  db.close();
}

/** The status of a request that a person sends without the dashboard. */
export async function statusOf(
  server: PeopledServer,
  person: Person,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
): Promise<number> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      cookie: server.people[person],
      origin: server.url,
      "x-requested-with": "mailstead",
      "x-project": server.project,
      "content-type": "application/json",
    },
    ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
  });
  return response.status;
}

type Options = {
  person?: Person;
  layout?: Layout;
  prepare?: (page: Page) => Promise<void>;
  /** Whether the page follows changes on the server; by default it does not. */
  isLive?: boolean;
};

/** Opens a page below the project, such as `/keys`; by default for the admin. */
export function openAs(
  browser: Browser,
  server: PeopledServer,
  path: string,
  { person = "admin", layout = "light", prepare, isLive = false }: Options = {},
) {
  return openPage(browser, `${server.url}/app/p/${server.project}${path}`, {
    layout,
    cookie: server.people[person],
    prepare: async (page) => {
      if (!isLive) await withoutLiveMessages(page);
      await prepare?.(page);
    },
  });
}

/**
 * Makes the requests of a list fail, until `page.unroute` with the same pattern. The stream of live
 * messages does not open, because that would read the list again before the button does.
 */
export const failingList = (path: string) => async (page: Page) => {
  await page.route("**/app/api/live*", () => undefined);
  await page.route(`**${path}?*`, (route) => route.fulfill({ status: 500, json: FAILURE }));
};

const FAILURE = {
  success: false,
  error: { code: "X", message: "The list is not available.", requestId: "r-1" },
};
