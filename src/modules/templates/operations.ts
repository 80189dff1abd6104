/** Texts of the operations on templates for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";

export const templateOperations = describeOperations(
  { tag: "Templates", id: "Id of the template" },
  {
    listTemplates: {
      role: "VIEWER",
      summary: "List templates",
      description: "All templates of the project, newest first.",
    },
    createTemplate: {
      role: "EDITOR",
      summary: "Create a template",
      description: "A syntax error in subject or body is refused with 422, line and column.",
      isIdempotent: true,
      links: {
        getTemplate: { id },
        updateTemplate: { id },
        deleteTemplate: { id },
        previewTemplate: { id },
      },
    },
    getTemplate: {
      role: "VIEWER",
      summary: "Get a template",
      description: "The template with the sources of its subject and body.",
    },
    updateTemplate: {
      role: "EDITOR",
      summary: "Update a template",
      description: "Changes the given fields. Mails that were accepted before stay as they are.",
    },
    deleteTemplate: {
      role: "EDITOR",
      summary: "Delete a template",
      description: "A template that a step of a workflow uses is refused with 409.",
    },
    previewTemplate: {
      role: "VIEWER",
      isAudited: false,
      summary: "Render a template for a contact, or with sample data",
      description: "Stores and sends nothing. The body may be omitted.",
    },
  },
);
