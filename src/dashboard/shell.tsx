/**
 * The frame of the pages for users: side bar (a drawer on phones), banners, command palette,
 * shortcuts and the live connection of the project.
 */

import { ActionIcon, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { Menu } from "lucide-react";
import { useEffect } from "react";
import { setProject } from "./api.ts";
import { Banners } from "./banners.tsx";
import { useLive } from "./live.ts";
import { navigationOf } from "./navigation.ts";
import { Palette } from "./palette.tsx";
import { ShortcutList } from "./shortcut-list.tsx";
import { type Shortcuts, useShortcuts } from "./shortcuts.ts";
import { Sidebar } from "./sidebar.tsx";
import { rememberProject, useAppState, useProject } from "./state.ts";

export function Shell() {
  const project = useProject();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isListOpen, list] = useDisclosure(false);
  const router = useRouter();
  const id = project?.id ?? null;
  // Before the pages below render, so that their first requests are for this project.
  setProject(id);
  useLive(id);
  useNavigationKeys(list.open);
  useEffect(() => {
    if (id !== null) rememberProject(id);
  }, [id]);
  useEffect(() => router.subscribe("onResolved", menu.close), [router, menu]);

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <div className="shell">
        <header className="bar">
          <ActionIcon size="lg" aria-label="Open the menu" onClick={menu.open}>
            <Menu size={20} />
          </ActionIcon>
          <span className="cut">{project?.name ?? "Mailstead"}</span>
        </header>
        <Sidebar />
        <main id="main" className="main" tabIndex={-1}>
          <Banners />
          <Outlet />
        </main>
      </div>
      <Drawer
        opened={isMenuOpen}
        onClose={menu.close}
        size={280}
        padding={0}
        withCloseButton={false}
        attributes={{ content: { "aria-label": "Menu" } }}
        classNames={{ body: "side-drawer", content: "side-drawer" }}
      >
        <Sidebar />
      </Drawer>
      <Palette onShowShortcuts={list.open} />
      <ShortcutList isOpen={isListOpen} onClose={list.close} />
    </>
  );
}

/** `g o` and the like, for each page that has a key, and `?`. */
function useNavigationKeys(showList: () => void): void {
  const navigate = useNavigate();
  const state = useAppState();
  const project = useProject();
  const shortcuts: Record<string, () => void> = { "?": showList };
  if (project !== null) {
    for (const { key, to } of navigationOf(state).flat()) {
      if (key === undefined) continue;
      shortcuts[`g ${key}`] = () => void navigate({ to, params: { project: project.id } });
    }
  }
  useShortcuts(shortcuts satisfies Shortcuts);
}
