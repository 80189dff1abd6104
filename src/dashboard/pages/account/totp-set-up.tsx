/** The set-up of an authenticator app: the QR code, and a code that proves that the app has it. */

import { Loader, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { CopyText } from "../../ui/copy.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { QrCode } from "./qr-code.tsx";
import "./styles.ts";

type Begun = { secret: string; uri: string };
type Confirmed = { recoveryCodes: string[] | null };

const PATH = "/app/api/account/totp";

export function TotpSetUp(props: {
  /** Gets the recovery codes, which are shown once; null if the user has some. */
  onDone: (recoveryCodes: readonly string[] | null) => void;
  onCancel: () => void;
}) {
  const { onDone, onCancel } = props;
  // A query, because it runs once although components mount twice in development.
  const begun = useQuery({
    queryKey: ["totp-set-up"],
    queryFn: () => api.post<Begun>(PATH, {}, { project: null }),
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  const form = useApiForm({
    initial: { code: "" },
    submit: ({ code }) =>
      api.post<Confirmed>(`${PATH}/confirm`, { code: code.replace(/\s/g, "") }, { project: null }),
    onDone: ({ recoveryCodes }: Confirmed) => onDone(recoveryCodes),
  });
  if (begun.error !== null) return <Problem error={begun.error} />;
  if (begun.data === undefined) return <Loader size="sm" />;
  const { secret, uri } = begun.data;
  return (
    <DialogForm form={form} action="Turn on" onCancel={onCancel}>
      <p>
        Scan this code with your authenticator app, such as 1Password, Aegis or Google
        Authenticator.
      </p>
      <QrCode text={uri} label="QR code for the authenticator app" />
      <p className="muted small">
        Without a camera, enter this key in the app:{" "}
        <CopyText value={secret.replace(/(.{4})(?=.)/g, "$1 ")} label="Copy the key" />
      </p>
      <TextInput
        label="Code that the app shows"
        classNames={{ input: "mono" }}
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={7}
        required
        withAsterisk={false}
        autoFocus
        {...form.field("code")}
      />
    </DialogForm>
  );
}
