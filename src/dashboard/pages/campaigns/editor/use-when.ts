/**
 * The time at which a draft is to be sent, until it is scheduled. The server has no such field, so the
 * browser keeps the choice.
 */

import { useState } from "react";
import { useAppState } from "../../../state.ts";
import { readWhen, type When } from "./when.ts";

const PREFIX = "mailstead-when";

export function useWhen(id: string) {
  const { user } = useAppState();
  const key = `${PREFIX}:${user?.id ?? ""}:${id}`;
  const [when, setWhen] = useState(() => readWhen(localStorage.getItem(key)));
  return {
    when,
    change(next: Partial<When>): void {
      const changed = { ...when, ...next };
      setWhen(changed);
      try {
        localStorage.setItem(key, JSON.stringify(changed));
      } catch (error) {
        // The storage is full; the choice is still that of the page.
        if (!(error instanceof DOMException)) throw error;
      }
    },
  };
}
