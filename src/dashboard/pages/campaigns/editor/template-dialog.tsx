/** Takes over the content of a template. */

import { TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Template } from "../../../../modules/templates.ts";
import { api, type ListPage } from "../../../api.ts";
import { useProject } from "../../../state.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { isRecord } from "../../../ui/is-record.ts";
import { showUndo } from "../../../ui/undo.tsx";
import type { CampaignEditing, CampaignSource } from "./campaign-source.ts";
import { showsAnything } from "./shows-anything.ts";

type Props = {
  isOpen: boolean;
  onClose: () => void;
  editor: CampaignEditing;
};

export function TemplateDialog(props: Props) {
  const { isOpen, onClose } = props;
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Start from a template" size="lg">
      <Templates {...props} />
    </Dialog>
  );
}

const SHOWN = 25;
const TYPING_MS = 250;

function Templates({ onClose, editor }: Props) {
  const project = useProject()?.id ?? null;
  const [typed, setTyped] = useState("");
  const [name] = useDebouncedValue(typed.trim(), TYPING_MS);
  const templates = useQuery({
    queryKey: ["templates", project, "choices", name],
    queryFn: ({ signal }) =>
      api.get<ListPage<Template>>("/templates", { query: { name, limit: SHOWN }, signal }),
    placeholderData: keepPreviousData,
  });
  const take = useMutation({
    mutationFn: (id: string) => api.get<Template>(`/templates/${encodeURIComponent(id)}`),
    onSuccess(template) {
      const before = contentOf(editor.value);
      const isEmpty = before.subject === "" && !showsAnything(before.body);
      editor.change(contentOfTemplate(template, editor.value));
      onClose();
      if (isEmpty) return;
      showUndo({
        text: `The content of ${template.name} has replaced the one before.`,
        onUndo: () => editor.change(before),
      });
    },
  });
  return (
    <div className="template-choice">
      <TextInput
        aria-label="Search for a template"
        placeholder="Search for a template"
        value={typed}
        data-autofocus
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {take.error !== null && <Problem error={take.error} />}
      <Loaded query={templates} height={160}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">
              {name === "" ? "This project has no templates yet." : "No template has this name."}
            </p>
          ) : (
            <ul className="template-list" aria-label="Templates">
              {items.map((template) => (
                <li key={template.id}>
                  <button
                    type="button"
                    className="template-item"
                    disabled={take.isPending}
                    onClick={() => take.mutate(template.id)}
                  >
                    <bdi className="cut">
                      <strong>{template.name}</strong>
                    </bdi>
                    <bdi className="muted small cut">{template.subject}</bdi>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </div>
  );
}

type Content = Pick<
  CampaignSource,
  | "subject"
  | "preheader"
  | "body"
  | "design"
  | "format"
  | "layoutId"
  | "templateId"
  | "from"
  | "fromName"
  | "replyTo"
>;

function contentOf(value: CampaignSource): Content {
  const { subject, preheader, body, design, format, layoutId, templateId } = value;
  const { from, fromName, replyTo } = value;
  return {
    subject,
    preheader,
    body,
    design,
    format,
    layoutId,
    templateId,
    from,
    fromName,
    replyTo,
  };
}

/** The content of a template, without its sender if the campaign has one. */
function contentOfTemplate(template: Template, value: CampaignSource): Content {
  const { subject, preheader, body, design, format, layoutId, id } = template;
  const { from, fromName, replyTo } = value.from === "" ? template : value;
  return {
    subject,
    preheader,
    body,
    format,
    layoutId,
    templateId: id,
    fromName,
    replyTo,
    design: isRecord(design) ? design : null,
    from: from ?? "",
  };
}
