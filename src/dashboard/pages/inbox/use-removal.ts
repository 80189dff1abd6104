/**
 * Deletes messages with a time to undo it. A deleted message cannot be restored, so it is hidden at
 * once and deleted when the time to undo has passed, or when the page is left.
 */

import { useEffect, useState } from "react";
import { api, projectUrl } from "../../api.ts";
import { showFailure, showUndo, UNDO_MS } from "../../ui/undo.tsx";
import { messagePath } from "./use-messages.ts";

export type Removal = {
  /** Messages that are not shown any more. */
  hidden: ReadonlySet<string>;
  remove: (id: string, subject: string) => void;
};

type Pending = { timer: number; path: string; close: () => void };

export function useRemoval(inbox: string): Removal {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [pending] = useState(() => new Map<string, Pending>());

  const show = (id: string) =>
    setHidden((before) => new Set([...before].filter((each) => each !== id)));

  useEffect(() => {
    // Requests of a page that is left are ended, unless they are marked to be kept.
    function flush(): void {
      for (const { timer, path, close } of pending.values()) {
        window.clearTimeout(timer);
        close();
        void fetch(projectUrl(path), {
          method: "DELETE",
          keepalive: true,
          credentials: "same-origin",
          headers: { "X-Requested-With": "mailstead" },
        });
      }
      pending.clear();
    }
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      flush();
    };
  }, [inbox, pending]);

  function remove(id: string, subject: string): void {
    if (pending.has(id)) return;
    const path = messagePath(inbox, id);
    const timer = window.setTimeout(() => void run(), UNDO_MS);
    const close = showUndo({ text: `Deleted “${shortened(subject)}”.`, onUndo: undo });
    pending.set(id, { timer, path, close });
    setHidden((before) => new Set(before).add(id));

    function undo(): void {
      window.clearTimeout(timer);
      if (pending.delete(id)) show(id);
    }

    async function run(): Promise<void> {
      pending.delete(id);
      try {
        await api.delete(path);
      } catch (error) {
        show(id);
        showFailure("The message was not deleted", error);
      }
    }
  }

  return { hidden, remove };
}

const SHOWN = 28;
const shortened = (text: string): string =>
  text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text === "" ? "(no subject)" : text;
