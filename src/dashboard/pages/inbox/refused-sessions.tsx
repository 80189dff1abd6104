import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import type { SmtpSession } from "../../../modules/inboxes/sessions/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Time } from "../../ui/time.tsx";
import { SessionLines } from "./session-tab.tsx";
import { useSession } from "./use-message.ts";
import { inboxPath } from "./use-messages.ts";

/** Newest sessions that are shown. */
const SHOWN = 20;

/** The SMTP sessions in which something was refused: by a rule, or because it was wrong. */
export function RefusedSessions({ inbox }: { inbox: Inbox }) {
  const project = useProject()?.id ?? null;
  const query = useQuery({
    queryKey: ["inbox-refused", project, inbox.id],
    queryFn: ({ signal }) =>
      api.get<SmtpSession[]>(`${inboxPath(inbox.id)}/sessions`, {
        query: { refused: true, limit: SHOWN },
        signal,
      }),
    staleTime: 0,
  });
  return (
    <section className="section" aria-labelledby="refused-sessions">
      <h3 id="refused-sessions">Refused sessions</h3>
      <Loaded query={query} height={80}>
        {(sessions) =>
          sessions.length === 0 ? (
            <p className="muted">No session of this inbox was refused.</p>
          ) : (
            <ul className="refused">
              {sessions.map((session) => (
                <RefusedSession key={session.id} inbox={inbox} session={session} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function RefusedSession({ inbox, session }: { inbox: Inbox; session: SmtpSession }) {
  const [isOpen, setIsOpen] = useState(false);
  const { id, peer, startedAt, refusal } = session;
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <Icon size={14} aria-hidden />
        <code className="refused-reply">{refusal}</code>
        <span className="muted small">
          {peer}, <Time at={startedAt} isPlain />
        </span>
      </button>
      {isOpen && <Transcript inbox={inbox} id={id} />}
    </li>
  );
}

function Transcript({ inbox, id }: { inbox: Inbox; id: string }) {
  return (
    <Loaded query={useSession(inbox.id, id)} height={120}>
      {(session) => (
        <div className="conversation">
          <SessionLines session={session} />
        </div>
      )}
    </Loaded>
  );
}
