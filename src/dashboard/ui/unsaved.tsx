import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Confirm } from "./confirm.tsx";

/**
 * Asks before a page is left whose form has changes that are not saved, and lets the browser ask
 * before the tab is closed. Returns the question, which is an element of the form.
 */
export function useUnsaved(isChanged: boolean): ReactNode {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname ||
      JSON.stringify(current.search) !== JSON.stringify(next.search),
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
    withResolver: true,
  });
  return (
    <Confirm
      isOpen={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      text="What you changed here is not saved yet, and leaving discards it."
      action="Leave without saving"
      onConfirm={async () => blocker.proceed?.()}
    />
  );
}
