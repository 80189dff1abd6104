/** The editor of a form, with its preview beside it. */

import {
  Button,
  Checkbox,
  Group,
  Radio,
  Select,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Form } from "../../../modules/forms/model.ts";
import { api, ApiError, type FieldError } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { LANGUAGE_CHOICES } from "../settings/choices.ts";
import { useProjectDetails } from "../settings/use-project-details.ts";
import { FieldRows } from "./field-rows.tsx";
import { formBody, type FormValues, valuesOf } from "./form-values.ts";
import { FormPreview } from "./preview.tsx";
import { formKey, formPath, useMailTemplates } from "./use-form.ts";
import { useTopics } from "../topics/use-topics.ts";
import { PageSection } from "../../ui/page-section.tsx";

export function FormEditTab(props: {
  form: Form;
  project: string;
  /** Reads the form again and opens the editor anew. */
  onReload: () => void;
}) {
  const { form, project } = props;
  const mayEdit = useMay("EDITOR");
  const client = useQueryClient();
  const [isSaved, setIsSaved] = useState(false);
  const revision = useRef(form.revision);
  const [faults, setFaults] = useState<readonly FieldError[]>([]);
  const editor = useApiForm<FormValues, Form>({
    initial: valuesOf(form),
    async submit(values) {
      setFaults([]);
      try {
        // A change that another person has made since the values were read is refused.
        const headers = { "If-Match": `"${revision.current}"` };
        return await api.patch<Form>(formPath(form.id), formBody(values), { headers });
      } catch (error) {
        if (error instanceof ApiError) setFaults(error.errors);
        throw error;
      }
    },
    onDone(saved) {
      revision.current = saved.revision;
      client.setQueryData(formKey(project, form.id), saved);
      editor.form.resetDirty();
      setIsSaved(true);
    },
  });
  const unsaved = useUnsaved(mayEdit && editor.form.isDirty());
  const faultOf = (path: string) => {
    const fault = faults.find(({ field }) => field === path);
    return fault === undefined ? undefined : `This ${fault.message}.`;
  };
  const parts = { editor, isReadOnly: !mayEdit, project };
  return (
    <div className="form-editor">
      <form onSubmit={editor.onSubmit} onChange={() => setIsSaved(false)}>
        {unsaved}
        <SenderNote project={project} />
        <TextSection {...parts} />
        <PageSection id="form-fields" title="Fields">
          <p className="muted">The email address comes first and is always there.</p>
          <FieldRows
            fields={editor.values.fields}
            faultOf={(path) => faultOf(`fields.${path}`)}
            isReadOnly={!mayEdit}
            onChange={(fields) => editor.form.setFieldValue("fields", fields)}
          />
        </PageSection>
        <TopicSection {...parts} />
        <ConsentSection {...parts} />
        <ConfirmationSection {...parts} />
        <AfterSection {...parts} />
        <SiteSection
          {...parts}
          originFault={faults.find(({ field }) => field.startsWith("origins"))}
        />
        {editor.error !== null && <Problem error={editor.error} />}
        {isStale(editor.error) && (
          <Button variant="default" mb="md" onClick={props.onReload}>
            Discard my changes and show theirs
          </Button>
        )}
        {mayEdit && (
          <Group gap="sm" className="form-save">
            <Button type="submit" loading={editor.isBusy}>
              Save
            </Button>
            <span className="muted small" role="status">
              {isSaved &&
                !editor.form.isDirty() &&
                "Saved. The page and the HTML of the form have changed."}
            </span>
          </Group>
        )}
      </form>
      <FormPreview body={formBody(editor.values)} />
    </div>
  );
}

const PRECONDITION_FAILED = 412;

const isStale = (error: unknown): boolean =>
  error instanceof ApiError && error.status === PRECONDITION_FAILED;

type Editor = ReturnType<typeof useApiForm<FormValues, Form>>;
type Part = { editor: Editor; isReadOnly: boolean; project: string };

/** A form of a project without a sender cannot send its mails. */
function SenderNote({ project }: { project: string }) {
  const { data } = useProjectDetails();
  if (data === undefined || data.sender !== null) return null;
  return (
    <div className="form-note">
      <strong>The form cannot send its mails yet.</strong> The project has no default sender, in
      whose name people are asked to confirm.{" "}
      <Link to="/p/$project/settings/general" params={{ project }}>
        Set it in the settings
      </Link>
      .
    </div>
  );
}

function TextSection({ editor, isReadOnly }: Part) {
  return (
    <PageSection id="form-texts" title="Texts">
      <Stack gap="md">
        <TextInput
          label="Name"
          description="For you; people do not see it"
          readOnly={isReadOnly}
          {...editor.field("name")}
        />
        <TextInput label="Heading" readOnly={isReadOnly} {...editor.field("title")} />
        <Textarea
          label="Description"
          autosize
          minRows={2}
          maxRows={8}
          readOnly={isReadOnly}
          {...editor.field("description")}
        />
        <TextInput
          label="Button"
          description="Without a text it says Subscribe in the language of the form"
          readOnly={isReadOnly}
          {...editor.field("buttonLabel")}
        />
        <Select
          label="Language"
          placeholder="The language of the project"
          data={LANGUAGE_CHOICES}
          clearable={!isReadOnly}
          readOnly={isReadOnly}
          {...editor.field("language")}
        />
      </Stack>
    </PageSection>
  );
}

