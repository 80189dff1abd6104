/** The checks of an email: the verdict of each, why it matters, where it is and how to fix it. */

import { Button } from "@mantine/core";
import { useState } from "react";
import { Findings, LinkAnswers, Support } from "../../ui/message/checks.tsx";
import { Body } from "./body.tsx";
import { useChecks, useContent } from "./use-email.ts";

export function ChecksTab({ id }: { id: string }) {
  const checks = useChecks(id, false);
  const content = useContent(id);
  return (
    <Body query={checks}>
      {(data) => (
        <>
          <Findings findings={data.findings} html={content.data?.html ?? ""} />
          <Support support={data.support} features={data.features} />
          <Links id={id} urls={data.urls} />
        </>
      )}
    </Body>
  );
}

/** The links are requested only when the user asks for it, because a server counts each request. */
function Links({ id, urls }: { id: string; urls: readonly string[] }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section className="section">
      <h2 className="checks-title">Links</h2>
      {urls.length === 0 && <p className="muted">The email has no links of its own.</p>}
      {urls.length > 0 && !isAsked && (
        <>
          <ul className="links">
            {urls.map((url) => (
              <li key={url}>
                <span className="link-url">{url}</span>
              </li>
            ))}
          </ul>
          <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
            Check whether they respond
          </Button>
        </>
      )}
      {isAsked && <AskedLinks id={id} />}
    </section>
  );
}

function AskedLinks({ id }: { id: string }) {
  const checks = useChecks(id, true);
  if (checks.isPending) return <p role="status">Requesting the links…</p>;
  return <Body query={checks}>{({ links }) => <LinkAnswers links={links ?? []} />}</Body>;
}
