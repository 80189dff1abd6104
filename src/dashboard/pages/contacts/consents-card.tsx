/** The card that shows the tracking choice of a contact and its entries in the ledger of consents. */

import { Anchor, Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Consent } from "../../../modules/consents/model.ts";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api, type ListPage, projectUrl } from "../../api.ts";
import { useMay, useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Time } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { decisionOf, sourceOf } from "./consent-words.ts";
import { contactKey, useContactRefresh } from "./use-contact.ts";

const FEW = 5;
const MANY = 100;

export function ConsentsCard({ contact }: { contact: Contact }) {
  const { id } = contact;
  const project = useProject()?.id ?? null;
  const [shown, setShown] = useState(FEW);
  const query = useQuery({
    queryKey: contactKey(project, id, "consents", String(shown)),
    queryFn: ({ signal }) =>
      api.get<ListPage<Consent>>(`/contacts/${id}/consents`, { query: { limit: shown }, signal }),
  });
  return (
    <section className="card contact-card" aria-labelledby="contact-consents">
      <div className="contact-card-head">
        <h2 id="contact-consents">Consents</h2>
        <Anchor
          size="sm"
          href={projectUrl(`/contacts/${id}/consents/proof`)}
          target="_blank"
          rel="noreferrer"
        >
          Proof to print
        </Anchor>
      </div>
      <TrackingChoice contact={contact} />
      <Loaded query={query} height={60}>
        {({ items, hasMore }) => (
          <>
            {items.length === 0 && <p className="muted small">No consent is recorded yet.</p>}
            <ul className="contact-list">
              {items.map((consent) => (
                <ConsentRow key={`${consent.at} ${decisionOf(consent)}`} consent={consent} />
              ))}
            </ul>
            {hasMore && (
              <Button variant="default" size="xs" mt={8} onClick={() => setShown(MANY)}>
                Show more
              </Button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function ConsentRow({ consent }: { consent: Consent }) {
  const { at, clientAddress, wording } = consent;
  return (
    <li className="contact-consent">
      <span>{decisionOf(consent)}</span>
      <span className="muted small">
        <Time at={at} />
      </span>
      <p className="muted small contact-reason">
        {sourceOf(consent)}
        {clientAddress !== null && `, from ${clientAddress}`}
      </p>
      {wording !== null && (
        <details className="contact-wording">
          <summary>The text that was shown</summary>
          <pre>{wording.text}</pre>
          <p className="muted small">SHA-256 {wording.digest}</p>
        </details>
      )}
    </li>
  );
}

const CHOICES = [
  { value: "none", label: "Not chosen" },
  { value: "true", label: "Allowed" },
  { value: "false", label: "Refused" },
];

function TrackingChoice({ contact: { id, tracking } }: { contact: Contact }) {
  const refresh = useContactRefresh(id);
  const mayChange = useMay("EDITOR");
  const [isBusy, setIsBusy] = useState(false);

  async function choose(value: string | null): Promise<void> {
    setIsBusy(true);
    try {
      await api.patch(`/contacts/${id}`, { tracking: value === "none" ? null : value === "true" });
      await refresh();
    } catch (error) {
      showFailure("The choice was not changed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Select
      size="xs"
      mb={8}
      label="Recording of opens and clicks"
      data={CHOICES}
      value={tracking === undefined ? "none" : String(tracking)}
      allowDeselect={false}
      disabled={isBusy || !mayChange}
      onChange={(value) => void choose(value)}
    />
  );
}
