/** The card says whether mail reaches the contact, and if not, gives the reason and the remedy. */

import { Fragment } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { useAppState, useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { lastAcceptance, type Obstacle, obstaclesOf } from "./obstacles.ts";
import { useAddressSuppression, useContactMails, useSubscriptionChanges } from "./use-contact.ts";

export function DeliveryCard({ contact, project }: { contact: Contact; project: string }) {
  const { data: suppression } = useAddressSuppression(contact.email);
  const { data: changes } = useSubscriptionChanges(contact.id);
  const mails = useContactMails(contact.id);
  const nowMs = useNow();
  const isProjectEnabled = useProject()?.isEnabled !== false;
  const isCapturing = useAppState().transport === "capture";
  return (
    <section className="contact-delivery" aria-label="Whether mail arrives">
      <Loaded query={mails} height={20}>
        {({ last, waiting }) => {
          if (suppression === undefined || changes === undefined) return null;
          const obstacles = obstaclesOf({
            isProjectEnabled,
            contact,
            nowMs,
            suppression,
            lastChange: changes[0] ?? null,
            last,
            waiting,
          });
          const acceptedAt = lastAcceptance(last);
          return (
            <>
              {obstacles.map((obstacle) => (
                <Finding key={obstacle.key} obstacle={obstacle} project={project} />
              ))}
              <p className="muted">
                {isCapturing && "This server captures mail: none leaves for this contact. "}
                {!isCapturing &&
                  obstacles.length === 0 &&
                  "Mail to this contact is delivered as usual. "}
                {last === null && waiting.length === 0 && "No mail was sent to it yet."}
                {acceptedAt !== null && (
                  <>
                    The last mail {isCapturing ? "is from" : "was accepted by a mail server"}{" "}
                    <Time at={acceptedAt} />.
                  </>
                )}
              </p>
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function Finding({ obstacle, project }: { obstacle: Obstacle; project: string }) {
  const { tone, title, since, until, untilLabel, texts, link } = obstacle;
  return (
    <div className="contact-obstacle" data-tone={tone}>
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>
        {since !== null && (
          <>
            {" "}
            Since <Time at={since} as="since" />.
          </>
        )}
        {until !== null && (
          <>
            {" "}
            {untilLabel} <Time at={until} as="due" />.
          </>
        )}
      </p>
      <p>
        {texts.map((text) => (
          <Fragment key={text}>
            <bdi>{text}</bdi>{" "}
          </Fragment>
        ))}
        {link !== null && <PathLink path={`/p/${project}${link.path}`}>{link.label}</PathLink>}
      </p>
    </div>
  );
}
