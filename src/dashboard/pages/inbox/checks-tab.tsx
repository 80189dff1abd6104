import { Button } from "@mantine/core";
import { useState } from "react";
import { Loaded } from "../../ui/loaded.tsx";
import { Findings, LinkAnswers, Support } from "../../ui/message/checks.tsx";
import { SenderVerdicts } from "../../ui/message/verdicts.tsx";
import {
  type MessagePlace,
  useAuthentication,
  useLinkAnswers,
  useMessageChecks,
} from "./use-message.ts";

/** The message as receivers would judge it. Answers of other servers follow when they arrive. */
export function InboxChecksTab({ place, html }: { place: MessagePlace; html: string }) {
  return (
    <Loaded query={useMessageChecks(place)} height={320}>
      {({ findings, support, features }) => (
        <>
          <Findings findings={findings} html={html} />
          <Authentication place={place} />
          {html !== "" && <Support support={support} features={features} />}
          <Links place={place} />
        </>
      )}
    </Loaded>
  );
}

/** By the DNS of this moment. Without a public address of the sender, SPF cannot be checked. */
function Authentication({ place }: { place: MessagePlace }) {
  const evaluated = useAuthentication(place);
  return (
    <section className="section">
      <h2 className="checks-title">Authentication of the sender</h2>
      {evaluated.isPending ? (
        <p className="muted" role="status">
          Asking the DNS…
        </p>
      ) : (
        <Loaded query={evaluated}>
          {({ authentication }) =>
            authentication !== null && <SenderVerdicts {...authentication} />
          }
        </Loaded>
      )}
    </section>
  );
}

/** The links are requested only when the user asks for it, because a server counts each request. */
function Links({ place }: { place: MessagePlace }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section className="section">
      <h2 className="checks-title">Links</h2>
      {isAsked ? (
        <AskedLinks place={place} />
      ) : (
        <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
          Check whether the links respond
        </Button>
      )}
    </section>
  );
}

function AskedLinks({ place }: { place: MessagePlace }) {
  const answers = useLinkAnswers(place);
  if (answers.isPending) return <p role="status">Requesting the links…</p>;
  return (
    <Loaded query={answers}>
      {({ links }) =>
        links === null || links.length === 0 ? (
          <p className="muted">The message has no links.</p>
        ) : (
          <LinkAnswers links={links} />
        )
      }
    </Loaded>
  );
}
