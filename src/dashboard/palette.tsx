/**
 * The command palette, opened by Ctrl K or Cmd K: pages, projects, actions, the documentation, the
 * object with an id, and what palette-found.tsx finds.
 */

import { useMantineColorScheme } from "@mantine/core";
import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { useNavigate, useRouter } from "@tanstack/react-router";
import {
  BookOpen,
  Download,
  FileText,
  FolderOpen,
  Keyboard,
  LogOut,
  Monitor,
  Moon,
  Plus,
  ScrollText,
  Search,
  Server,
  SlidersHorizontal,
  Sun,
  UserRound,
  UsersRound,
} from "lucide-react";
import { useEffect, useState } from "react";
import { navigationOf } from "./navigation.ts";
import { furtherPagesOf, pageActionsOf } from "./palette-actions.ts";
import { DOCS_CHAPTERS, docsPath } from "./palette-docs.ts";
import { useFoundGroups } from "./palette-found.tsx";
import { useObjectWithId } from "./palette-id.tsx";
import { useSignOut } from "./sidebar.tsx";
import { useAppState, useNavigationProject } from "./state.ts";
import { useLayer } from "./ui/layers.ts";

const ICON = { size: 16, "aria-hidden": true } as const;
/** Contacts and suppressions come before the pages. */
const FIRST_FOUND = 2;
const [store, spotlight] = createSpotlight();

export function Palette(props: {
  isOpen: boolean;
  onClose: () => void;
  onShowShortcuts: () => void;
}) {
  const { isOpen, onClose, onShowShortcuts } = props;
  const navigate = useNavigate();
  const router = useRouter();
  const state = useAppState();
  const project = useNavigationProject();
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();

  const [query, setQuery] = useState("");
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  useLayer(isOpen, spotlight.close);

  const isTyped = query.trim() !== "";

  const pages: SpotlightActionData[] =
    project === null
      ? []
      : [
          ...navigationOf(state, project)
            .flat()
            .map(({ label, to, icon: Icon }) => ({
              id: to,
              label,
              leftSection: <Icon {...ICON} />,
              onClick: () => void navigate({ to, params: { project: project.id } }),
            })),
          ...furtherPagesOf(project).map(({ label, path }) => ({
            id: `page-${path}`,
            label,
            leftSection: <FileText {...ICON} />,
            onClick: () => router.history.push(`/app/p/${project.id}${path}`),
          })),
        ];
  const projects: SpotlightActionData[] = state.projects
    .filter(({ id }) => id !== project?.id)
    .map(({ id, name }) => ({
      id: `project-${id}`,
      label: `Open ${name}`,
      leftSection: <FolderOpen {...ICON} />,
      onClick: () => void navigate({ to: "/p/$project", params: { project: id } }),
    }));
  const withId = useObjectWithId(query, project);
  const found = useFoundGroups(query, project);
  const scheme = (value: "light" | "dark" | "auto", label: string, Icon: typeof Sun) => ({
    id: `scheme-${value}`,
    label,
    keywords: "theme appearance colour color",
    leftSection: <Icon {...ICON} />,
    onClick: () => setColorScheme(value),
  });
  const actions: SpotlightActionData[] = [
    ...pageActionsOf(state, project).map(({ label, page, path = page, state: wanted }) => {
      const isExport = wanted?.dialog === "export";
      return {
        id: `action-${label}`,
        label,
        keywords: isExport ? "download csv save" : "new add create",
        leftSection: isExport ? <Download {...ICON} /> : <Plus {...ICON} />,
        onClick: () => router.history.push(`/app/p/${project?.id}${path}`, wanted),
      };
    }),
    scheme("light", "Light theme", Sun),
    scheme("dark", "Dark theme", Moon),
    scheme("auto", "Theme of the system", Monitor),
    {
      id: "shortcuts",
      label: "Keyboard shortcuts",
      leftSection: <Keyboard {...ICON} />,
      onClick: onShowShortcuts,
    },
    {
      id: "account",
      label: "Account",
      leftSection: <UserRound {...ICON} />,
      onClick: () => void navigate({ to: "/account" }),
    },
    ...(state.user?.isOwner === true
      ? [
          {
            id: "system",
            label: "System",
            keywords: "doctor queue disk version",
            leftSection: <Server {...ICON} />,
            onClick: () => void navigate({ to: "/admin/system" }),
          },
          {
            id: "server-settings",
            label: "Server settings",
            keywords: "relay smtp transport rate quota retention configuration",
            leftSection: <SlidersHorizontal {...ICON} />,
            onClick: () => void navigate({ to: "/admin/settings" }),
          },
          {
            id: "users",
            label: "Users",
            keywords: "owners people accounts second factor",
            leftSection: <UsersRound {...ICON} />,
            onClick: () => void navigate({ to: "/admin/users" }),
          },
          {
            id: "system-audit",
            label: "Audit log of the installation",
            keywords: "changes history who",
            leftSection: <ScrollText {...ICON} />,
            onClick: () => void navigate({ to: "/admin/audit" }),
          },
        ]
      : []),
    {
      id: "sign-out",
      label: "Sign out",
      keywords: "log out",
      leftSection: <LogOut {...ICON} />,
      onClick: () => void signOut(),
    },
  ];

  // The chapters are many, so they are shown when something is searched.
  const docs: SpotlightActionData[] = [
    docsAction("Documentation of the API", "/docs"),
    ...(isTyped ? DOCS_CHAPTERS : []).map((chapter) =>
      docsAction(`Documentation: ${chapter}`, docsPath(chapter)),
    ),
  ];

  const groups = [
    ...withId,
    ...found.slice(0, FIRST_FOUND),
    { group: "Pages", actions: pages },
    ...found.slice(FIRST_FOUND),
    { group: "Projects", actions: projects },
    { group: "Actions", actions },
    { group: "Documentation", actions: docs },
  ].filter((group) => group.actions.length > 0);

  useFirstSelected(query, groups);

  return (
    <Spotlight
      store={store}
      onSpotlightClose={onClose}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      overlayProps={{ backgroundOpacity: 0.3, blur: 0 }}
      actions={groups}
      nothingFound="No page, action or object of the project has this name."
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <Search {...ICON} />,
        placeholder: "Search pages, contacts, projects and actions",
        "aria-label": "Search pages, contacts, projects and actions",
      }}
    />
  );
}

/** A page of the documentation, which is no page of the dashboard. */
const docsAction = (label: string, path: string): SpotlightActionData => ({
  id: `docs-${label}`,
  label,
  keywords: "help reference interface openapi",
  leftSection: <BookOpen {...ICON} />,
  onClick: () => window.location.assign(path),
});

/** Selects the first row also where it was found later than the text was typed, for Enter. */
function useFirstSelected(query: string, groups: readonly { actions: SpotlightActionData[] }[]) {
  const shown = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join(" ");
  useEffect(() => {
    const list = document.getElementById(store.getState().listId);
    if (query.trim() === "" || list === null) return;
    if (list.querySelector("[data-selected]") !== null) return;
    list.querySelector("[data-action]")?.setAttribute("data-selected", "true");
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [query, shown]);
}
