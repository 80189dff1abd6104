/** The words for the fields that campaigns and templates both have, in messages and comparisons. */
export const CONTENT_LABELS = {
  name: "Name",
  subject: "Subject",
  preheader: "Preheader",
  body: "Body",
  format: "Editor",
  layoutId: "Layout",
  from: "Sender",
  fromName: "Name of the sender",
  replyTo: "Reply to",
} as const;

/** The members of a body, which are taken from one version together. */
export const BODY_GROUP = ["body", "design", "format"] as const;
