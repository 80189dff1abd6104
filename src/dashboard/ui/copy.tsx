import { ActionIcon, Tooltip } from "@mantine/core";
import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";

const SHOWN_MS = 1_500;

/** A button that copies a text. `label` names what is copied: "Copy the id". */
export function Copy({ value, label }: { value: string; label: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <Tooltip label={isCopied ? "Copied" : label}>
      <ActionIcon
        size="sm"
        aria-label={isCopied ? "Copied" : label}
        onClick={() => void copy(value)}
      >
        {isCopied ? <Check size={14} /> : <CopyIcon size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** A text such as an id or a host name with a button that copies it. */
export function CopyText({ value, label }: { value: string; label: string }) {
  return (
    <span className="copy-text">
      <code>{value}</code>
      <Copy value={value} label={label} />
    </span>
  );
}

export function useCopy() {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return {
    isCopied,
    /** False if the browser refused it. */
    copy: async (text: string): Promise<boolean> => {
      const isDone = await copyText(text);
      setIsCopied(isDone);
      return isDone;
    },
  };
}

/** Copies a text, also on pages over plain HTTP, which have no clipboard; false if it failed. */
async function copyText(text: string): Promise<boolean> {
  // The types of the platform do not know pages without a clipboard.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard !== undefined) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  }
  const field = document.createElement("textarea");
  const previous = document.activeElement;
  field.value = text;
  field.setAttribute("aria-hidden", "true");
  field.className = "copy-field";
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (previous instanceof HTMLElement) previous.focus();
  return isDone;
}
