/** The second factor on the account page: the app, the passkeys and the recovery codes. */

import { Button, PasswordInput, Skeleton, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { hasPasskeys } from "../../passkey.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import "./styles.ts";
import { TotpSetUp } from "./totp-set-up.tsx";
import {
  type Passkey,
  type SecondFactor,
  useSecondFactor,
  useSecondFactorRefresh,
} from "./use-second-factor.ts";

type Step = "app" | "passkey" | "off" | "renew" | null;

const TITLES = { app: "Set up an authenticator app", passkey: "Add a passkey" } as const;
const OPEN = { project: null };

export function SecondFactorSection() {
  const { data, error, refetch } = useSecondFactor();
  const refresh = useSecondFactorRefresh();
  const [step, setStep] = useState<Step>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={112} />;
  const close = () => setStep(null);
  const done = async (recoveryCodes: readonly string[] | null) => {
    close();
    setCodes(recoveryCodes);
    await refresh();
  };
  const isSettingUp = step === "app" || step === "passkey";
  return (
    <>
      <Summary factor={data} />
      <FactorRows factor={data} onStep={setStep} />
      {data.canUsePasskeys && hasPasskeys() ? (
        <Button variant="default" onClick={() => setStep("passkey")}>
          Add a passkey
        </Button>
      ) : (
        <p className="muted small">
          Passkeys work where the dashboard has an https address with a name, which is also the
          value of the setting <code>--url</code>.
        </p>
      )}
      <Dialog
        opened={isSettingUp}
        onClose={close}
        closeOnClickOutside={false}
        title={isSettingUp ? TITLES[step] : ""}
        size="md"
      >
        {step === "app" && <TotpSetUp onDone={(given) => void done(given)} onCancel={close} />}
        {step === "passkey" && <AddPasskey onDone={(given) => void done(given)} onCancel={close} />}
      </Dialog>
      <Dialog
        opened={codes !== null}
        onClose={() => setCodes(null)}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
        title="Keep your recovery codes"
        size="md"
      >
        {codes !== null && <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />}
      </Dialog>
      <TurnOff isOpen={step === "off"} hasPassword={data.hasPassword} onClose={close} />
      <Confirm
        isOpen={step === "renew"}
        onClose={close}
        title="Make new recovery codes?"
        text="The codes that you have stop working at once."
        action="Make new codes"
        color="brand"
        onConfirm={async () => {
          const made = await api.post<{ recoveryCodes: string[] }>(
            "/app/api/account/recovery-codes",
            {},
            OPEN,
          );
          await done(made.recoveryCodes);
        }}
      />
    </>
  );
}

function Summary({ factor: { isOn, isRequired } }: { factor: SecondFactor }) {
  return (
    <p className="muted">
      {isOn ? (
        <>
          <Status tone="good">On</Status> Every sign-in asks for it, also one by a link.
        </>
      ) : (
        "A person who learns your password can sign in as you. A second factor prevents that."
      )}
      {isRequired && !isOn && " This installation asks you to set one up at your next sign-in."}
    </p>
  );
}

function FactorRows(props: { factor: SecondFactor; onStep: (step: Step) => void }) {
  const { factor, onStep } = props;
  const { isOn, totpSince, recoveryCodesLeft, passkeys } = factor;
  return (
    <ul className="rows factor-rows">
      <li>
        <div className="rows-text">
          <div>Authenticator app</div>
          <div className="muted small">
            {totpSince === null ? (
              "Codes of six digits on your phone"
            ) : (
              <>
                On since <Time at={totpSince} />
              </>
            )}
          </div>
        </div>
        {totpSince === null ? (
          <Button size="xs" variant="default" onClick={() => onStep("app")}>
            Set up
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={() => onStep("off")}>
            Turn off
          </Button>
        )}
      </li>
      {passkeys.map((passkey) => (
        <PasskeyRow key={passkey.id} passkey={passkey} />
      ))}
      {isOn && (
        <li>
          <div className="rows-text">
            <div>Recovery codes</div>
            <div className="muted small">
              {recoveryCodesLeft === 0
                ? "All are used. Make new ones, or a lost phone locks you out."
                : `${recoveryCodesLeft} of 10 are left`}
            </div>
          </div>
          <Button size="xs" variant="default" onClick={() => onStep("renew")}>
            Make new ones
          </Button>
        </li>
      )}
    </ul>
  );
}

function PasskeyRow({ passkey: { id, name, createdAt, lastUsedAt } }: { passkey: Passkey }) {
  const refresh = useSecondFactorRefresh();
  const [step, setStep] = useState<"rename" | "remove" | null>(null);
  const path = `/app/api/account/passkeys/${id}`;
  const close = () => setStep(null);
  const form = useApiForm({
    initial: { name },
    submit: (values) => api.patch(path, values, OPEN),
    onDone: async () => {
      close();
      await refresh();
    },
  });
  return (
    <li>
      <div className="rows-text">
        <div className="cut">Passkey: {name}</div>
        <div className="muted small">
          Added <Time at={createdAt} />
          {lastUsedAt === null ? (
            ", not used yet"
          ) : (
            <>
              , last used <Time at={lastUsedAt} />
            </>
          )}
        </div>
      </div>
      <div className="factor-actions">
        <Button
          size="xs"
          variant="default"
          aria-label={`Rename the passkey ${name}`}
          onClick={() => setStep("rename")}
        >
          Rename
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Remove the passkey ${name}`}
          onClick={() => setStep("remove")}
        >
          Remove
        </Button>
      </div>
      <Dialog opened={step === "rename"} onClose={close} title="Rename the passkey" size="sm">
        <DialogForm form={form} action="Rename" onCancel={close}>
          <TextInput label="Name" maxLength={100} data-autofocus {...form.field("name")} />
        </DialogForm>
      </Dialog>
      <Confirm
        isOpen={step === "remove"}
        onClose={close}
        title={`Remove the passkey ${name}?`}
        text="It cannot sign you in any more. Your device may still offer it, until you delete it there."
        action="Remove the passkey"
        onConfirm={async () => {
          await api.delete(path, OPEN);
          await refresh();
        }}
      />
    </li>
  );
}

function TurnOff(props: { isOpen: boolean; hasPassword: boolean; onClose: () => void }) {
  const { isOpen, hasPassword, onClose } = props;
  const refresh = useSecondFactorRefresh();
  const form = useApiForm({
    initial: { password: "", code: "" },
    submit: ({ password, code }) =>
      api.delete("/app/api/account/totp", {
        ...OPEN,
        body: { code: code.trim(), ...(password === "" ? {} : { password }) },
      }),
    onDone: async () => {
      form.form.reset();
      onClose();
      await refresh();
    },
  });
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Turn off the authenticator app" size="sm">
      <DialogForm form={form} action="Turn off" onCancel={onClose}>
        {hasPassword && (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            data-autofocus
            {...form.field("password")}
          />
        )}
        <TextInput
          label="Code of the app, or a recovery code"
          classNames={{ input: "mono" }}
          autoComplete="one-time-code"
          maxLength={40}
          required
          withAsterisk={false}
          {...form.field("code")}
        />
      </DialogForm>
    </Dialog>
  );
}
