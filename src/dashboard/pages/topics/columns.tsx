/** The columns of the list of topics. */

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { countText } from "../overview/figures.ts";

type Actions = {
  project: string;
  mayEdit: boolean;
  onEdit: (topic: Topic) => void;
  onDelete: (topic: Topic) => void;
};

const DEFAULTS: Readonly<Record<Topic["default"], string>> = {
  SUBSCRIBED: "All contacts, until they leave",
  UNSUBSCRIBED: "Only contacts who join",
};
const VISIBILITIES: Readonly<Record<Topic["visibility"], string>> = {
  PUBLIC: "All contacts",
  PRIVATE: "Only contacts in it",
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
    render: (topic) => <Subscribers topic={topic} project={actions.project} />,
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
      {/* A link would be too small to be touched beside the buttons. */}
      <span className="figures">{subscribersText(topic)}</span>
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

const subscribersText = ({ subscribers }: Topic): string =>
  subscribers === null ? "–" : countText(subscribers);

/** The number of subscribers leads to the list of them. */
function Subscribers({ topic, project }: { topic: Topic; project: string }) {
  return (
    <Link
      to="/p/$project/contacts"
      params={{ project }}
      search={{ topic: topic.key, subscribed: "yes" }}
      aria-label={`Show the subscribers of ${topic.name}`}
    >
      {subscribersText(topic)}
    </Link>
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
