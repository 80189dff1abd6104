import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { type LiveMessage, useLiveMessages } from "../../live.ts";

/** Reading a filtered list of recipients searches all mails of the campaign. */
const RENEW_MS = 5_000;

/** Reads the queries of a noun again after live messages about mails, at most every five seconds. */
export function useRenewed(noun: string, isEnabled = true): void {
  const client = useQueryClient();
  const timer = useRef<number | undefined>(undefined);
  const onMessages = useCallback(
    (messages: readonly LiveMessage[]) => {
      if (!isEnabled || !messages.some(({ type }) => /^(?:email|campaign|reload)\b/.test(type)))
        return;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        void client.invalidateQueries({ queryKey: [noun] });
      }, RENEW_MS);
    },
    [client, noun, isEnabled],
  );
  useLiveMessages(onMessages);
  useEffect(() => () => window.clearTimeout(timer.current), []);
}
