/**
 * The mail that the template makes for a contact: on a desktop or a phone, light or dark, or its
 * text.
 */

import { SegmentedControl, Switch } from "@mantine/core";
import { memo, useRef } from "react";
import type { TemplateDraftPreview } from "../../../../modules/template-editor/draft-model.ts";
import { projectUrl } from "../../../api.ts";
import { ContactSelect, hasRemoteImages } from "../../../ui/contact-preview.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { sizeText } from "../../../ui/size-text.ts";
import { useProject } from "../../../state.ts";
import type { TemplateSearch } from "../search.ts";
import { SteadyFrame } from "../../../ui/steady-frame.tsx";
import type { useDraftPreview } from "./use-draft-preview.ts";

const DEVICES = [
  { value: "desktop", label: "Desktop" },
  { value: "phone", label: "Phone" },
  { value: "text", label: "Text" },
] as const;
type Device = (typeof DEVICES)[number]["value"];

type PreviewSearch = Pick<TemplateSearch, "as" | "device" | "dark">;

export function PreviewPane(props: {
  preview: ReturnType<typeof useDraftPreview>;
  /** The name or the address of the sender; null for that of the project. */
  sender: string | null;
  search: PreviewSearch;
  onSearch: (next: PreviewSearch) => void;
}) {
  const { preview, sender, search, onSearch } = props;
  const device = DEVICES.find(({ value }) => value === search.device)?.value ?? "desktop";
  const isDark = search.dark === "true";
  return (
    <div className="preview">
      <PreviewTools contactId={search.as} device={device} isDark={isDark} onSearch={onSearch} />
      <Loaded query={preview} height={420}>
        {(mail) => (
          <Mail
            mail={mail}
            sender={sender}
            device={device}
            isDark={isDark && device !== "text"}
            isStale={preview.isStale}
          />
        )}
      </Loaded>
    </div>
  );
}

/** The choices of the preview. Text that is typed does not draw them again. */
const PreviewTools = memo(function PreviewTools(props: {
  contactId: string | undefined;
  device: Device;
  isDark: boolean;
  onSearch: (next: PreviewSearch) => void;
}) {
  const { contactId, device, isDark, onSearch } = props;
  return (
    <div className="preview-tools">
      <ContactSelect
        label="Preview as"
        contactId={contactId}
        onContact={(as) => onSearch({ as })}
      />
      <SegmentedControl
        aria-label="Device of the preview"
        value={device}
        onChange={(value) => onSearch({ device: value === "desktop" ? "" : value })}
        data={[...DEVICES]}
      />
      <Switch
        size="xs"
        label="Dark"
        disabled={device === "text"}
        checked={isDark}
        onChange={({ currentTarget }) => onSearch({ dark: currentTarget.checked ? "true" : "" })}
      />
    </div>
  );
});

function Mail(props: {
  mail: TemplateDraftPreview;
  sender: string | null;
  device: Device;
  isDark: boolean;
  isStale: boolean;
}) {
  const { mail, sender, device, isDark, isStale } = props;
  // While there are faults, the mail before them is shown.
  const latest = useRef<TemplateDraftPreview>(null);
  if (mail.documentUrl !== null) latest.current = mail;
  const shown = latest.current;
  const isFaulty = mail.documentUrl === null;
  return (
    <>
      <InboxLine mail={mail.subject === null && shown !== null ? shown : mail} sender={sender} />
      <div className="preview-stage" data-device={device} data-stale={isStale || undefined}>
        {shown === null || shown.documentUrl === null ? (
          <p className="muted preview-none">
            The mail is shown here as soon as its faults are mended.
          </p>
        ) : (
          <SteadyFrame
            title={`Preview of ${shown.subject ?? "the mail"}`}
            isDark={isDark}
            src={projectUrl(shown.documentUrl, {
              part: device === "text" ? "text" : undefined,
              dark: isDark || undefined,
              images: hasRemoteImages(shown.html ?? "") || undefined,
            })}
          />
        )}
      </div>
      <p className="muted small preview-facts">
        {isFaulty && shown !== null
          ? "The mail as it was before the faults."
          : factsOf(mail.sizeBytes ?? 0)}
      </p>
    </>
  );
}

const GMAIL_BYTES = 102_000;

const factsOf = (sizeBytes: number): string =>
  sizeBytes > GMAIL_BYTES
    ? `${sizeText(sizeBytes)} of HTML: Gmail cuts it after 102 kB`
    : `${sizeText(sizeBytes)} of HTML`;

/** The line of the mail in the list of a mail program. */
function InboxLine(props: { mail: TemplateDraftPreview; sender: string | null }) {
  const { mail } = props;
  const project = useProject();
  const sender = props.sender ?? project?.name ?? "";
  return (
    <div className="inbox-line" role="group" aria-label="In the list of mails">
      <span className="inbox-line-avatar" aria-hidden>
        {sender.slice(0, 1).toUpperCase()}
      </span>
      <span className="inbox-line-text">
        <bdi className="inbox-line-sender cut">{sender}</bdi>
        <span className="cut">
          <bdi className="inbox-line-subject">{mail.subject || "No subject"}</bdi>
          {mail.preheader !== null && <bdi className="muted"> — {mail.preheader}</bdi>}
        </span>
      </span>
    </div>
  );
}
