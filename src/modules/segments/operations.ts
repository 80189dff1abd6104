/** Texts of the operations on segments for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";

export const segmentOperations = describeOperations(
  { tag: "Segments", id: "Id of the segment" },
  {
    listSegments: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List segments",
      description: "All segments of the project with their member counts, newest first.",
    },
    createSegment: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Create a segment",
      description:
        "A DYNAMIC segment needs a condition; the members of a STATIC one are added by email.",
      isIdempotent: true,
      links: {
        getSegment: { id },
        updateSegment: { id },
        deleteSegment: { id },
        listSegmentContacts: { id },
        addSegmentMembers: { id },
      },
    },
    previewCondition: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      isAudited: false,
      summary: "Whom a condition selects",
      description:
        "The number of contacts that meet the condition, and the newest of them, without storing a " +
        "segment. Viewers could find out with it what is hidden from them. With `counted=RECENT` the number may be an estimate.",
    },
    getSegment: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Segment details",
      description: "The segment with its condition and its exact member count.",
    },
    updateSegment: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Update a segment; its type cannot be changed",
      description:
        "Changes the given fields. A condition is refused with 422 if a segment, an unfinished " +
        "campaign or a workflow that uses the segment would exceed a limit with it.",
    },
    deleteSegment: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Delete an unused segment; its contacts are not deleted",
      description:
        "A segment that a campaign, a workflow or another segment uses is refused with 409. A " +
        "workflow also uses it if an event of the segment starts it or is awaited in it.",
    },
    getSegmentUsage: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Where a segment is used",
      description: "The segments, campaigns and workflows that use it.",
    },
    listSegmentContacts: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List members",
      description: "The contacts that are members now.",
    },
    addSegmentMembers: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Add contacts to a STATIC segment by email",
      description: "A DYNAMIC segment is refused with 409.",
      isIdempotent: true,
    },
    removeSegmentMembers: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Remove contacts from a STATIC segment by email",
      description: "The contacts themselves stay. A DYNAMIC segment is refused with 409.",
    },
  },
);

export const contactSegmentOperations = describeOperations(
  { tag: "Segments", id: "Id of the contact" },
  {
    listContactSegments: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the segments of a contact",
      description:
        "The segments of which the contact is a member now, newest first. Conditions are evaluated " +
        "when the list is read.",
    },
  },
);
