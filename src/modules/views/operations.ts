/** Texts of the operations on saved views for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const viewOperations = describeOperations(
  { tag: "Saved views", id: "Id of the saved view" },
  {
    listSavedViews: {
      role: "VIEWER",
      access: "SESSION",
      summary: "List saved views",
      description:
        "The caller's own views and those that others share, newest first. Views of pages that " +
        "the caller's role may not open are left out.",
    },
    createSavedView: {
      role: "VIEWER",
      access: "SESSION",
      summary: "Save a view",
      description:
        "403 if the role may not open the page, or is VIEWER and `isShared` is true. 409 with the " +
        "code CONFLICT if the caller has a view of this name on the page. 409 with the code " +
        "QUOTA_EXCEEDED if the caller has 100 views in the project, or the project has 1,000.",
      isIdempotent: true,
      links: { updateSavedView: { id: "/data/id" }, deleteSavedView: { id: "/data/id" } },
    },
    updateSavedView: {
      role: "VIEWER",
      access: "SESSION",
      summary: "Rename, change or share a view",
      description:
        "The author may change everything; an admin may change name and query of a shared view. " +
        "A shared view needs the role EDITOR. 409 with the code CONFLICT if the author has another " +
        "view of this name on the page.",
    },
    deleteSavedView: {
      role: "VIEWER",
      access: "SESSION",
      summary: "Delete a view",
      description: "The author may delete the view, and an admin may if it is shared.",
    },
  },
);
