/**
 * The items of the side bar in their order, in groups. An item stands here when its page exists. The
 * second key of `key` follows `g`.
 */

import {
  Activity,
  Inbox,
  Globe,
  KeyRound,
  LayoutDashboard,
  LayoutTemplate,
  Megaphone,
  Mail,
  MailCheck,
  MailPlus,
  ClipboardPen,
  Settings,
  ShieldBan,
  Tags,
  Users,
  UsersRound,
  Webhook,
  Workflow,
  type LucideIcon,
} from "lucide-react";
import type { LinkProps } from "@tanstack/react-router";
import { type AppState, hasRole, type ProjectSummary, type Role } from "./state.ts";

export type NavigationItem = {
  label: string;
  to: Extract<LinkProps["to"], `/p/$project${string}`>;
  icon: LucideIcon;
  /** Opens the page after `g`. */
  key?: string;
  /** True if the item is shown; always if absent. */
  isShown?: (state: AppState) => boolean;
  /** The least role that may open the page; VIEWER if absent. */
  role?: Role;
};

const GROUPS: readonly (readonly NavigationItem[])[] = [
  [
    { label: "Overview", to: "/p/$project", icon: LayoutDashboard, key: "o" },
    { label: "Emails", to: "/p/$project/emails", icon: Mail, key: "e" },
    {
      label: "Inbox",
      to: "/p/$project/inboxes/{-$inbox}",
      icon: Inbox,
      key: "i",
      isShown: ({ capture }) => capture,
      role: "EDITOR",
    },
    {
      label: "Received",
      to: "/p/$project/received",
      icon: MailPlus,
      key: "r",
      role: "EDITOR",
    },
  ],
  [
    { label: "Contacts", to: "/p/$project/contacts", icon: Users, key: "c" },
    { label: "Segments", to: "/p/$project/segments", icon: UsersRound, key: "s" },
    { label: "Forms", to: "/p/$project/forms", icon: ClipboardPen, key: "f" },
    { label: "Topics", to: "/p/$project/topics", icon: Tags },
    { label: "Campaigns", to: "/p/$project/campaigns", icon: Megaphone, key: "m" },
    { label: "Workflows", to: "/p/$project/workflows", icon: Workflow, key: "w" },
    { label: "Templates", to: "/p/$project/templates", icon: LayoutTemplate, key: "t" },
  ],
  [
    { label: "Events", to: "/p/$project/events", icon: Activity },
    { label: "Suppressions", to: "/p/$project/suppressions", icon: ShieldBan },
  ],
  [
    { label: "Domains", to: "/p/$project/domains", icon: Globe, key: "d" },
    { label: "Webhooks", to: "/p/$project/webhooks", icon: Webhook },
    {
      label: "Relay reports",
      to: "/p/$project/relay-reports",
      icon: MailCheck,
      role: "ADMIN",
    },
    { label: "API keys", to: "/p/$project/keys", icon: KeyRound, role: "ADMIN" },
    { label: "Settings", to: "/p/$project/settings", icon: Settings },
  ],
];

/** The groups with the items that this installation has and the user may open, without empty groups. */
export function navigationOf(state: AppState, project: ProjectSummary | null): NavigationItem[][] {
  return GROUPS.map((items) =>
    items.filter(
      ({ isShown, role = "VIEWER" }) => (isShown?.(state) ?? true) && hasRole(project, role),
    ),
  ).filter((items) => items.length > 0);
}
