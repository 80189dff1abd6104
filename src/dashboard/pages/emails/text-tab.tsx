import { Body } from "./body.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { plainLines } from "../../ui/message/message-lines.ts";
import { useContent } from "./use-email.ts";

/** The text part, for people and programs that show no HTML. */
export function TextTab({ id }: { id: string }) {
  return (
    <Body query={useContent(id)}>
      {({ text, isShortened }) =>
        text.trim() === "" ? (
          <p className="muted">The email has no text part.</p>
        ) : (
          <>
            {isShortened && <p className="muted small email-hint">Shortened to 1 MiB.</p>}
            <LinesView lines={plainLines(text)} label="Text part" isWrapped />
          </>
        )
      }
    </Body>
  );
}
