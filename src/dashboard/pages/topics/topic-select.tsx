/** Chooses the topic of a template or a campaign; absent while the project has none. */

import { Select } from "@mantine/core";
import { useTopics } from "./use-topics.ts";

export function TopicSelect(props: {
  project: string;
  topicId: string | null;
  error?: string | undefined;
  onChange: (topicId: string | null) => void;
}) {
  const { project, topicId, error, onChange } = props;
  const topics = useTopics(project);
  const known = (topics.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  if (known.length === 0 && topicId === null) return null;
  const isKnown = topicId === null || known.some(({ value }) => value === topicId);
  return (
    <Select
      label="Topic"
      description="Only contacts who are in the topic get it, and its unsubscribe link ends this topic only."
      placeholder="None: all subscribed contacts"
      clearable
      data={isKnown ? known : [...known, { value: topicId, label: "…" }]}
      value={topicId}
      error={topics.error === null ? error : "The topics cannot be read."}
      onChange={onChange}
    />
  );
}
