/** The dialog that creates or changes a topic. */

import { Radio, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Topic } from "../../../modules/topics/topic-model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Props = {
  isOpen: boolean;
  onClose: () => void;
  /** Null for a new one. */
  topic: Topic | null;
};

export function TopicDialog({ isOpen, onClose, topic }: Props) {
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      title={topic === null ? "Create a topic" : "Edit the topic"}
      size="md"
    >
      <TopicForm key={topic?.id} topic={topic} onClose={onClose} />
    </Dialog>
  );
}

function TopicForm({ topic, onClose }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: {
      name: topic?.name ?? "",
      description: topic?.description ?? "",
      default: topic?.default ?? "UNSUBSCRIBED",
      isPublic: topic?.visibility !== "PRIVATE",
    },
    submit: async (values, idempotencyKey) => {
      const { name, isPublic } = values;
      const body = {
        name,
        description: values.description.trim() === "" ? null : values.description.trim(),
        default: values.default,
        visibility: isPublic ? "PUBLIC" : "PRIVATE",
      };
      if (topic === null) await api.post("/topics", body, { idempotencyKey });
      else await api.patch(`/topics/${topic.id}`, body);
    },
    onDone: async () => {
      onClose();
      await client.invalidateQueries({ queryKey: ["topics"] });
    },
  });
  const { isPublic } = form.values;
  return (
    <DialogForm
      form={form}
      action={topic === null ? "Create the topic" : "Save"}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        description="Recipients read it on the unsubscribe and preference pages."
        required
        withAsterisk={false}
        maxLength={100}
        autoComplete="off"
        placeholder="Product news"
        data-autofocus
        {...form.field("name")}
      />
      <Textarea
        label="Description"
        description="A sentence below the name, such as how often it is sent."
        autosize
        minRows={1}
        maxRows={4}
        maxLength={500}
        {...form.field("description")}
      />
      <Radio.Group label="Who gets its mail" {...form.field("default")}>
        <Stack gap={6} mt={4}>
          <Radio
            value="UNSUBSCRIBED"
            label="Only contacts who join it"
            description="They join by a form, on the preference page, or by a request of yours."
          />
          <Radio
            value="SUBSCRIBED"
            label="All subscribed contacts, until they leave it"
            description="For mail that your contacts have already agreed to."
          />
        </Stack>
      </Radio.Group>
      <Switch
        label="Offer it to all contacts on the preference page"
        description={isPublic ? undefined : "Only contacts who are in it see it there."}
        checked={isPublic}
        onChange={({ currentTarget }) => form.form.setFieldValue("isPublic", currentTarget.checked)}
      />
    </DialogForm>
  );
}
