/** The source of a message of any size, as it was read from the server. */

import { useMemo } from "react";
import { sizeText } from "../size-text.ts";
import { LinesView } from "./lines-view.tsx";
import { messageLines } from "./message-lines.ts";

/** Characters of a message that are shown. */
const MAX_CHARACTERS = 20 * 1024 * 1024;

export type MessageSource = { text: string; isCut: boolean };

/** Reads a message from an address of the server. */
export async function readMessageSource(url: string, signal: AbortSignal): Promise<MessageSource> {
  const response = await fetch(url, { signal, credentials: "same-origin" });
  if (!response.ok) throw new Error(`The server answered with status ${response.status}.`);
  const text = await response.text();
  return { text: text.slice(0, MAX_CHARACTERS), isCut: text.length > MAX_CHARACTERS };
}

/** `size` is that of the message in bytes. */
export function SourceView({ text, isCut, size }: MessageSource & { size: number }) {
  const lines = useMemo(() => messageLines(text), [text]);
  return (
    <>
      <p className="muted small message-hint">
        {sizeText(size)}, {lines.count} lines
        {isCut || lines.isCut ? ", of which the beginning is shown" : ""}.
      </p>
      <LinesView lines={lines} label="Source" />
    </>
  );
}
