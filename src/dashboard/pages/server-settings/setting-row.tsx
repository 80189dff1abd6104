/** One setting: its name, meaning, value and source, and the form that changes it in place. */

import { ActionIcon, Button, Select, TextInput } from "@mantine/core";
import { Lock, Pencil } from "lucide-react";
import { useState } from "react";
import type { InstallationSetting } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { isConflict } from "../../ui/error-text.ts";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { changeElsewhere, settingLabel, sourceText } from "./setting-words.ts";

type Props = { setting: InstallationSetting; onChanged: () => Promise<void> };

export const settingPath = (name: string): string => `/system/settings/${encodeURIComponent(name)}`;

/** A change is refused if another owner has changed the setting meanwhile. */
export const ifUnchanged = ({ revision }: Pick<InstallationSetting, "revision">) => ({
  project: null,
  headers: { "If-Match": `"${revision}"` },
});

/** After a conflict the page reads the settings again, so that the next try replaces the present value. */
export async function reloadOnConflict(
  change: Promise<unknown>,
  reload: () => Promise<void>,
): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (isConflict(error)) await reload();
    throw error;
  }
}

/** The card above sets them, with a test of the relay and a question. */
const OF_CARD: readonly string[] = ["transport", "relay-url"];

export function SettingRow({ setting, onChanged }: Props) {
  const [isEditing, setIsEditing] = useState(false);
  const { name, help, isPending, effect } = setting;
  const elsewhere = changeElsewhere(setting);
  const label = settingLabel(name);
  const isInCard = OF_CARD.includes(name);
  return (
    <li className="setting-row" data-editing={isEditing || undefined}>
      <div className="setting-about">
        <strong>{label}</strong>
        <p className="muted small">{help}</p>
      </div>
      {isEditing ? (
        <SettingForm {...{ setting, onChanged, label }} onClose={() => setIsEditing(false)} />
      ) : (
        <div className="setting-value">
          <Value setting={setting} />
          <Source setting={setting} />
          {isPending && <Status tone="held">Used after the next restart</Status>}
          {isInCard && elsewhere === null && (
            <a href="#transport-and-relay" className="small">
              Change it in Transport and relay
            </a>
          )}
        </div>
      )}
      {!isEditing && (
        <div className="setting-action">
          {elsewhere === null && !isInCard ? (
            <ActionIcon
              variant="subtle"
              aria-label={`Change ${label}`}
              title={effect === "AT_START" ? "Used after the next restart" : "Used at once"}
              onClick={() => setIsEditing(true)}
            >
              <Pencil size={15} aria-hidden />
            </ActionIcon>
          ) : (
            elsewhere !== null && <Lock size={14} className="muted" aria-hidden />
          )}
        </div>
      )}
    </li>
  );
}

function Value({ setting }: { setting: InstallationSetting }) {
  const { value, isSecret } = setting;
  if (value === null) return <span className="setting-default">{setting.default}</span>;
  return <code>{isSecret ? value.replaceAll("***", "•••••") : value}</code>;
}

function Source({ setting }: { setting: InstallationSetting }) {
  const { source, updatedAt, updatedBy } = setting;
  const elsewhere = changeElsewhere(setting);
  return (
    <span className="muted small">
      {sourceText(setting)}
      {source.kind === "DASHBOARD" && updatedAt !== null && (
        <>
          {" "}
          <Time at={updatedAt} />
          {updatedBy !== null && ` by ${updatedBy}`}
        </>
      )}
      {elsewhere !== null && `. ${elsewhere}`}
    </span>
  );
}

function SettingForm(props: Props & { label: string; onClose: () => void }) {
  const { setting, onChanged, label, onClose } = props;
  const { name, choices, accepts, source, effect, isSecret } = setting;
  const path = settingPath(name);
  const onDone = async (): Promise<void> => {
    onClose();
    await onChanged();
  };
  const form = useApiForm({
    initial: { value: (isSecret ? null : setting.value) ?? choices?.[0] ?? "" },
    submit: ({ value }) =>
      reloadOnConflict(api.put(path, { value }, ifUnchanged(setting)), onChanged),
    onDone,
  });
  const reset = useApiForm({
    initial: {},
    submit: () => reloadOnConflict(api.delete(path, ifUnchanged(setting)), onChanged),
    onDone,
  });
  const error = form.error ?? reset.error;
  const field = { "aria-label": label, "data-autofocus": true, ...form.field("value") };
  return (
    <div className="setting-form">
      <form onSubmit={form.onSubmit} id={`set-${name}`}>
        {choices === null ? (
          <TextInput
            placeholder={accepts}
            autoComplete="off"
            spellCheck={false}
            autoFocus
            {...field}
          />
        ) : (
          <Select data={choices} allowDeselect={false} {...field} />
        )}
      </form>
      {error !== null && <Problem error={error} />}
      {isConflict(error) && (
        <p className="small">
          The value is now <Value setting={setting} />.
        </p>
      )}
      <p className="muted small">
        {effect === "AT_START" ? "It is used after the next restart." : "It is used at once."} The
        default is {setting.default}.
      </p>
      <div className="setting-buttons">
        <Button type="submit" form={`set-${name}`} size="xs" loading={form.isBusy}>
          Save
        </Button>
        {source.kind === "DASHBOARD" && (
          <form onSubmit={reset.onSubmit}>
            <Button type="submit" variant="default" size="xs" loading={reset.isBusy}>
              Reset to the default
            </Button>
          </form>
        )}
        <Button variant="subtle" size="xs" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
