/**
 * GET    /projects         the projects of the user
 * POST   /projects         create a project
 * GET    /projects/{id}    its settings
 * PATCH  /projects/{id}    change its settings
 */

import { displayName } from "../../protocols/mime/mailbox.ts";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../http/envelope.ts";
import { mailboxIn } from "../../http/formats.ts";
import type { Role } from "../../http/roles.ts";
import type { SignedInUser } from "../../http/session-access.ts";
import { isoTime } from "../../lib/clock.ts";
import type { Announcements } from "../../lib/announcements.ts";
import { AppError } from "../../lib/errors.ts";
import { ProjectDetails, ProjectInput, ProjectPatch } from "./model.ts";
import { projectOperations } from "./operations.ts";
import type { ProjectRow, Projects } from "./service.ts";

/** The projects that a user may open, with the roles. */
type FindProjectsOf = (user: SignedInUser["user"]) => { id: string; role: Role }[];

type ProjectRouteDeps = {
  admission: Admission;
  projects: Projects;
  projectsOf: FindProjectsOf;
  announcements: Pick<Announcements, "announce">;
};

/** The routes that belong to no project. */
export function projectListRoutes({ admission, projects, projectsOf }: ProjectRouteDeps) {
  return new Elysia({ name: "project-list-routes", prefix: "/projects" })
    .use(admission.session)
    .get(
      "",
      ({ user }) =>
        envelope(
          projectsOf(user).map(({ id, role }) => presentProject(projects.resolve(id, "id"), role)),
        ),
      {
        response: withErrors({ 200: Envelope(Type.Array(ProjectDetails)) }),
        detail: projectOperations.listProjects,
      },
    )
    .post(
      "",
      ({ body, once }) =>
        once(() => {
          const create = projects.create(body.name.trim());
          return () => ({ status: 201, body: envelope(presentProject(create(), "OWNER")) });
        }),
      {
        body: limited(ProjectInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(ProjectDetails) }),
        detail: projectOperations.createProject,
      },
    );
}

/** The routes of one project, which the path names. */
export function projectRoutes({ admission, projects, announcements }: ProjectRouteDeps) {
  return new Elysia({ name: "project-routes", prefix: "/projects" })
    .use(admission.projectInPath)
    .get(
      "/:id",
      ({ project, role }) => envelope(presentProject(projects.resolve(project.id, "id"), role)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(ProjectDetails) }),
        detail: projectOperations.getProject,
      },
    )
    .patch(
      "/:id",
      async ({ project, role, body, storeWithoutQuota }) => {
        if (body.isEnabled !== undefined && role !== "OWNER") throw ownerNeeded();
        const change = changeOf(projects, project.id, body);
        const changed = await storeWithoutQuota(change);
        announcements.announce({
          projectSeq: changed.seq,
          type: "project.changed",
          id: changed.id,
        });
        return envelope(presentProject(changed, role));
      },
      {
        params: IdParams,
        body: limited(ProjectPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(ProjectDetails) }),
        detail: projectOperations.updateProject,
      },
    );
}

function changeOf(projects: Projects, id: string, patch: ProjectPatch) {
  const { name, sender, tracking, language, isEnabled } = patch;
  const newSender =
    sender === undefined || sender === null
      ? sender
      : {
          ...mailboxIn(sender.address),
          ...(sender.name === undefined ? {} : { name: sender.name && displayName(sender.name) }),
        };
  const fields = {
    ...(tracking === undefined ? {} : { tracking }),
    ...(language === undefined ? {} : { language }),
    ...(newSender === undefined ? {} : { sender: newSender }),
  };
  return (): ProjectRow => {
    const row = projects.resolve(id, "id");
    if (name !== undefined) projects.rename(row, name.trim())();
    if (isEnabled !== undefined) projects.setEnabled(row, isEnabled)();
    if (Object.keys(fields).length > 0) projects.set(row, fields)();
    return projects.resolve(id, "id");
  };
}

function presentProject(row: ProjectRow, role: Role): ProjectDetails {
  const { id, name, isEnabled, tracking, language, fromAddress, fromName } = row;
  const sender = fromAddress === null ? null : { address: fromAddress, name: fromName };
  return {
    id,
    name,
    role,
    isEnabled,
    sender,
    tracking,
    language,
    createdAt: isoTime(row.createdAt),
  };
}

function ownerNeeded(): AppError {
  return new AppError(403, "FORBIDDEN", "Only owners may enable or disable a project.", {
    suggestion: "Ask an owner of the installation.",
  });
}
