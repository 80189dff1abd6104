/** One variant of an A/B test: its differences from the campaign, and its preview. */

import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Eye, LayoutTemplate, PenLine, Trash2 } from "lucide-react";
import { useState } from "react";
import type { AbTest } from "../../../../modules/campaigns/ab-tests/ab-model.ts";
import { ContactPreview } from "../../../ui/contact-preview.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { isRecord } from "../../../ui/is-record.ts";
import { BodyEditor, type BodyMode } from "../../templates/editor/body-editor.tsx";
import { useVariables } from "../../templates/editor/use-variables.ts";
import { VariableField } from "../../templates/editor/variable-field.tsx";
import {
  type CampaignEditing,
  campaignPath,
  type CampaignSource,
} from "../editor/campaign-source.ts";
import { isAddress } from "../editor/senders.ts";
import { TemplateDialog } from "../editor/template-dialog.tsx";
import type { Senders } from "../editor/use-senders.ts";
import { serverFault } from "./ab-fault.ts";
import { changedVariant, differences, type Variant, withoutVariant } from "./ab-plan.ts";

type Props = {
  id: string;
  project: string;
  editor: CampaignEditing;
  senders: Senders;
  test: AbTest;
  variant: Variant;
};

export function VariantCard(props: Props) {
  const { id, editor, test, variant } = props;
  const [isShown, preview] = useDisclosure(false);
  const isFirst = variant.id === "A";
  const change = (fields: Partial<Variant>) =>
    editor.change({ abTest: changedVariant(test, variant.id, fields) });
  return (
    <article className="ab-variant" aria-label={`Variant ${variant.id}`}>
      <header>
        <span className="ab-id" data-group={variant.id}>
          {variant.id}
        </span>
        <TextInput
          className="ab-name"
          variant="unstyled"
          aria-label={`Name of variant ${variant.id}`}
          placeholder={isFirst ? "The campaign as it is" : "Name it, for example “Question”"}
          maxLength={255}
          value={variant.name ?? ""}
          onChange={({ currentTarget }) => change({ name: currentTarget.value || null })}
        />
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Eye size={14} aria-hidden />}
          aria-label={`Preview variant ${variant.id}`}
          onClick={() => {
            void editor.saveNow();
            preview.open();
          }}
        >
          Preview
        </Button>
        {test.variants.length > 2 && !isFirst && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove variant ${variant.id}`}
            onClick={() => editor.change({ abTest: withoutVariant(test, variant.id) })}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        )}
      </header>
      {isFirst ? (
        <p className="muted small ab-first">
          Subject: <bdi>{editor.value.subject === "" ? "–" : editor.value.subject}</bdi>
        </p>
      ) : (
        <Differences {...props} change={change} />
      )}
      <Dialog opened={isShown} onClose={preview.close} title={`Variant ${variant.id}`} size="xl">
        <Shown id={id} variant={variant} version={editor.savedAtMs} />
      </Dialog>
    </article>
  );
}

function Shown(props: { id: string; variant: Variant; version: unknown }) {
  const [contactId, setContact] = useState<string | undefined>();
  return (
    <ContactPreview
      path={`${campaignPath(props.id)}/preview`}
      noun="campaign"
      version={String(props.version)}
      variantId={props.variant.id}
      contactId={contactId}
      onContact={setContact}
    />
  );
}

type Changed = Props & { change: (fields: Partial<Variant>) => void };

function Differences(props: Changed) {
  const { project, editor, test, variant, change } = props;
  const { value } = editor;
  const place = test.variants.indexOf(variant);
  const variables = useVariables(project);
  const fault = (name: string) => serverFault(editor, `abTest.variants.${place}.${name}`);
  const set = (name: "subject" | "preheader" | "fromName") => (text: string) =>
    change({ [name]: text === "" ? null : text });
  return (
    <>
      <div className="editor-fields">
        <VariableField
          label="Subject"
          noun="the subject"
          placeholder={value.subject === "" ? "As in A" : value.subject}
          maxLength={10_000}
          value={variant.subject ?? ""}
          variables={variables}
          error={fault("subject")}
          onChange={set("subject")}
        />
        <VariableField
          label="Preheader"
          noun="the preheader"
          placeholder={value.preheader ?? "As in A"}
          maxLength={2_000}
          value={variant.preheader ?? ""}
          variables={variables}
          error={fault("preheader")}
          onChange={set("preheader")}
        />
        <TextInput
          label="Sender"
          className="editor-field"
          variant="unstyled"
          placeholder={value.fromName ?? "As in A"}
          maxLength={255}
          value={variant.fromName ?? ""}
          error={fault("fromName")}
          onChange={({ currentTarget }) => set("fromName")(currentTarget.value)}
        />
        <FromField {...props} error={fault("from")} />
      </div>
      <VariantBody {...props} />
      <p className="muted small">
        {differences(variant).length === 0
          ? "Nothing is different yet. Empty fields are as in A."
          : `Different from A: ${differences(variant).join(", ")}.`}
      </p>
    </>
  );
}

/** An address is saved when it is whole and its domain may send. */
function FromField({
  editor,
  senders,
  variant,
  change,
  error,
}: Changed & { error?: string | undefined }) {
  const [typed, setTyped] = useState(variant.from ?? "");
  const isFaulty = typed.trim() !== "" && !isAddress(typed);
  const unverified = senders.unverifiedIn(typed);
  return (
    <TextInput
      label="From"
      className="editor-field"
      variant="unstyled"
      type="email"
      spellCheck={false}
      placeholder={editor.value.from === "" ? "As in A" : editor.value.from}
      value={typed}
      error={
        isFaulty
          ? "This is no complete address, so it is not saved."
          : unverified === null
            ? error
            : `${unverified} is not verified, so the address is not saved.`
      }
      onChange={({ currentTarget }) => {
        const next = currentTarget.value;
        setTyped(next);
        const from = next.trim();
        if (from === "") change({ from: null });
        else if (isAddress(from) && senders.unverifiedIn(from) === null) change({ from });
      }}
    />
  );
}

/** The body of a variant: that of the campaign, or one of its own. */
function VariantBody({ project, editor, variant, change }: Changed) {
  const [isChoosing, dialog] = useDisclosure(false);
  const [mode, setMode] = useState<BodyMode>("visual");
  const { value } = editor;
  const adapted = bodyEditing(editor, variant, change);
  return (
    <div className="ab-body">
      {variant.body === null ? (
        <div className="ab-tools">
          <span className="muted small">The body is that of A.</span>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<PenLine size={14} aria-hidden />}
            disabled={value.body === ""}
            onClick={() => {
              const { body, design, format, layoutId } = value;
              change({ body, design, format, layoutId });
            }}
          >
            Change a copy of the body
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<LayoutTemplate size={14} aria-hidden />}
            onClick={dialog.open}
          >
            Take a template
          </Button>
        </div>
      ) : (
        <>
          <div className="ab-tools">
            <Button
              size="compact-sm"
              variant="default"
              onClick={() =>
                change({ body: null, design: null, format: null, layoutId: null, templateId: null })
              }
            >
              Use the body of A
            </Button>
          </div>
          <BodyEditor editor={adapted} project={project} faults={[]} mode={mode} onMode={setMode} />
        </>
      )}
      <TemplateDialog isOpen={isChoosing} onClose={dialog.close} editor={adapted} />
    </div>
  );
}

const ownOrNull = <T,>(next: T | null | undefined, campaigns: T | null): T | null =>
  next === undefined || next === "" || next === campaigns ? null : next;

/** The editor of the campaign with the content of a variant, for the parts that edit a content. */
function bodyEditing(
  editor: CampaignEditing,
  variant: Variant,
  change: Changed["change"],
): CampaignEditing {
  const campaign = editor.value;
  const { body, format, design, layoutId } = variant;
  const own: Partial<CampaignSource> =
    body === null
      ? {}
      : { body, format: format ?? "CODE", design: isRecord(design) ? design : null, layoutId };
  const value: CampaignSource = {
    ...campaign,
    subject: variant.subject ?? campaign.subject,
    preheader: variant.preheader ?? campaign.preheader,
    ...own,
  };
  return {
    ...editor,
    value,
    change(next) {
      const fields: Partial<Variant> = {};
      if ("subject" in next) fields.subject = ownOrNull(next.subject, campaign.subject);
      if ("preheader" in next) fields.preheader = ownOrNull(next.preheader, campaign.preheader);
      for (const name of ["body", "format", "design", "layoutId", "templateId"] as const) {
        if (name in next) Reflect.set(fields, name, next[name] ?? null);
      }
      change(fields);
    },
  };
}
