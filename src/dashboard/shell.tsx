/**
 * The frame of the pages for users: side bar (a drawer on phones), banners, command palette,
 * shortcuts and the live connection of the project.
 */

import { ActionIcon } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { Menu } from "lucide-react";
import { useEffect, useState } from "react";
import { setProject } from "./api.ts";
import { Banners } from "./banners.tsx";
import { lazyPart, Once } from "./lazy.tsx";
import { useLive } from "./live.ts";
import { navigationOf } from "./navigation.ts";
import { type Shortcuts, useShortcuts } from "./shortcuts.ts";
import { Sidebar } from "./sidebar.tsx";
import { rememberProject, useAppState, useNavigationProject, useProject } from "./state.ts";

const MenuDrawer = lazyPart(async () => (await import("./menu-drawer.tsx")).MenuDrawer);
/** Before it is needed, so that no key is lost that is typed right after Ctrl K. */
const PALETTE_DELAY_MS = 1_500;
const loadPalette = async () => (await import("./palette.tsx")).Palette;
const Palette = lazyPart(loadPalette);
const ShortcutList = lazyPart(async () => (await import("./shortcut-list.tsx")).ShortcutList);

export function Shell() {
  const project = useProject();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isListOpen, list] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const [isPaletteLoaded, setIsPaletteLoaded] = useState(false);
  const router = useRouter();
  const id = project?.id ?? null;
  // Before the pages below render, so that their first requests are for this project.
  setProject(id);
  useLive(id);
  useNavigationKeys(list.open);
  // Also in fields: the combination types nothing.
  useHotkeys([["mod+K", palette.toggle]], []);
  useEffect(() => {
    if (id !== null) rememberProject(id);
  }, [id]);
  useEffect(() => {
    // A failure is shown when the palette is opened, which loads it again.
    const note = (isLoaded: boolean) => () => setIsPaletteLoaded(isLoaded);
    const load = () => void loadPalette().then(note(true), note(false));
    const timer = setTimeout(load, PALETTE_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => router.subscribe("onResolved", menu.close), [router, menu]);

  function openSearch(): void {
    menu.close();
    palette.open();
  }

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
        <Sidebar onSearch={palette.open} />
        <main id="main" className="main" tabIndex={-1}>
          <Banners />
          <Outlet />
        </main>
      </div>
      <Once isOn={isMenuOpen}>
        <MenuDrawer isOpen={isMenuOpen} onClose={menu.close} onSearch={openSearch} />
      </Once>
      <Once isOn={isPaletteOpen || isPaletteLoaded}>
        <Palette isOpen={isPaletteOpen} onClose={palette.close} onShowShortcuts={list.open} />
      </Once>
      <Once isOn={isListOpen}>
        <ShortcutList isOpen={isListOpen} onClose={list.close} />
      </Once>
    </>
  );
}

/** `g o` and the like, for each page that has a key, and `?`. */
function useNavigationKeys(showList: () => void): void {
  const navigate = useNavigate();
  const state = useAppState();
  const project = useNavigationProject();
  const shortcuts: Record<string, () => void> = { "?": showList };
  if (project !== null) {
    for (const { key, to } of navigationOf(state, project).flat()) {
      if (key === undefined) continue;
      shortcuts[`g ${key}`] = () => void navigate({ to, params: { project: project.id } });
    }
  }
  useShortcuts(shortcuts satisfies Shortcuts);
}
