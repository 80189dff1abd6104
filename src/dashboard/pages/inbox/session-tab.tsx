import { FileClock } from "lucide-react";
import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import type { SessionDetail } from "../../../modules/inboxes/sessions/model.ts";
import { ApiError } from "../../api.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Note } from "../../ui/note.tsx";
import { useSession } from "./use-message.ts";

/** Shows the commands of the client and the replies of the listener, with the time of each line. */
export function SessionTab({ inbox, message }: { inbox: string; message: MessageDetail }) {
  const { envelope } = message;
  const query = useSession(inbox, envelope.sessionId ?? "");
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Note icon={<FileClock size={20} aria-hidden />} title="The session is no longer kept">
        An inbox keeps the transcripts of its newest 200 sessions.
      </Note>
    );
  }
  return (
    <Loaded query={query}>
      {(session) => (
        <div className="conversation">
          <div className="conversation-head">
            <strong>{envelope.helo === "" ? session.peer : envelope.helo}</strong>
            <span className="muted">{session.peer}</span>
            <span className="muted">{envelope.tls ?? "not encrypted"}</span>
            {envelope.bareLf && (
              <span className="muted">lines ended with LF alone; they were corrected</span>
            )}
          </div>
          <SessionLines session={session} />
        </div>
      )}
    </Loaded>
  );
}

/** The lines of both sides, with their times. */
export function SessionLines({ session: { transcript } }: { session: SessionDetail }) {
  return (
    <ol className="steps">
      {transcript.map(({ atMs, from, text }, i) => (
        <li key={i} data-tone={from === "server" ? toneOf(text) : undefined}>
          <span className="step-time">{atMs} ms</span>
          <span className="step-line">
            <span className="step-side">{from === "client" ? "C" : "S"}</span>
            <code>{text}</code>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Refusals are marked; other lines have no colour. */
function toneOf(text: string): string | undefined {
  if (/^4\d\d/.test(text)) return "held";
  return /^5\d\d/.test(text) ? "failed" : undefined;
}
