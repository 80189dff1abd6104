/** The message as text: rendered again with its headers marked, and as it was captured. */

import { Button } from "@mantine/core";
import { Download, FileX } from "lucide-react";
import { useMemo } from "react";
import { ApiError, projectUrl } from "../../api.ts";
import { Note } from "../../ui/note.tsx";
import { sizeText } from "../../ui/size-text.ts";
import { Body } from "./body.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { messageLines } from "../../ui/message/message-lines.ts";
import { type SourceText, useSource } from "./use-email.ts";

export function SourceTab({ id }: { id: string }) {
  return (
    <Body query={useSource(id, "source")}>
      {(source) => (
        <Message
          id={id}
          kind="source"
          source={source}
          label="Source"
          hint="The message as it leaves, rendered and signed again."
        />
      )}
    </Body>
  );
}

export function RawTab({ id }: { id: string }) {
  const query = useSource(id, "raw");
  if (query.error instanceof ApiError && query.error.code === "EMAIL_NOT_FOUND") {
    return (
      <>
        <Note icon={<FileX size={20} aria-hidden />} title="The sent bytes are not stored">
          Only the transport <code>capture</code> stores each message exactly as it was sent, for
          the number of days in the setting <code>--retain-raw</code>. You can download the message
          rendered again.
        </Note>
        <p className="note-action">
          <DownloadLink id={id} kind="source" />
        </p>
      </>
    );
  }
  return (
    <Body query={query}>
      {(source) => (
        <Message
          id={id}
          kind="raw"
          source={source}
          isPlain
          label="Raw message"
          hint="The bytes that were captured."
        />
      )}
    </Body>
  );
}

const number = new Intl.NumberFormat();

type Kind = "source" | "raw";

function Message(props: {
  id: string;
  kind: Kind;
  source: SourceText;
  isPlain?: boolean;
  label: string;
  hint: string;
}) {
  const { id, kind, source, isPlain = false, label, hint } = props;
  const lines = useMemo(() => messageLines(source.text, { isPlain }), [source.text, isPlain]);
  return (
    <div className="email-tall">
      <div className="message-bar">
        <p className="muted small">
          {hint} {sizeText(source.text.length)}, {number.format(lines.count)} lines
          {source.isCut || lines.isCut ? "; download the message for the rest" : ""}.
        </p>
        <DownloadLink id={id} kind={kind} />
      </div>
      <LinesView lines={lines} label={label} />
    </div>
  );
}

function DownloadLink({ id, kind }: { id: string; kind: Kind }) {
  return (
    <Button
      component="a"
      size="xs"
      variant="default"
      leftSection={<Download size={14} aria-hidden />}
      href={projectUrl(`/emails/${encodeURIComponent(id)}/${kind}`)}
      download={`${id}.eml`}
    >
      Download .eml
    </Button>
  );
}
