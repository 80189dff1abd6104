/** Texts of the public pages of campaigns for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const projectId = "Id of the project";

export const archiveOperations = describeOperations(
  { tag: "Recipients" },
  {
    listArchive: {
      role: "ANYONE",
      summary: "Page that lists the campaigns that a project shows to everybody",
      description: "The campaigns with `archived` that are being or were sent, newest first.",
      parameters: { projectId },
      security: [],
    },
    showArchived: {
      role: "ANYONE",
      summary: "A campaign as a page for everybody",
      description:
        "Rendered without the data of any contact. Mails link it as `{{ viewInBrowserUrl }}`.",
      parameters: { projectId, slug: "The archiveSlug of the campaign" },
      security: [],
    },
  },
);
