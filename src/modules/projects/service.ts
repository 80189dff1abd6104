/**
 * Projects: the tenants of an installation. In order: the operator creates a project by command,
 * sets its default sender, tracking and language, and disables or enables it. Contacts, keys,
 * domains and mails belong to one project.
 */

import { asc, eq, or } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { projects, projectUsage } from "../../db/schema/projects.ts";
import type { Change } from "../../db/writer.ts";
import type { KnownKey, Project, Sender } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import { statement } from "../../db/statement.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";

export type ProjectRow = typeof projects.$inferSelect;
export type ProjectSettings = Partial<Pick<ProjectRow, "tracking" | "language">> & {
  /** The default sender; null removes it. */
  sender?: Sender | null;
};
export type Projects = ReturnType<typeof createProjects>;
export type ProjectUsage = { storedBytes: number; queuedMails: number };

function findProject({ db }: Pick<App, "db">, idOrName: string): ProjectRow | null {
  const match = or(eq(projects.id, idOrName), eq(projects.name, idOrName));
  return db.select().from(projects).where(match).limit(1).get() ?? null;
}

// Each request that sends mail runs it.
const findLanguage = statement<Pick<ProjectRow, "language">, [number]>(
  "SELECT language FROM projects WHERE seq = +?",
);

/** The language of a project's mail. */
export function languageOf(app: App, { seq }: { seq: number }): string {
  return findLanguage(app).get(seq)?.language ?? "en";
}

const findId = statement<Pick<ProjectRow, "id">, [number]>(
  "SELECT id FROM projects WHERE seq = +?",
);

/** The address of a page of a project in the dashboard; `url` is that of the server for browsers. */
export const pageUrl = (app: App, projectSeq: number, path: string, url = app.url): string =>
  `${url}/app/p/${findId(app).get(projectSeq)?.id}/${path}`;

export function createProjects({ db, clock }: { db: Db; clock: Clock }) {
  const find = (idOrName: string) => findProject({ db }, idOrName);

  const findRow = db
    .select()
    .from(projects)
    .where(eq(projects.id, bound("id")))
    .limit(1)
    .prepare();

  return {
    find,

    /** Size of the project's data, and number of its queued mails without those of campaigns. */
    usageOf({ seq }: ProjectRow): ProjectUsage {
      const { storedBytes, queuedMails } = projectUsage;
      const [usage] = db
        .select({ storedBytes, queuedMails })
        .from(projectUsage)
        .where(eq(projectUsage.projectSeq, seq))
        .all();
      return usage ?? { storedBytes: 0, queuedMails: 0 };
    },

    /** The first project, as if a secret key of it was sent; null if there is no project. */
    firstAsKey(): KnownKey | null {
      const row = db.select().from(projects).orderBy(asc(projects.seq)).limit(1).get();
      if (row === undefined) return null;
      return {
        kind: "SECRET",
        shown: null,
        origins: [],
        project: projectOf(row),
        isProjectEnabled: row.isEnabled,
        isUsable: true,
      };
    },

    /** The project of a request with a session; null if there is none with this id. */
    findById(id: string): { project: Project; isEnabled: boolean } | null {
      const row = findRow.get({ id });
      return row === undefined ? null : { project: projectOf(row), isEnabled: row.isEnabled };
    },

    list: (): ProjectRow[] => db.select().from(projects).orderBy(asc(projects.seq)).all(),

    /**
     * Finds a project by id or name, or the only project if `idOrName` is null. Throws 404 if there
     * is none and 409 if there are several. `naming` is the option that names a project, for the
     * message.
     */
    resolve(idOrName: string | null, naming: string): ProjectRow {
      if (idOrName !== null) {
        const project = find(idOrName);
        if (project === null) throw noSuchProject(idOrName);
        return project;
      }
      const [first, second] = db.select().from(projects).orderBy(asc(projects.seq)).limit(2).all();
      if (first === undefined) throw noSuchProject(null);
      if (second !== undefined) throw ambiguousProject(naming);
      return first;
    },

    create(name: string): Change<ProjectRow> {
      return () => {
        if (find(name) !== null) throw nameTaken(name);
        const now = clock.now();
        return db
          .insert(projects)
          .values({ id: newId(now), name, createdAt: now })
          .returning()
          .get();
      };
    },

    /** Part of a change: updates the given settings; those that are undefined stay unchanged. */
    set(project: ProjectRow, { sender, ...fields }: ProjectSettings): Change<ProjectRow> {
      const columns =
        sender === undefined
          ? fields
          : { ...fields, fromAddress: sender?.address ?? null, fromName: sender?.name ?? null };
      return () =>
        db.update(projects).set(columns).where(eq(projects.seq, project.seq)).returning().get();
    },

    /** Gives a project another name. Throws 409 if another project has it. */
    rename(project: ProjectRow, name: string): Change<void> {
      return () => {
        const holder = find(name);
        if (holder !== null && holder.seq !== project.seq) throw nameTaken(name);
        db.update(projects).set({ name }).where(eq(projects.seq, project.seq)).run();
      };
    },

    setEnabled(project: ProjectRow, isEnabled: boolean): Change<ProjectRow> {
      return () =>
        db
          .update(projects)
          .set({ isEnabled })
          .where(eq(projects.seq, project.seq))
          .returning()
          .get();
    },
  };
}

function projectOf({ seq, id, name, fromAddress, fromName }: ProjectRow): Project {
  const sender = fromAddress === null ? null : { address: fromAddress, name: fromName };
  return { seq, id, name, sender };
}

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
