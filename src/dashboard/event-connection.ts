/**
 * A connection for server-sent events that is open while the tab is shown, because a browser opens
 * only six connections to a server. The browser itself repairs a connection that broke; after a
 * refusal this file opens it again, ever less often.
 */

import { checkConnection } from "./connection.ts";

type Options = {
  url: string;
  /** Milliseconds until the first new try after a refusal, and the longest such time. */
  retry: { firstMs: number; longestMs: number };
  /** Adds the listeners of the events to a new connection. */
  listen: (source: EventSource) => void;
  /** Called when the tab is shown again: events were missed while it was hidden. */
  onShown: () => void;
  /** Called when the connection is open. Events from before may be missing. */
  onOpen?: () => void;
  /** Called when the connection broke or was refused. */
  onError?: () => void;
  /** Called when the connection is closed, because the tab is hidden or its page is left. */
  onClose?: () => void;
};

/** Opens the connection; the returned function closes it for good. */
export function connectWhileShown(options: Options): () => void {
  const { firstMs, longestMs } = options.retry;
  let source: EventSource | null = null;
  let retry: number | undefined;
  let retryMs = firstMs;

  function open(): void {
    if (source !== null || retry !== undefined) return;
    const opened = new EventSource(options.url);
    source = opened;
    options.listen(opened);
    opened.addEventListener("open", () => {
      options.onOpen?.();
      retryMs = firstMs;
    });
    opened.addEventListener("error", () => {
      options.onError?.();
      void checkConnection();
      // While it is connecting again, the browser does the rest. A refusal closes it for good.
      if (opened.readyState === EventSource.CLOSED) openLater();
    });
  }

  function openLater(): void {
    source = null;
    retry = window.setTimeout(() => {
      retry = undefined;
      open();
    }, retryMs);
    retryMs = Math.min(retryMs * 2, longestMs);
  }

  function close(): void {
    source?.close();
    source = null;
    window.clearTimeout(retry);
    retry = undefined;
    options.onClose?.();
  }

  function follow(): void {
    if (document.hidden) return close();
    options.onShown();
    open();
  }

  document.addEventListener("visibilitychange", follow);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", follow);
    close();
  };
}
