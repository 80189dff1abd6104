/** Describes each role by the actions that it allows. */

export type MemberRole = "ADMIN" | "EDITOR" | "VIEWER";

export const ROLE_CHOICES = [
  {
    value: "ADMIN",
    label: "Admin",
    description:
      "Changes everything in the project, also keys, domains, webhooks, settings and the team.",
  },
  {
    value: "EDITOR",
    label: "Editor",
    description: "Changes contacts, segments, templates, campaigns and workflows, and sends mail.",
  },
  {
    value: "VIEWER",
    label: "Viewer",
    description: "Sees everything except keys, the team and the text of personal mail.",
  },
] as const satisfies { value: MemberRole; label: string; description: string }[];

export const roleWord = (role: string): string =>
  ROLE_CHOICES.find(({ value }) => value === role)?.label ?? "Owner";

export const isMemberRole = (text: string | null): text is MemberRole =>
  ROLE_CHOICES.some(({ value }) => value === text);
