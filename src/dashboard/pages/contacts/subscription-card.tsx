import { Button } from "@mantine/core";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Time } from "../../ui/time.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { Pause } from "./pause.tsx";
import { viaWords } from "./timeline-days.ts";
import { useContactRefresh, useSubscriptionChanges } from "./use-contact.ts";

/** The card says whether the contact gets marketing mail, since when and why, and changes it. */
export function SubscriptionCard({ contact }: { contact: Contact }) {
  const { id, subscribed } = contact;
  const changes = useSubscriptionChanges(id);
  const { isBusy, set } = useSubscription(contact);
  const mayChange = useMay("EDITOR");
  return (
    <section className="card contact-card" aria-labelledby="contact-subscription">
      <div className="contact-card-head">
        <h2 id="contact-subscription">Subscription</h2>
        {mayChange && (
          <Button
            size="compact-sm"
            variant="default"
            loading={isBusy}
            onClick={() => void set(!subscribed)}
          >
            {subscribed ? "Unsubscribe" : "Subscribe"}
          </Button>
        )}
      </div>
      <p className="muted small">
        {subscribed ? "Gets campaigns and other marketing mail." : "Gets no marketing mail."}
      </p>
      {subscribed && <Pause contact={contact} mayChange={mayChange} />}
      <Loaded query={changes} height={60}>
        {(events) => (
          <ol className="contact-changes" aria-label="History of the subscription">
            {events.map(({ id: eventId, name, data, createdAt }) => (
              <li key={eventId}>
                <span>
                  {name === "contact.subscribed" ? "Subscribed" : "Unsubscribed"}
                  <span className="muted small"> {viaWords(data)}</span>
                </span>
                <span className="muted small">
                  <Time at={createdAt} />
                </span>
              </li>
            ))}
            {events.length === 0 && (
              <li className="muted small">No change is recorded since the contact was created.</li>
            )}
          </ol>
        )}
      </Loaded>
    </section>
  );
}

/** Changes the subscription at once; the message that says so can undo it. */
function useSubscription({ id, email, subscribed }: Contact) {
  const [isBusy, setIsBusy] = useState(false);
  const refresh = useContactRefresh(id);
  const patch = (value: boolean) => api.patch(`/contacts/${id}`, { subscribed: value });
  const undo = async () => {
    await patch(subscribed);
    await refresh();
  };

  async function set(value: boolean): Promise<void> {
    setIsBusy(true);
    try {
      await patch(value);
      showUndo({
        text: value ? `${email} is subscribed.` : `${email} is unsubscribed.`,
        onUndo: () =>
          void undo().catch((error: unknown) => showFailure("It was not undone", error)),
      });
      await refresh();
    } catch (error) {
      showFailure("The subscription was not changed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return { isBusy, set };
}
