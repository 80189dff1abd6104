/**
 * Projects: the tenants of an installation. In order: the operator creates a project by command,
 * sets its default sender, tracking and language, and disables or enables it. Contacts, keys,
 * domains and mails belong to one project.
 *
 * The routes accept users who are signed in, and no keys:
 *
 * GET    /projects         the projects of the user
 * POST   /projects         create a project
 * GET    /projects/{id}    its settings
 * PATCH  /projects/{id}    change its settings
 */

import { Type } from "@sinclair/typebox";
import { and, asc, eq, getTableColumns, or } from "drizzle-orm";
import { Elysia } from "elysia";
import type { App } from "../core/app.ts";
import { memberships } from "../db/schema/accounts.ts";
import { images } from "../db/schema/images.ts";
import { projects, projectUsage } from "../db/schema/projects.ts";
import { statement } from "../db/statement.ts";
import type { Admission, KnownKey, Project, Sender } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { describeOperations } from "../http/documented.ts";
import { Envelope, envelope, IdParams, withErrors } from "../http/envelope.ts";
import { mailboxIn } from "../http/formats.ts";
import type { Role } from "../http/roles.ts";
import type { SignedInUser } from "../http/session-access.ts";
import { announcements } from "../events/announcements.ts";
import { isoTime } from "../lib/clock.ts";
import { AppError, fieldError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { displayName } from "../protocols/mime/mailbox.ts";
import type { Noun } from "./module.ts";
import { ProjectDetails, ProjectInput, ProjectPatch } from "./project-model.ts";
import * as retention from "./project-retention.ts";

const DETAILS = describeOperations(
  { tag: "Projects", id: "Id of the project" },
  {
    listProjects: {
      role: "USER",
      access: "SESSION",
      summary: "List the projects of the user",
      description: "In the order in which the user joined them; for an owner, all projects.",
    },
    createProject: {
      role: "OWNER",
      access: "SESSION",
      summary: "Create a project",
      description: "It has no keys yet. A name that another project has is refused with 409.",
      isIdempotent: true,
      links: { getProject: { id: "/data/id" }, updateProject: { id: "/data/id" } },
    },
    getProject: {
      role: "VIEWER",
      access: "SESSION",
      summary: "Get a project",
      description: "The settings of a project, and the role of the user in it.",
    },
    updateProject: {
      role: "ADMIN",
      access: "SESSION",
      summary: "Change the settings of a project",
      description: "Changes the given fields. Only owners may enable or disable a project.",
    },
  },
);

export const projectNoun: Noun = {
  name: "projects",
  routes: (app, admission) => [
    routesWithoutProject(app, admission),
    routesOfProject(app, admission),
  ],
};

function routesWithoutProject(app: App, admission: Admission) {
  return new Elysia({ name: "project-list-routes", prefix: "/projects" })
    .use(admission.session)
    .get(
      "",
      ({ user }) =>
        envelope(projectsOfUser(app, user).map((project) => present(app, project, project.role))),
      {
        response: withErrors({ 200: Envelope(Type.Array(ProjectDetails)) }),
        detail: DETAILS.listProjects,
      },
    )
    .post(
      "",
      ({ body, once }) =>
        once(() => () => {
          const created = createProject(app, body.name.trim());
          return { status: 201, body: envelope(present(app, created, "OWNER")) };
        }),
      {
        body: limited(ProjectInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(ProjectDetails) }),
        detail: DETAILS.createProject,
      },
    );
}

/** The path names the project. */
function routesOfProject(app: App, admission: Admission) {
  return new Elysia({ name: "project-routes", prefix: "/projects" })
    .use(admission.projectInPath)
    .get(
      "/:id",
      ({ project, role }) => envelope(present(app, resolveProject(app, project.id), role)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(ProjectDetails) }),
        detail: DETAILS.getProject,
      },
    )
    .patch(
      "/:id",
      async ({ project: { seq: projectSeq, id }, role, body, storeWithoutQuota }) => {
        if (body.isEnabled !== undefined && role !== "OWNER") throw ownerNeeded();
        retention.ensureWithinLimits(app.config, body);
        const settings = settingsIn(body);
        const changed = await storeWithoutQuota(() =>
          changeProject(app, resolveProject(app, id), settings),
        );
        announcements(app).announce({ projectSeq, type: "project.changed", id });
        return envelope(present(app, changed, role));
      },
      {
        params: IdParams,
        body: limited(ProjectPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(ProjectDetails) }),
        detail: DETAILS.updateProject,
      },
    );
}

export type ProjectRow = typeof projects.$inferSelect;

