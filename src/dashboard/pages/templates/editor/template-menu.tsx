/** The further actions of a template. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import type { Template } from "../../../../modules/templates.ts";
import { api } from "../../../api.ts";
import { useDeletion } from "../../../ui/deletion.ts";
import { saveAll } from "../../../ui/editors/save-all.ts";
import { ObjectMenu } from "../../../ui/object-menu.tsx";
import { showFailure } from "../../../ui/undo.tsx";
import type { TemplateEditing } from "./template-editing.ts";
import { TEMPLATE_LABELS, templateKey, templatePath } from "./template-source.ts";

/** Text that is typed does not draw it again. */
export const TemplateMenu = memo(function TemplateMenu(props: {
  template: Template;
  project: string;
  saveNow: TemplateEditing["saveNow"];
}) {
  const { template, project, saveNow } = props;
  const { id } = template;
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useDeletion({
    path: templatePath(id),
    queryKey: templateKey(project, id),
    listKey: ["templates"],
    leave: () => navigate({ to: "/p/$project/templates", params: { project } }),
  });

  async function duplicate(): Promise<void> {
    try {
      // The server makes the copy of the stored template.
      await saveAll({ saveNow }, TEMPLATE_LABELS);
      const copy = await api.post<Template>(`${templatePath(id)}/duplicate`);
      void client.invalidateQueries({ queryKey: ["templates", project] });
      const params = { project, template: copy.id };
      await navigate({ to: "/p/$project/templates/$template", params });
    } catch (error) {
      showFailure("The template was not duplicated", error);
    }
  }

  return (
    <ObjectMenu
      noun="template"
      width={200}
      onDuplicate={duplicate}
      deletion={{
        text: "The template and its versions are deleted. Mails that were made from it stay.",
        run: remove,
      }}
    />
  );
});
