/** A template or a campaign as a chosen contact would get it: its subject, and its body in a frame. */

import { Select, Skeleton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Contact } from "../../modules/contacts/model.ts";
import type { Preview } from "../../modules/previews.ts";
import { api, type ListPage } from "../api.ts";
import { useProject } from "../state.ts";
import { Loaded } from "./loaded.tsx";
import { MailFrame } from "./mail-frame.tsx";

const FOUND = 10;
const TYPING_MS = 300;

export function ContactPreview(props: {
  /** The preview of the interface: GET is the document, POST the subject and the parts. */
  path: string;
  /** The first part of the query key. */
  noun: string;
  /** Changes with the content. */
  version: string;
  /** A variant of the A/B test of a campaign. */
  variantId?: string;
  contactId: string | undefined;
  onContact: (id: string) => void;
}) {
  const { path, noun, version, variantId, contactId, onContact } = props;
  const project = useProject()?.id ?? null;
  const preview = useQuery({
    queryKey: [`${noun}-preview`, project, path, version, variantId, contactId],
    queryFn: ({ signal }) =>
      api.post<Preview>(path, { contactId }, { query: { variantId }, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="contact-preview">
      <ContactSelect contactId={contactId} onContact={onContact} />
      <Loaded query={preview} height={420}>
        {({ subject, html }) => (
          <>
            <p className="contact-preview-subject">
              <span className="muted">Subject</span>
              <strong>{subject === "" ? "No subject" : subject}</strong>
            </p>
            <MailFrame
              key={`${version} ${variantId ?? ""}`}
              path={path}
              query={{ contactId, variantId }}
              title={`Preview of ${subject}`}
              hasImages={hasRemoteImages(html)}
              hasText
            />
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Attributes and styles that load an image of another server. */
const REMOTE =
  /(?:src|srcset|background)\s{0,9}=\s{0,9}["']?\s{0,9}https?:|url\(\s{0,9}["']?https?:/i;

/** True if a mail refers to images of other servers. */
export const hasRemoteImages = (html: string): boolean => REMOTE.test(html);

/** Finds a contact by a part of the address. */
export function ContactSelect(props: {
  contactId: string | undefined;
  onContact: (id: string) => void;
  label?: string;
  /** The words for no contact. */
  nobody?: string;
}) {
  const { contactId = "", onContact, label = "Shown for", nobody = "Nobody" } = props;
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const keyOf = (id: string) => ["contacts", project, id, "chosen"];
  const chosen = useQuery({
    queryKey: keyOf(contactId),
    queryFn: ({ signal }) =>
      api.get<Contact>(`/contacts/${encodeURIComponent(contactId)}`, { signal }),
    enabled: contactId !== "",
  });
  const address = chosen.data?.email ?? "";
  // The field holds the label of the choice until something else is typed.
  const wanted = typed === address ? "" : typed.trim();
  const [search] = useDebouncedValue(wanted, TYPING_MS);
  const found = useQuery({
    queryKey: ["contacts", project, "search", search],
    queryFn: ({ signal }) =>
      api.get<ListPage<Contact>>("/contacts", { query: { search, limit: FOUND }, signal }),
    placeholderData: keepPreviousData,
  });
  // While a search runs, the contacts of the previous one that match it stay visible.
  const isStale = wanted !== search || found.isPlaceholderData;
  const contacts = (found.data?.items ?? []).filter(
    ({ email }) => !isStale || email.includes(wanted.toLowerCase()),
  );
  const toOption = ({ id, email }: Contact) => ({ value: id, label: email });
  const options =
    wanted === ""
      ? [
          { value: "", label: nobody },
          ...(contactId === ""
            ? []
            : [{ value: contactId, label: address === "" ? contactId : address }]),
          ...contacts.filter(({ id }) => id !== contactId).map(toOption),
        ]
      : contacts.map(toOption);
  function choose(id: string): void {
    const contact = contacts.find((each) => each.id === id);
    if (contact !== undefined) client.setQueryData(keyOf(id), contact);
    onContact(id);
  }

  // The field would keep the id as its text.
  if (contactId !== "" && chosen.isPending) return <Skeleton height={60} width={360} />;
  return (
    <Select
      label={label}
      className="contact-preview-select"
      value={contactId === "" ? null : contactId}
      placeholder={nobody}
      data={options}
      searchable
      // The first of them may still be from the search before.
      selectFirstOptionOnChange={false}
      searchValue={typed}
      onSearchChange={setTyped}
      // The server has searched.
      filter={({ options: all }) => all}
      nothingFoundMessage={isStale ? "Searching…" : "No contact has this address."}
      allowDeselect={false}
      onChange={(value) => choose(value ?? "")}
      error={chosen.error === null ? undefined : chosen.error.message}
    />
  );
}
