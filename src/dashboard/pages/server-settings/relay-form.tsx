/** The form of the relay: it is tested before it is saved, or a question is asked. */

import { Button, Checkbox, PasswordInput, Select, TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import type { InstallationSetting, InstallationSettings } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { RelayTrial } from "./relay-trial.tsx";
import {
  keepsPassword,
  PORTS,
  readPastedUrl,
  relayInputOf,
  type RelayValues,
  valuesOfRelay,
} from "./relay-values.ts";
import { ifUnchanged, reloadOnConflict, settingPath } from "./setting-row.tsx";
import { changeElsewhere } from "./setting-words.ts";

const ENCRYPTIONS = [
  { value: "starttls", label: "STARTTLS" },
  { value: "implicit", label: "TLS from the first byte" },
  { value: "none", label: "None" },
];
const SIGNATURES = [
  { value: "auto", label: "Automatic" },
  { value: "relay", label: "The relay signs" },
  { value: "server", label: "This server signs" },
];
const TEXT = { autoComplete: "off", spellCheck: false } as const;

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
  const { values } = form;
  const isKept = keepsPassword(relay, values);

  function setHost(text: string): void {
    form.form.setValues(readPastedUrl(text) ?? { host: text });
  }

  function setTls(tls: string | null): void {
    const next = tls === "implicit" || tls === "none" ? tls : "starttls";
    const isUsualPort = Object.values(PORTS).includes(values.port);
    form.form.setValues({ tls: next, ...(isUsualPort && { port: PORTS[next] }) });
  }

  return (
    <>
      <form id="relay-form" className="server-relay-form" onSubmit={form.onSubmit}>
        <div className="server-relay-server">
          <TextInput
            label="Host"
            description="A name, or paste a whole URL: smtp://user:password@host:587"
            placeholder="smtp.example.com"
            required
            withAsterisk={false}
            {...TEXT}
            {...form.field("host")}
            onChange={({ currentTarget }) => setHost(currentTarget.value)}
          />
          <TextInput
            label="Port"
            inputMode="numeric"
            pattern="[0-9]{1,5}"
            required
            withAsterisk={false}
            {...TEXT}
            {...form.field("port")}
          />
          <Select
            label="Encryption"
            data={ENCRYPTIONS}
            allowDeselect={false}
            {...form.field("tls")}
            onChange={setTls}
          />
        </div>
        {values.tls === "none" && (
          <p className="small server-relay-plain">
            Everything can be read on the way. Use this only for a relay on this machine.
          </p>
        )}
        <div className="server-relay-login">
          <TextInput
            label="User"
            description="Empty if the relay wants no login"
            {...TEXT}
            {...form.field("user")}
          />
          <PasswordInput
            label="Password"
            description={
              isKept ? "Empty to keep the stored one" : "Often an API key or an app password"
            }
            placeholder={isKept ? "•••••" : ""}
            {...TEXT}
            autoComplete="new-password"
            {...form.field("password")}
          />
          <Select
            label="DKIM signature"
            description="Some relays sign mail themselves"
            data={SIGNATURES}
            allowDeselect={false}
            {...form.field("sign")}
          />
        </div>
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
