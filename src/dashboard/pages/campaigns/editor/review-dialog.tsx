/**
 * The last look before a campaign is sent. Only its button sends: there is no form that Enter could
 * submit, and the number of many recipients is typed.
 */

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { CircleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import type { TemplateDraftPreview } from "../../../../modules/template-editor/draft-model.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field, Fields } from "../../../ui/fields.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { useAppState, useMay } from "../../../state.ts";
import { countText } from "../../overview/figures.ts";
import { GroupsBar } from "../ab/ab-groups-bar.tsx";
import { heldOutOf, ruleText } from "../ab/ab-plan.ts";
import { counted } from "../numbers.ts";
import { type CampaignEditing, CAMPAIGN_LABELS } from "./campaign-source.ts";
import { saveAll } from "../../../ui/editors/save-all.ts";
import { goToSection } from "./section.tsx";
import { isTyped, mustType, openSections, type SectionStates } from "./sections.ts";
import type { AudienceCount } from "./use-audience.ts";
import { useSending } from "./use-sending.ts";
import type { When } from "./when.ts";

type Props = {
  id: string;
  isOpen: boolean;
  onClose: () => void;
  editor: CampaignEditing;
  states: SectionStates;
  count: AudienceCount;
  mail: TemplateDraftPreview | undefined;
  when: When;
  /** Called when the campaign is scheduled. */
  onSent: () => void;
};

export function ReviewDialog(props: Props) {
  const { isOpen, onClose, states, editor } = props;
  const [isBusy, setIsBusy] = useState(false);
  const missing = openSections(states);
  const isNotice = editor.value.category === "TRANSACTIONAL";
  const maySend = useMay("ADMIN") || !isNotice;
  return (
    <Dialog opened={isOpen} onClose={onClose} isBusy={isBusy} title="Review and send" size="lg">
      {missing.length > 0 ? (
        <Missing missing={missing} states={states} onClose={onClose} />
      ) : maySend ? (
        <Review {...props} isBusy={isBusy} onBusy={setIsBusy} />
      ) : (
        <p>
          This is a notice that also goes to people who have unsubscribed, so only an admin can send
          it. Everything is saved: ask an admin to open this page.
        </p>
      )}
    </Dialog>
  );
}

function Missing(props: {
  missing: ReturnType<typeof openSections>;
  states: SectionStates;
  onClose: () => void;
}) {
  const { missing, states, onClose } = props;
  function go(key: (typeof missing)[number]["key"]): void {
    onClose();
    // The dialog returns the focus to its button when it has closed.
    window.setTimeout(() => goToSection(key), CLOSED_MS);
  }
  return (
    <Stack gap="md">
      <p>Before this campaign can be sent, it needs:</p>
      <ul className="review-missing">
        {missing.map(({ key, title }) => (
          <li key={key}>
            <span>
              <strong>{title}</strong> <span className="muted">{states[key].text}</span>
            </span>
            <Button size="compact-sm" variant="default" onClick={() => go(key)}>
              Go to {title}
            </Button>
          </li>
        ))}
      </ul>
    </Stack>
  );
}

/** The time after which the dialog is closed for certain. */
const CLOSED_MS = 300;

function Review(props: Props & { isBusy: boolean; onBusy: (isBusy: boolean) => void }) {
  const { id, onClose, editor, states, count, mail, when, onSent, isBusy, onBusy } = props;
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<unknown>(null);
  const send = useSending(id);
  const { transport } = useAppState();
  const { value } = editor;
  const { data } = count;
  // The numbers may be minutes old.
  useEffect(() => void count.refetch(), []);
  if (data === undefined) return null;
  const heldOut = heldOutOf(data.recipients, value.abTest);
  /** The number of contacts who get the mail. */
  const recipients = data.recipients - heldOut;
  const subject = mail?.subject ?? value.subject;
  const isConfirmed = !mustType(recipients) || isTyped(typed, recipients);

  async function confirm(): Promise<void> {
    onBusy(true);
    setError(null);
    try {
      await saveAll(editor, CAMPAIGN_LABELS);
      await send(when, recipients);
      onSent();
    } catch (caught) {
      setError(caught);
      void count.refetch();
    } finally {
      onBusy(false);
    }
  }

  return (
    <Stack gap="md">
      <Fields>
        <Field label="To">
          <strong>
            {data.isExact && heldOut === 0 ? "" : "about "}
            {counted(recipients, "contact")}
          </strong>
          {data.matched > recipients && (
            <span className="muted">
              {" "}
              of {countText(data.matched)} that match; {countText(data.matched - recipients)}{" "}
              {data.matched - recipients === 1 ? "is" : "are"} left out
              {heldOut > 0 && `, about ${countText(heldOut)} of them by the A/B test`}
            </span>
          )}
        </Field>
        <Field label="From">
          <bdi>{states.sender.text}</bdi>
        </Field>
        {value.abTest === null ? (
          <Field label="Subject">
            <bdi>{subject}</bdi>
            {mail?.preheader && <bdi className="muted"> — {mail.preheader}</bdi>}
          </Field>
        ) : (
          <Field label="Subjects">
            {value.abTest.variants.map((variant) => (
              <div key={variant.id}>
                <span className="muted">{variant.id}:</span> <bdi>{variant.subject ?? subject}</bdi>
              </div>
            ))}
          </Field>
        )}
        {value.abTest !== null && (
          <Field label="A/B test">
            <GroupsBar test={value.abTest} recipients={data.recipients} />
            <p className="muted">The winner has {ruleText(value.abTest.winner)}.</p>
          </Field>
        )}
        <Field label="When">
          {when.kind === "NOW" ? "In 15 seconds; until then you can undo it" : states.when.text}
        </Field>
        <Field label="Checks">{states.checks.text}</Field>
      </Fields>
      {transport === "capture" && (
        <p className="draft-note" role="note">
          <CircleAlert size={15} aria-hidden /> This server captures mail: the mails are stored here
          for you to look at, and nobody gets them.
        </p>
      )}
      {value.category === "TRANSACTIONAL" && (
        <p className="draft-note" role="note">
          <CircleAlert size={15} aria-hidden /> This is a notice: it also goes to people who have
          unsubscribed. It must not contain advertising.
        </p>
      )}
      {mustType(recipients) && (
        <TextInput
          label={`Type the number of recipients, ${countText(recipients)}, to confirm`}
          inputMode="numeric"
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      {error !== null && <Problem error={error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isBusy} onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button loading={isBusy} disabled={!isConfirmed} onClick={() => void confirm()}>
          {when.kind === "NOW" ? "Send to" : "Schedule for"} {counted(recipients, "contact")}
        </Button>
      </Group>
    </Stack>
  );
}
