/** The topics of the project: list, create, change, delete. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Plus, Tags } from "lucide-react";
import { useState } from "react";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay, useProject } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { topicColumns, topicLines } from "./columns.tsx";
import { topicSamples } from "./samples.ts";
import { TopicDialog } from "./topic-dialog.tsx";

export function TopicsPage() {
  const mayEdit = useMay("EDITOR");
  const [isCreating, creating] = useCreateDialog(mayEdit);
  useShortcuts({ c: creating.open }, mayEdit);
  const { url } = useAppState();
  const list = useList<Topic>("topics", "/topics");
  const [edited, setEdited] = useState<Topic | null>(null);
  const [isEditing, setIsEditing] = useState(false);
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = mayEdit && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={creating.open}>
      Create a topic
    </Button>
  );
  const deletion = useTopicDeletion();
  const project = useProject()?.id ?? "";
  const actions = {
    project,
    mayEdit,
    onEdit: (topic: Topic) => {
      setEdited(topic);
      setIsEditing(true);
    },
    onDelete: deletion.ask,
  };
  return (
    <Page
      title="Topics"
      isFixed
      description="Kinds of marketing mail that contacts join and leave one by one, such as product news and offers."
      actions={!isEmpty && button}
    >
      <DataTable
        label="Topics"
        list={list}
        columns={topicColumns(actions)}
        rowKey={({ id }) => id}
        phone={topicLines(actions)}
        empty={
          <Empty
            icon={Tags}
            title="No topics yet"
            text="Without topics, an unsubscribe link ends all marketing mail. With them, people leave what they do not want and keep the rest."
            action={button}
          >
            <Code
              label="Creating a topic"
              samples={topicSamples(url === "" ? window.location.origin : url)}
            />
          </Empty>
        }
      />
      <TopicDialog isOpen={isCreating} onClose={creating.close} topic={null} />
      <TopicDialog isOpen={isEditing} onClose={() => setIsEditing(false)} topic={edited} />
      {deletion.dialog}
    </Page>
  );
}

/** Asks before a topic is deleted, because the choices of the contacts go with it. */
function useTopicDeletion() {
  const client = useQueryClient();
  /** The topic in the question; it stays while the dialog closes. */
  const [asked, setAsked] = useState<Topic | null>(null);
  const [isAsking, setIsAsking] = useState(false);

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/topics/${asked.id}`);
    await client.invalidateQueries({ queryKey: ["topics"] });
  }

  return {
    ask: (topic: Topic) => {
      setAsked(topic);
      setIsAsking(true);
    },
    dialog: (
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete ${asked?.name ?? ""}?`}
        text={
          <>
            What contacts have chosen for it is deleted as well. Links in its old mails then
            unsubscribe from all marketing mail. This cannot be undone.
          </>
        }
        action="Delete the topic"
        onConfirm={remove}
      />
    ),
  };
}
