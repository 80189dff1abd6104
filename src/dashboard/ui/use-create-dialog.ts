import { useDisclosure } from "@mantine/hooks";
import type { HistoryState } from "@tanstack/history";
import { useLocation, useMatch, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

declare module "@tanstack/history" {
  interface HistoryState {
    /** Opens the dialog of the page that adds an object; the command palette sets it. */
    isCreating?: boolean;
    /** Opens another dialog of the page, by its name. */
    dialog?: string;
  }
}

/**
 * The dialog of a page that adds an object. A navigation with the state `{ isCreating: true }` opens
 * it as well, if the user may add one.
 */
export function useCreateDialog(mayCreate: boolean): ReturnType<typeof useDisclosure> {
  const [isOpen, dialog] = useDisclosure(false);
  useCreateRequest(mayCreate, dialog.open);
  return [isOpen, dialog];
}

/** Another dialog of a page, which a navigation with the state `{ dialog: name }` opens as well. */
export function useNamedDialog(name: string, mayOpen = true): ReturnType<typeof useDisclosure> {
  const [isOpen, dialog] = useDisclosure(false);
  useRequest(
    ({ dialog: wanted }) => wanted === name,
    () => mayOpen && dialog.open(),
  );
  return [isOpen, dialog];
}

/**
 * Calls `create` once after a navigation with the state `{ isCreating: true }`. The state is then
 * removed, so that nothing is created when the user comes back to the page.
 */
export function useCreateRequest(mayCreate: boolean, create: () => void): void {
  useRequest(
    ({ isCreating }) => isCreating === true,
    () => mayCreate && create(),
  );
}

/** Calls `run` once after a navigation whose state asks for it. */
function useRequest(isAsked: (state: HistoryState) => boolean, run: () => void): void {
  // A page that is left is shown until the next one is loaded, whose location is not its own.
  const ownPath = useMatch({ strict: false, select: ({ pathname }) => pathname });
  const isWanted = useLocation({
    select: ({ pathname, state }) => pathname === ownPath && isAsked(state),
  });
  const navigate = useNavigate();
  useEffect(() => {
    if (!isWanted) return;
    run();
    void navigate({ to: ".", search: true, replace: true, state: {} });
  }, [isWanted]);
}