/** Settings to change; those that are undefined stay as they are. */
export type ProjectSettings = {
  [Name in Exclude<keyof ProjectRow, "seq" | "id" | "fromAddress" | "fromName" | "createdAt">]?:
    ProjectRow[Name] | undefined;
} & {
  /** The default sender; null removes it. */
  sender?: Sender | null | undefined;
};

/** Names each setting: a request may have other members, which must not become columns. */
function settingsIn({
  name,
  sender,
  tracking,
  language,
  isEnabled,
  logoImageId,
  brandColor,
  retainBodies,
  retainRaw,
  retainEvents,
  retainReceived,
}: ProjectPatch): ProjectSettings {
  return {
    tracking,
    language,
    isEnabled,
    logoImageId,
    retainBodies,
    retainRaw,
    retainEvents,
    retainReceived,
    name: name?.trim(),
    sender: sender && {
      ...mailboxIn(sender.address),
      ...(sender.name === undefined ? {} : { name: sender.name && displayName(sender.name) }),
    },
    brandColor: brandColor?.toLowerCase() ?? brandColor,
  };
}

function present(app: App, row: ProjectRow, role: Role): ProjectDetails {
  const { id, name, isEnabled, tracking, language, logoImageId, brandColor } = row;
  return {
    id,
    name,
    role,
    isEnabled,
    sender: senderOf(row),
    tracking,
    language,
    logoImageId,
    brandColor,
    ...retention.presentRetention(app, row),
    createdAt: isoTime(row.createdAt),
  };
}

function senderOf({ fromAddress, fromName }: ProjectColumns): Sender | null {
  return fromAddress === null ? null : { address: fromAddress, name: fromName };
}

/** A command has a database and a clock, but no App. */
type Store = Pick<App, "db" | "clock">;

/** The oldest project comes first. A limit of -1 means none. */
export function listProjects({ db }: Pick<Store, "db">, limit = -1): ProjectRow[] {
  return db.select().from(projects).orderBy(asc(projects.seq)).limit(limit).all();
}

export function findProject({ db }: Pick<Store, "db">, idOrName: string): ProjectRow | null {
  const match = or(eq(projects.id, idOrName), eq(projects.name, idOrName));
  return db.select().from(projects).where(match).limit(1).get() ?? null;
}

/**
 * Finds a project by id or name, or the only project if `idOrName` is null. Throws 404 if there
 * is none and 409 if there are several. `naming` is the option that names a project, for the
 * message.
 */
export function resolveProject(
  store: Pick<Store, "db">,
  idOrName: string | null,
  naming = "id",
): ProjectRow {
  if (idOrName !== null) {
    const project = findProject(store, idOrName);
    if (project === null) throw noSuchProject(idOrName);
    return project;
  }
  const [first, second] = listProjects(store, 2);
  if (first === undefined) throw noSuchProject(null);
  if (second !== undefined) throw ambiguousProject(naming);
  return first;
}

/** The projects of which a user is a member, with the roles. An owner may be a member of none. */
export function membershipsOf({ db }: Pick<Store, "db">, userSeq: number) {
  return db
    .select({ ...getTableColumns(projects), role: memberships.role })
    .from(memberships)
    .innerJoin(projects, eq(projects.seq, memberships.projectSeq))
    .where(eq(memberships.userSeq, userSeq))
    .orderBy(asc(memberships.projectSeq))
    .all();
}

/** The projects that a user may open, with the roles. */
export function projectsOfUser(
  store: Pick<Store, "db">,
  user: Pick<SignedInUser["user"], "seq" | "isOwner" | "unprovenProjectSeq">,
): (ProjectRow & { role: Role })[] {
  if (user.unprovenProjectSeq === null && user.isOwner) {
    return listProjects(store).map((project) => ({ ...project, role: "OWNER" }));
  }
  const all = membershipsOf(store, user.seq);
  if (user.unprovenProjectSeq === null) return all;
  return all.filter(({ seq }) => seq === user.unprovenProjectSeq);
}

type ProjectColumns = Pick<
  ProjectRow,
  "seq" | "id" | "name" | "language" | "fromAddress" | "fromName"
>;

// Each request of a session runs it.
const findById = statement<ProjectColumns & { isEnabled: number }, [string]>(`
  SELECT seq, id, name, language, from_address AS fromAddress, from_name AS fromName,
         is_enabled AS isEnabled
  FROM projects WHERE id = +?`);

/** The project of a request with a session; null if there is none with this id. */
export function projectOfSession(app: App, id: string) {
  const row = findById(app).get(id);
  return row === null ? null : { project: admitted(row), isEnabled: row.isEnabled === 1 };
}

