/** The form of the relay: it is tested before it is saved, or a question is asked. */

import { Button, Checkbox } from "@mantine/core";
import { useRef, useState } from "react";
import type { InstallationSetting, InstallationSettings } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RelayFields } from "../../ui/relay-fields.tsx";
import type { RelayValues } from "../../ui/relay-values.ts";
import { useApiForm } from "../../ui/use-api-form.ts";
import { RelayTrial } from "./relay-trial.tsx";
import { keepsPassword, relayInputOf, valuesOfRelay } from "./relay-values.ts";
import { ifUnchanged, reloadOnConflict, settingPath } from "./setting-row.tsx";
import { changeElsewhere } from "./setting-words.ts";

export function ServerRelayForm(props: {
  data: InstallationSettings;
  onChanged: () => Promise<void>;
  onClose: () => void;
}) {
  const { data, onChanged, onClose } = props;
  const { relay } = data;
  const find = (name: string): InstallationSetting | undefined =>
    data.settings.find((setting) => setting.name === name);
  const [relayUrl, transport] = [find("relay-url"), find("transport")];
  const canSwitch =
    transport !== undefined && transport.value !== "relay" && changeElsewhere(transport) === null;
  const [isForAll, setIsForAll] = useState(true);
  /** The values that were tested with success. */
  const [tested, setTested] = useState<string | null>(null);
  const underTest = useRef("");
  const [isAsking, setIsAsking] = useState(false);

  async function save(values: RelayValues): Promise<void> {
    if (relayUrl === undefined) return;
    const body = { relay: relayInputOf(values) };
    const change = api.put(settingPath("relay-url"), body, ifUnchanged(relayUrl));
    await reloadOnConflict(change, onChanged);
    if (canSwitch && isForAll) {
      await api.put(settingPath("transport"), { value: "relay" }, ifUnchanged(transport));
    }
    await onChanged();
    onClose();
  }

  const form = useApiForm({
    initial: valuesOfRelay(relay),
    async submit(values) {
      if (JSON.stringify(values) === tested) await save(values);
      else setIsAsking(true);
    },
  });

  return (
    <>
      <form id="relay-form" className="server-relay-form" onSubmit={form.onSubmit}>
        <RelayFields {...{ form }} keepsPassword={keepsPassword(relay, form.values)} />
        {canSwitch && (
          <Checkbox
            label="Send all mail through this relay"
            checked={isForAll}
            onChange={({ currentTarget }) => setIsForAll(currentTarget.checked)}
          />
        )}
        {form.error !== null && <Problem error={form.error} />}
      </form>
      <RelayTrial
        input={() => {
          underTest.current = JSON.stringify(form.form.getValues());
          return relayInputOf(form.form.getValues());
        }}
        onResult={({ problem }) => setTested(problem === null ? underTest.current : null)}
      >
        <Button type="submit" form="relay-form" loading={form.isBusy}>
          Save
        </Button>
        <Button variant="subtle" onClick={onClose}>
          Cancel
        </Button>
      </RelayTrial>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Save without a test?"
        text="These values were not tested with success. If the relay does not take mail, all mail waits in the queue until it does."
        action="Save without a test"
        color="brand"
        onConfirm={() => save(form.form.getValues())}
      />
    </>
  );
}
