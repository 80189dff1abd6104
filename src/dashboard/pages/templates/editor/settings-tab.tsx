/** The settings of a template besides its content: the kind of mail, the sender, and a note. */

import { Stack, Textarea, TextInput } from "@mantine/core";
import { ApiError } from "../../../api.ts";
import { KindChoice } from "../kind-choice.tsx";
import { TopicSelect } from "../../topics/topic-select.tsx";
import type { TemplateEditing } from "./template-editing.ts";

export function SettingsTab({ editor, project }: { editor: TemplateEditing; project: string }) {
  const { value, change, error } = editor;
  const faults = error instanceof ApiError ? error.errors : [];
  const faultOf = (name: string) => {
    const message = faults.find(({ field }) => field === name)?.message;
    return message === undefined ? undefined : `This ${message}.`;
  };
  const field = (name: "from" | "fromName" | "replyTo" | "description") => ({
    value: value[name] ?? "",
    error: faultOf(name),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      change({ [name]: currentTarget.value === "" ? null : currentTarget.value }),
  });
  return (
    <Stack gap="lg" className="template-settings">
      <KindChoice
        value={value.type}
        onChange={(type) =>
          // A notice has no topic.
          change(type === "MARKETING" ? { type } : { type, topicId: null })
        }
      />
      {value.type === "MARKETING" && (
        <TopicSelect
          project={project}
          topicId={value.topicId}
          error={faultOf("topicId")}
          onChange={(topicId) => change({ topicId })}
        />
      )}
      <TextInput
        label="Sender"
        description="An address at a verified domain. Without one, the sender of the project is used."
        type="email"
        placeholder="hello@example.com"
        {...field("from")}
      />
      <TextInput
        label="Name of the sender"
        description="Shown in place of the address."
        maxLength={255}
        {...field("fromName")}
      />
      <TextInput
        label="Reply to"
        description="The address that replies go to, if it is not the sender."
        {...field("replyTo")}
      />
      <Textarea
        label="Note"
        description="For your team; recipients do not see it."
        autosize
        minRows={2}
        maxRows={8}
        maxLength={1000}
        {...field("description")}
      />
    </Stack>
  );
}
