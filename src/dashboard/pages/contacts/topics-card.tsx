/** The topics of a contact: whether it is in each, and since when by its choice. */

import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { ContactTopics } from "../../../modules/topics/topic-model.ts";
import { api } from "../../api.ts";
import { useMay, useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Time } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { contactKey, useContactRefresh } from "./use-contact.ts";

type ContactTopic = ContactTopics["topics"][number];

/** Absent while the project has no topics. */
export function TopicsCard({ contact: { id, subscribed } }: { contact: Contact }) {
  const project = useProject()?.id ?? null;
  const query = useQuery({
    queryKey: contactKey(project, id, "topics"),
    queryFn: ({ signal }) => api.get<ContactTopics>(`/contacts/${id}/topics`, { signal }),
  });
  if (query.data?.topics.length === 0) return null;
  return (
    <section className="card contact-card" aria-labelledby="contact-topics">
      <div className="contact-card-head">
        <h2 id="contact-topics">Topics</h2>
      </div>
      {!subscribed && (
        <p className="muted small">They count once the contact is subscribed again.</p>
      )}
      <Loaded query={query} height={60}>
        {({ topics }) => (
          <ul className="contact-list">
            {topics.map((topic) => (
              <TopicRow key={topic.topicId} contactId={id} topic={topic} />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function TopicRow({ contactId, topic }: { contactId: string; topic: ContactTopic }) {
  const { topicId, name, subscribed, chosenAt } = topic;
  const refresh = useContactRefresh(contactId);
  const mayChange = useMay("EDITOR");
  const [isBusy, setIsBusy] = useState(false);

  async function choose(isIn: boolean): Promise<void> {
    setIsBusy(true);
    try {
      const topics = [{ topicId, subscribed: isIn }];
      await api.put(`/contacts/${contactId}/topics`, { topics });
      await refresh();
    } catch (error) {
      showFailure("The topic was not changed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <li>
      <Switch
        label={name}
        checked={subscribed}
        disabled={isBusy || !mayChange}
        onChange={({ currentTarget }) => void choose(currentTarget.checked)}
      />
      <span className="muted small">
        {chosenAt === null ? "By default" : <Time at={chosenAt} />}
      </span>
    </li>
  );
}
