/** Projects with people of every role, and pages that each of them opens. */

import type { Page } from "playwright-core";
import { type Layout, openPage, withoutLiveMessages } from "../support/browser.ts";
import {
  type Dashboard,
  type DashboardProject,
  newProject,
  openData,
  sharedServer,
  startDashboard,
} from "../support/dashboard-server.ts";
import { stringAt, valueAt } from "../support/json.ts";

export const PASSWORD = "the harbour is quiet at night";

/** The header Cookie of each. */
export type People = { owner: string; admin: string; editor: string; viewer: string };
export type Person = keyof People;
export type PeopledServer = Dashboard & { people: People };
export type PeopledProject = DashboardProject & { people: People };

const MEMBERS = { admin: "Anna Admin", editor: "Eva Editor", viewer: "Vera Viewer" } as const;

/** The sessions of the members, who are members of each project of the shared server. */
const sessionsOf = new WeakMap<object, Omit<People, "owner">>();

/**
 * Makes a project in the shared server. The admin, the editor and the viewer have the password
 * PASSWORD, and the same sessions in all projects: a test that ends one or changes a user invites a
 * person of its own (`invite`).
 */
export async function newProjectWithPeople(): Promise<PeopledProject> {
  const [server, project] = await Promise.all([sharedServer(), newProject()]);
  const known = sessionsOf.get(server.child);
  const people = {
    owner: project.cookie,
    admin: (await invite(project, MEMBERS.admin, "ADMIN", known?.admin)) ?? known?.admin ?? "",
    editor: (await invite(project, MEMBERS.editor, "EDITOR", known?.editor)) ?? known?.editor ?? "",
    viewer: (await invite(project, MEMBERS.viewer, "VIEWER", known?.viewer)) ?? known?.viewer ?? "",
  };
  sessionsOf.set(server.child, people);
  return { ...project, people };
}

/** Starts a server with flags, whose project has an admin, an editor and a viewer. */
export async function startWithPeople(words: readonly string[]): Promise<PeopledServer> {
  const server = await startDashboard(words);
  const people = {
    owner: server.cookie,
    admin: (await invite(server, MEMBERS.admin, "ADMIN")) ?? "",
    editor: (await invite(server, MEMBERS.editor, "EDITOR")) ?? "",
    viewer: (await invite(server, MEMBERS.viewer, "VIEWER")) ?? "",
  };
  return { ...server, people };
}

/**
 * Invites a person with the address `FIRST NAME@acme.example`, who accepts. Resolves to the header
 * Cookie of the session of a new user, whose address counts as proven, and to null for a known one,
 * who accepts with the session of `cookie`.
 */
export async function invite(
  project: DashboardProject,
  name: string,
  role: "ADMIN" | "EDITOR" | "VIEWER",
  cookie = "",
): Promise<string | null> {
  const email = `${name.split(" ")[0]?.toLowerCase()}@acme.example`;
  const invited = await project.call("POST", "/team/invitations", { email, role });
  const token = new URL(stringAt(invited, "data.link")).hash.slice(1);
  const response = await fetch(`${project.url}/app/api/invitation/accept`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: project.url,
      "x-requested-with": "mailstead",
      cookie,
    },
    body: JSON.stringify({ token, name, password: PASSWORD }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`the invitation was refused: ${JSON.stringify(answer)}`);
  if (valueAt(answer, "data.isSignedIn") !== true) return null;
  using db = openData(project);
  db.run("UPDATE users SET unproven_project_seq = NULL WHERE email = ?", [email]);
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? null;
}

/** Makes all sessions old enough that the password must be entered again. */
export function ageSessions(project: DashboardProject): void {
  using db = openData(project);
  db.run("UPDATE user_sessions SET confirmed_at = confirmed_at - 3600000");
}

/** The status of a request that a person sends without the dashboard. */
export async function statusOf(
  server: PeopledProject,
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
  server: PeopledProject,
  path: string,
  { person = "admin", layout = "light", prepare, isLive = false }: Options = {},
) {
  return openPage(`${server.url}/app/p/${server.project}${path}`, {
    layout,
    cookie: server.people[person],
    prepare: async (page) => {
      if (!isLive) await withoutLiveMessages(page);
      await prepare?.(page);
    },
  });
}