const findBySeq = statement<ProjectColumns & { isEnabled: number }, [number]>(`
  SELECT seq, id, name, language, from_address AS fromAddress, from_name AS fromName,
         is_enabled AS isEnabled
  FROM projects WHERE seq = +?`);

/** The project of an object that a person may use without a key, such as a form. */
export function projectOfObject(app: App, seq: number) {
  const row = findBySeq(app).get(seq);
  return row === null ? null : { project: admitted(row), isEnabled: row.isEnabled === 1 };
}

/** The first project, as if a secret key of it was sent; null if there is no project. */
export function firstProjectAsKey(app: App): KnownKey | null {
  const [row] = listProjects(app, 1);
  if (row === undefined) return null;
  return {
    kind: "SECRET",
    scope: "EVERYTHING",
    shown: null,
    origins: [],
    domains: [],
    ipRanges: [],
    project: admitted(row),
    isProjectEnabled: row.isEnabled,
    isUsable: true,
  };
}

/** The project of a row that refers to it. */
export function projectBySeq(app: App, seq: number): Project {
  const row = findBySeq(app).get(seq);
  if (row === null) throw new Error(`there is no project ${seq}`);
  return admitted(row);
}

function admitted(row: ProjectColumns): Project {
  const { seq, id, name } = row;
  return { seq, id, name, language: row.language, sender: senderOf(row) };
}

/** Throws 409 if another project has the name. */
export function createProject({ db, clock }: Store, name: string): ProjectRow {
  if (findProject({ db }, name) !== null) throw nameTaken(name);
  const now = clock.now();
  return db
    .insert(projects)
    .values({ id: newId(now), name, createdAt: now })
    .returning()
    .get();
}

/** Throws 409 if another project has the new name, and 422 if the project has no such image. */
export function changeProject(
  { db }: Pick<Store, "db">,
  project: ProjectRow,
  { sender, ...settings }: ProjectSettings,
): ProjectRow {
  const { name, logoImageId } = settings;
  if (name !== undefined && (findProject({ db }, name) ?? project).seq !== project.seq) {
    throw nameTaken(name);
  }
  if (typeof logoImageId === "string") ensureImage(db, project.seq, logoImageId);
  const from = sender && { fromAddress: sender.address, fromName: sender.name };
  const columns = { ...settings, ...(from === null ? NO_SENDER : from) };
  if (Object.values(columns).every((value) => value === undefined)) return project;
  return db.update(projects).set(columns).where(eq(projects.seq, project.seq)).returning().get();
}

function ensureImage(db: Store["db"], projectSeq: number, id: string): void {
  const isThis = and(eq(images.projectSeq, projectSeq), eq(images.id, id));
  const [found] = db.select({ seq: images.seq }).from(images).where(isThis).limit(1).all();
  if (found !== undefined) return;
  throw fieldError("logoImageId", "invalid_value", "must be the id of an image of the project");
}

const NO_SENDER = { fromAddress: null, fromName: null };

export type ProjectUsage = { storedBytes: number; queuedMails: number };

/** Size of the project's data, and number of its queued mails without those of campaigns. */
export function usageOfProject({ db }: Pick<Store, "db">, { seq }: ProjectRow): ProjectUsage {
  const { storedBytes, queuedMails } = projectUsage;
  const [usage] = db
    .select({ storedBytes, queuedMails })
    .from(projectUsage)
    .where(eq(projectUsage.projectSeq, seq))
    .all();
  return usage ?? { storedBytes: 0, queuedMails: 0 };
}

const findId = statement<Pick<ProjectRow, "id">, [number]>(
  "SELECT id FROM projects WHERE seq = +?",
);

/** The address of a page of a project in the dashboard; `url` is that of the server for browsers. */
export const pageUrl = (app: App, projectSeq: number, path: string, url = app.url): string =>
  `${url}/app/p/${findId(app).get(projectSeq)?.id}/${path}`;

function noSuchProject(name: string | null): AppError {
  return new AppError(
    404,
    "PROJECT_NOT_FOUND",
    name === null ? "There is no project yet." : `There is no project "${name}".`,
    { suggestion: "Create one with: mailstead project create NAME" },
  );
}

function ambiguousProject(naming: string): AppError {
  return new AppError(409, "CONFLICT", "There are several projects.", {
    suggestion: `Say which with ${naming}; mailstead project list shows them.`,
  });
}

function nameTaken(name: string): AppError {
  return new AppError(409, "CONFLICT", `A project "${name}" already exists.`, {
    suggestion: "Choose another name.",
  });
}

function ownerNeeded(): AppError {
  return new AppError(403, "FORBIDDEN", "Only owners may enable or disable a project.", {
    suggestion: "Ask an owner of the installation.",
  });
}
