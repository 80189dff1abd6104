/** The further actions of a template. */

import { ActionIcon, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CopyPlus, Ellipsis, Trash2 } from "lucide-react";
import type { Template } from "../../../../modules/templates.ts";
import { api } from "../../../api.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { useDeletion } from "../../../ui/deletion.ts";
import { saveText } from "../../../ui/editors/save-text.ts";
import { showFailure } from "../../../ui/undo.tsx";
import type { TemplateEditing } from "./template-editing.ts";
import { TEMPLATE_LABELS, templateKey, templatePath } from "./template-source.ts";

export function TemplateMenu(props: {
  template: Template;
  project: string;
  editor: TemplateEditing;
}) {
  const { template, project, editor } = props;
  const { id } = template;
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure(false);
  const remove = useDeletion({
    path: templatePath(id),
    queryKey: templateKey(project, id),
    listKey: ["templates"],
    leave: () => navigate({ to: "/p/$project/templates", params: { project } }),
  });

  async function duplicate(): Promise<void> {
    try {
      // The copy is made of what the server has.
      const state = await editor.saveNow();
      if (state.status !== "SAVED") throw new Error(saveText(state, TEMPLATE_LABELS));
      const copy = await api.post<Template>(`${templatePath(id)}/duplicate`);
      void client.invalidateQueries({ queryKey: ["templates", project] });
      const params = { project, template: copy.id };
      await navigate({ to: "/p/$project/templates/$template", params });
    } catch (error) {
      showFailure("The template was not duplicated", error);
    }
  }

  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions">
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<CopyPlus size={15} aria-hidden />}
            onClick={() => void duplicate()}
          >
            Duplicate
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Trash2 size={15} aria-hidden />}
            onClick={question.open}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Delete this template?"
        text="The template and its versions are deleted. Mails that were made from it stay."
        action="Delete the template"
        onConfirm={remove}
      />
    </>
  );
}
