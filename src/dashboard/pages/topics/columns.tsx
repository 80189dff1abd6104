/** The columns of the list of topics. */

import { Button } from "@mantine/core";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { countText } from "../overview/figures.ts";

type Actions = {
  mayEdit: boolean;
  onEdit: (topic: Topic) => void;
  onDelete: (topic: Topic) => void;
};

const DEFAULTS: Readonly<Record<Topic["default"], string>> = {
  SUBSCRIBED: "Everybody, until they leave",
  UNSUBSCRIBED: "Only who joins",
};
const VISIBILITIES: Readonly<Record<Topic["visibility"], string>> = {
  PUBLIC: "All contacts",
  PRIVATE: "Only who is in it",
};

export const topicColumns = (actions: Actions): Column<Topic>[] => [
  { key: "name", title: "Name", render: (topic) => <Name topic={topic} /> },
  {
    key: "default",
    title: "Who gets it",
    width: "232px",
    render: (topic) => DEFAULTS[topic.default],
  },
  {
    key: "visibility",
    title: "Who sees it",
    width: "144px",
    render: ({ visibility }) => VISIBILITIES[visibility],
  },
  {
    key: "subscribers",
    title: "Subscribers",
    width: "112px",
    isFigure: true,
    render: ({ subscribers }) => (subscribers === null ? "–" : countText(subscribers)),
  },
  {
    key: "actions",
    title: "Actions",
    width: "148px",
    render: (topic) => <TopicActions topic={topic} {...actions} />,
  },
];

/** The two lines of a row on phones. */
export const topicLines = (actions: Actions) => (topic: Topic) => ({
  first: (
    <span className="line">
      <span className="cut">
        <strong>{topic.name}</strong>
      </span>
      <span className="figures">
        {topic.subscribers === null ? "–" : countText(topic.subscribers)}
      </span>
    </span>
  ),
  second: (
    <span className="line">
      <span className="cut">{DEFAULTS[topic.default]}</span>
      <TopicActions topic={topic} {...actions} />
    </span>
  ),
});

function Name({ topic: { name, key, description } }: { topic: Topic }) {
  return (
    <span title={description ?? name}>
      <strong>{name}</strong> <code className="muted small">{key}</code>
    </span>
  );
}

function TopicActions({ topic, mayEdit, onEdit, onDelete }: Actions & { topic: Topic }) {
  if (!mayEdit) return null;
  return (
    <span>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={`Edit ${topic.name}`}
        onClick={() => onEdit(topic)}
      >
        Edit
      </Button>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        aria-label={`Delete ${topic.name}`}
        onClick={() => onDelete(topic)}
      >
        Delete
      </Button>
    </span>
  );
}
