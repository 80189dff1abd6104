import { Button } from "@mantine/core";
import { Check, Copy, ExternalLink } from "lucide-react";
import { useCopy } from "../../ui/copy.tsx";
import { type MessagePlace, useCodes } from "./use-message.ts";

/** The best code and the best link to sign in, above the tabs: most test mails are about them. */
export function CodeBar({ place }: { place: MessagePlace }) {
  const { data } = useCodes(place);
  const code = data?.codes[0]?.code;
  const link = data?.magicLinks[0];
  if (code === undefined && link === undefined) return null;
  return (
    <div className="code-bar">
      {code !== undefined && <CodeButton code={code} />}
      {link !== undefined && (
        <a className="code-link" href={link.url} target="_blank" rel="noreferrer noopener">
          <span className="cut">{link.text === "" ? link.url : link.text}</span>
          <ExternalLink size={14} aria-hidden />
        </a>
      )}
    </div>
  );
}

/** A code that is copied by a click. */
export function CodeButton({ code }: { code: string }) {
  const { isCopied, copy } = useCopy();
  return (
    <Button
      className="code-button"
      variant="light"
      size="md"
      aria-label={isCopied ? "Copied" : `Copy the code ${code}`}
      rightSection={isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
      onClick={() => void copy(code)}
    >
      {code}
    </Button>
  );
}
