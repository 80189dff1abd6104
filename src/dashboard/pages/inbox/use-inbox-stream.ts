/** The live events of an inbox. They carry the changed messages, so the list needs no requests. */

import { useEffect, useRef, useState } from "react";
import { projectUrl } from "../../api.ts";
import { connectWhileShown } from "../../event-connection.ts";
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
  useEffect(() => connect(inbox, (changes) => latest.current(changes), setIsLive), [inbox]);
  return isLive;
}

/** Opens the connection; the returned function closes it. */
function connect(
  inbox: string,
  onChanges: (changes: readonly InboxChange[]) => void,
  onState: (isOpen: boolean) => void,
): () => void {
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

  function listen(source: EventSource): void {
    for (const name of EVENT_NAMES) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        const change = readChange(JSON.parse(data), name);
        if (change !== null) add(change);
      });
    }
  }

  return connectWhileShown({
    url: projectUrl(`/inboxes/${encodeURIComponent(inbox)}/events`),
    retry: { firstMs: FIRST_RETRY_MS, longestMs: LONGEST_RETRY_MS },
    listen,
    onShown: () => onChanges([{ type: "reload" }]),
    onOpen() {
      // The list may have been read before the connection opened, and a message arrived in between.
      add({ type: "reload" });
      onState(true);
    },
    onError: () => onState(false),
    onClose() {
      window.clearTimeout(flush);
      flush = undefined;
      waiting = [];
    },
  });
}
