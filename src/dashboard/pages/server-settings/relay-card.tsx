/** The card of the transport, and of the relay with its test. */

import { Button, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { InstallationSetting, InstallationSettings } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ServerRelayForm } from "./relay-form.tsx";
import { RelayTrial } from "./relay-trial.tsx";
import { relayText } from "./relay-values.ts";
import { ifUnchanged, reloadOnConflict, settingPath } from "./setting-row.tsx";
import { changeElsewhere, sourceText } from "./setting-words.ts";

type Props = { data: InstallationSettings; onChanged: () => Promise<void> };

const number = new Intl.NumberFormat();

const TRANSPORTS = [
  { value: "capture", label: "Catch it" },
  { value: "relay", label: "Relay" },
  { value: "direct", label: "Direct" },
] as const;

const QUESTIONS: Readonly<Record<string, string>> = {
  capture: "Catch all mail?",
  relay: "Send all mail through the relay?",
  direct: "Deliver all mail directly?",
};

const ABOUT: Readonly<Record<string, string>> = {
  capture: "Mail is stored here and never leaves: for a first look and for tests.",
  relay: "A relay delivers the mail: a provider such as Amazon SES, or your own mail server.",
  direct:
    "This server delivers to the servers of the recipients. It needs port 25 and a PTR record.",
};

export function settingOf(data: InstallationSettings, name: string): InstallationSetting {
  const found = data.settings.find((setting) => setting.name === name);
  if (found === undefined) throw new Error(`the server has no setting ${name}`);
  return found;
}

export function RelayCard({ data, onChanged }: Props) {
  const [isEditing, setIsEditing] = useState(false);
  const { relay } = data;
  const transport = settingOf(data, "transport");
  const relayUrl = settingOf(data, "relay-url");
  const way = transport.value ?? "capture";
  const elsewhere = changeElsewhere(relayUrl);
  return (
    <section
      className="section card server-relay-card"
      aria-label="Transport and relay"
      id="transport-and-relay"
    >
      <h2>Transport and relay</h2>
      <Transport
        {...{ data, onChanged, transport, way }}
        onRelayNeeded={() => setIsEditing(true)}
      />
      <div className="server-relay-part">
        <h3>Relay</h3>
        {relay !== null && !isEditing && (
          <p>
            <strong>
              {relay.host}:{relay.port}
            </strong>{" "}
            <span className="muted">
              {relayText(relay)}
              {way === "relay" ? "" : ", not in use"}
            </span>
          </p>
        )}
        {relay === null && !isEditing && <p className="muted">There is none yet.</p>}
        {elsewhere !== null && (
          <p className="muted small">
            {sourceText(relayUrl)}. {elsewhere}
          </p>
        )}
        {isEditing ? (
          <ServerRelayForm {...{ data, onChanged }} onClose={() => setIsEditing(false)} />
        ) : (
          <RelayTrial canTest={relay !== null}>
            {elsewhere === null && (
              <Button variant="default" onClick={() => setIsEditing(true)}>
                {relay === null ? "Set up a relay" : "Change the relay"}
              </Button>
            )}
          </RelayTrial>
        )}
      </div>
    </section>
  );
}

function Transport(
  props: Props & { transport: InstallationSetting; way: string; onRelayNeeded: () => void },
) {
  const { data, onChanged, transport, way, onRelayNeeded } = props;
  const [wanted, setWanted] = useState<string | null>(null);
  const elsewhere = changeElsewhere(transport);
  const { waitingMails } = data;
  return (
    <>
      <SegmentedControl
        className="server-relay-ways"
        aria-label="How mail leaves"
        data={[...TRANSPORTS]}
        value={way}
        disabled={elsewhere !== null}
        onChange={(next) =>
          next === "relay" && data.relay === null ? onRelayNeeded() : setWanted(next)
        }
      />
      <p className="muted small server-relay-about">
        {ABOUT[way]} {elsewhere !== null && `${sourceText(transport)}. ${elsewhere}`}
      </p>
      <Confirm
        isOpen={wanted !== null}
        onClose={() => setWanted(null)}
        title={QUESTIONS[wanted ?? way] ?? ""}
        text={
          <>
            {ABOUT[wanted ?? way]} This is used at once.
            {waitingMails > 0 && (
              <>
                {" "}
                {number.format(waitingMails)} waiting{" "}
                {waitingMails === 1 ? "email leaves" : "emails leave"} this way as well.
              </>
            )}
          </>
        }
        action="Change it"
        color="brand"
        onConfirm={async () => {
          const body = { value: wanted };
          const change = api.put(settingPath("transport"), body, ifUnchanged(transport));
          await reloadOnConflict(change, onChanged);
          await onChanged();
        }}
      />
    </>
  );
}
