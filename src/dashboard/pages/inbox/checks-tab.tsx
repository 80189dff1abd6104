import { Button } from "@mantine/core";
import { useState } from "react";
import type { MessageChecks } from "../../../modules/inboxes/checks/model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Findings, Support } from "../../ui/message/checks.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
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

const TONES: Readonly<Record<string, Tone>> = {
  pass: "good",
  fail: "failed",
  permerror: "failed",
  softfail: "held",
  temperror: "held",
  policy: "held",
};

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
          {({ authentication }) => authentication !== null && <Verdicts {...authentication} />}
        </Loaded>
      )}
    </section>
  );
}

function Verdicts({ spf, dkim, dmarc }: NonNullable<MessageChecks["authentication"]>) {
  const rows = [
    { name: "SPF", ...spf },
    ...dkim.map((each) => ({ name: "DKIM", ...each })),
    { name: "DMARC", ...dmarc },
  ];
  return (
    <ul className="authentication">
      {rows.map(({ name, result, domain, info }, i) => (
        <li key={`${i} ${name}`}>
          <strong>{name}</strong>
          <Status tone={TONES[result] ?? "waiting"}>{result}</Status>
          <span className="muted">
            {[domain, info].filter((text) => text !== null && text !== "").join(": ")}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The links are requested only when the user asks for it, because a server counts each request. */
function Links({ place }: { place: MessagePlace }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <section className="section">
      <h2 className="checks-title">Links</h2>
      {isAsked ? (
        <LinkAnswers place={place} />
      ) : (
        <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
          Check whether the links respond
        </Button>
      )}
    </section>
  );
}

function LinkAnswers({ place }: { place: MessagePlace }) {
  const answers = useLinkAnswers(place);
  if (answers.isPending) return <p role="status">Requesting the links…</p>;
  return (
    <Loaded query={answers}>
      {({ links }) =>
        links === null || links.length === 0 ? (
          <p className="muted">The message has no links.</p>
        ) : (
          <ul className="links">
            {links.map(({ url, status, error }) => (
              <li key={url}>
                <Status tone={status !== null && status < 400 ? "good" : "failed"}>
                  {status ?? "No response"}
                </Status>
                <span className="link-url">{url}</span>
                {error !== null && <span className="muted small">{error}</span>}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
