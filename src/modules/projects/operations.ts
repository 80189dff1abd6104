/** Texts of the operations on projects for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const projectOperations = describeOperations(
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
