/** Texts of the operations on templates for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";

export const templateOperations = describeOperations(
  { tag: "Templates", id: "Id of the template" },
  {
    listTemplates: {
      role: "VIEWER",
      summary: "List templates",
      description: "Templates whose name contains the text, newest first; all without a text.",
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
    getTemplateUsage: {
      role: "VIEWER",
      summary: "Where a template is used, and which variables it needs",
      description: "The workflows that send it, and the variables of its subject and body.",
    },
    showTemplate: {
      role: "VIEWER",
      summary: "The rendered template as a document",
      description:
        "A document for a frame: without scripts, and without images of other servers unless they " +
        "are asked for.",
    },
    previewTemplate: {
      role: "VIEWER",
      isAudited: false,
      summary: "Render a template for a contact, or with sample data",
      description: "Stores and sends nothing. The body may be omitted.",
    },
  },
);