function TopicSection({ editor, isReadOnly, project }: Part) {
  const { data: offered = [] } = useTopics(project);
  const { topics } = editor.values;
  if (offered.length === 0) return null;
  const change = (next: FormValues["topics"]) => editor.form.setFieldValue("topics", next);
  return (
    <PageSection id="form-topics" title="Topics">
      <p className="muted">People tick the ones that they want.</p>
      <div className="form-topics">
        {offered.map(({ id, name }) => {
          const chosen = topics.find(({ topicId }) => topicId === id);
          const others = topics.filter(({ topicId }) => topicId !== id);
          return (
            <div key={id} className="form-topic">
              <Checkbox
                label={`Offer ${name}`}
                checked={chosen !== undefined}
                disabled={isReadOnly}
                onChange={({ currentTarget }) =>
                  change(currentTarget.checked ? [...topics, { topicId: id }] : others)
                }
              />
              {chosen !== undefined && (
                <Checkbox
                  label="Ticked at first"
                  aria-label={`${name} is ticked at first`}
                  checked={chosen.isPreselected ?? false}
                  disabled={isReadOnly}
                  onChange={({ currentTarget }) =>
                    change(
                      topics.map((topic) =>
                        topic === chosen
                          ? { topicId: id, isPreselected: currentTarget.checked }
                          : topic,
                      ),
                    )
                  }
                />
              )}
            </div>
          );
        })}
      </div>
    </PageSection>
  );
}

function ConsentSection({ editor, isReadOnly }: Part) {
  return (
    <PageSection id="form-consent" title="Consent">
      <Stack gap="md">
        <Textarea
          label="Wording"
          description="The sentence by which people agree. It is kept with each consent as proof."
          placeholder="Acme may send me its newsletter. I can unsubscribe at any time."
          autosize
          minRows={2}
          maxRows={8}
          readOnly={isReadOnly}
          {...editor.field("consent")}
        />
        <Checkbox
          label="People must tick a box beside it"
          disabled={isReadOnly || editor.values.consent.trim() === ""}
          {...editor.form.getInputProps("hasBox", { type: "checkbox" })}
        />
      </Stack>
    </PageSection>
  );
}

function ConfirmationSection({ editor, isReadOnly, project }: Part) {
  const { data = [] } = useMailTemplates(project);
  return (
    <PageSection id="form-confirmation" title="Confirmation">
      <Stack gap="md">
        <Radio.Group label="When people are subscribed" {...editor.field("confirmation")}>
          <Stack gap="xs" mt="xs">
            <Radio
              value="DOUBLE"
              disabled={isReadOnly}
              label="When they press the button behind the link of a mail (double opt-in)"
            />
            <Radio
              value="SINGLE"
              disabled={isReadOnly}
              label="At once, if the address is no contact yet"
              description="Contacts, also those who have unsubscribed, confirm by a mail."
            />
          </Stack>
        </Radio.Group>
        <Select
          label="Mail"
          description="A transactional template whose body has {{ confirmUrl }}"
          placeholder="The built-in mail"
          data={data.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          clearable={!isReadOnly}
          readOnly={isReadOnly}
          {...editor.field("templateId")}
        />
      </Stack>
    </PageSection>
  );
}

function AfterSection({ editor, isReadOnly }: Part) {
  return (
    <PageSection id="form-after" title="Afterwards">
      <Stack gap="md">
        <Textarea
          label="Message after the form"
          description="Without a text it asks people to look into their inbox"
          autosize
          minRows={2}
          maxRows={6}
          readOnly={isReadOnly}
          {...editor.field("successMessage")}
        />
        <TextInput
          label="Page after the form"
          description="An address of your site instead of that message"
          placeholder="https://"
          spellCheck={false}
          readOnly={isReadOnly}
          {...editor.field("successUrl")}
        />
        <TextInput
          label="Page after the confirmation"
          description="An address of your site, such as a welcome page"
          placeholder="https://"
          spellCheck={false}
          readOnly={isReadOnly}
          {...editor.field("confirmedUrl")}
        />
      </Stack>
    </PageSection>
  );
}

function SiteSection({
  editor,
  isReadOnly,
  originFault,
}: Part & { originFault: FieldError | undefined }) {
  return (
    <PageSection id="form-sites" title="Where it may be used">
      <Stack gap="md">
        <Textarea
          label="Sites"
          description="Origins of your sites, one in each line; without any, all sites may use the form"
          placeholder="https://acme.example"
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
          readOnly={isReadOnly}
          {...editor.field("origins")}
          error={originFault && `A line ${originFault.message}.`}
        />
        <Switch
          label="The form is open; a closed one says so, and accepts nothing"
          disabled={isReadOnly}
          {...editor.form.getInputProps("isEnabled", { type: "checkbox" })}
        />
      </Stack>
    </PageSection>
  );
}
