/**
 * The items of the side bar in their order, in groups. An item stands here when its page exists. The
 * second key of `key` follows `g`.
 */

import { Inbox, LayoutDashboard, Mail, type LucideIcon } from "lucide-react";
import type { LinkProps } from "@tanstack/react-router";
import type { AppState } from "./state.ts";

export type NavigationItem = {
  label: string;
  to: Extract<LinkProps["to"], `/p/$project${string}`>;
  icon: LucideIcon;
  /** Opens the page after `g`. */
  key?: string;
  /** Whether the item is shown; always if absent. */
  isShown?: (state: AppState) => boolean;
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
    },
  ],
];

/** The groups with the items that this installation has, without empty groups. */
export function navigationOf(state: AppState): NavigationItem[][] {
  return GROUPS.map((items) => items.filter(({ isShown }) => isShown?.(state) ?? true)).filter(
    (items) => items.length > 0,
  );
}
