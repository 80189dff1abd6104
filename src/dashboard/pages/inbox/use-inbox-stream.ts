/**
 * The live events of an inbox. They carry the changed messages, so the list needs no requests. The
 * connection is closed while the tab is hidden, because a browser opens only six to a server.
 */

import { useEffect, useRef, useState } from "react";
import { projectUrl } from "../../api.ts";
import { EVENT_NAMES, type InboxChange, readChange } from "./inbox-changes.ts";

/** Changes within this time are applied together. */
const BATCH_MS = 80;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** Calls `onChanges` with the changes of the inbox. Returns whether the connection is open. */
export function useInboxStream(
  inbox: string,
  onChanges: (changes: readonly InboxChange[]) => void,
): boolean {
  const [isLive, setIsLive] = useState(true);
  const latest = useRef(onChanges);
  useEffect(() => {
    latest.current = onChanges;
  });
  useEffect(() => {
    const connection = createConnection(inbox, (changes) => latest.current(changes), setIsLive);
    const follow = () => {
      if (document.hidden) return connection.close();
      latest.current([{ type: "reload" }]);
      connection.open();
    };
    document.addEventListener("visibilitychange", follow);
    if (!document.hidden) connection.open();
    return () => {
      document.removeEventListener("visibilitychange", follow);
      connection.close();
    };
  }, [inbox]);
  return isLive;
}

function createConnection(
  inbox: string,
  onChanges: (changes: readonly InboxChange[]) => void,
  onState: (isOpen: boolean) => void,
) {
  let source: EventSource | null = null;
  let retry: number | undefined;
  let retryMs = FIRST_RETRY_MS;
  let flush: number | undefined;
  let waiting: InboxChange[] = [];

  function add(change: InboxChange): void {
    waiting.push(change);
    flush ??= window.setTimeout(() => {
      flush = undefined;
      const changes = waiting;
      waiting = [];
      onChanges(changes);
    }, BATCH_MS);
  }

  function open(): void {
    if (source !== null || retry !== undefined) return;
    const opened = new EventSource(projectUrl(`/inboxes/${encodeURIComponent(inbox)}/events`));
    source = opened;
    for (const name of EVENT_NAMES) {
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        const change = readChange(JSON.parse(data), name);
        if (change !== null) add(change);
      });
    }
    opened.addEventListener("open", () => {
      // After a refusal, nothing tells which events were missed.
      if (retryMs > FIRST_RETRY_MS) add({ type: "reload" });
      retryMs = FIRST_RETRY_MS;
      onState(true);
    });
    opened.addEventListener("error", () => {
      onState(false);
      // While it is connecting again, the browser does the rest. A refusal closes it for good.
      if (opened.readyState !== EventSource.CLOSED) return;
      source = null;
      retry = window.setTimeout(() => {
        retry = undefined;
        open();
      }, retryMs);
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
    });
  }

  function close(): void {
    source?.close();
    source = null;
    window.clearTimeout(retry);
    window.clearTimeout(flush);
    retry = undefined;
    flush = undefined;
    waiting = [];
  }

  return { open, close };
}
