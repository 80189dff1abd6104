/** The form of the relay of a project, with a test of what is filled in. */

import { Button, Group, PasswordInput, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProjectRelay, ProjectRelayTest } from "../../../modules/delivery/relay-model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ConversationView } from "../../ui/message/conversation.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sentence } from "../../ui/sentence.ts";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

export const RELAYS_KEY = ["relays"] as const;

type Values = Pick<ProjectRelay, "security" | "signedBy"> &
  Record<"host" | "port" | "username" | "password", string>;

const SECURITIES = [
  { value: "STARTTLS", label: "STARTTLS" },
  { value: "TLS", label: "TLS" },
  { value: "NONE", label: "None" },
];
const SIGNERS = [
  { value: "AUTO", label: "As is known of the relay" },
  { value: "SERVER", label: "This server" },
  { value: "RELAY", label: "The relay" },
];
const PORTS = { STARTTLS: "587", TLS: "465", NONE: "587" } as const;
const TEXT = { autoComplete: "off", spellCheck: false } as const;

export function RelayForm(props: {
  relay: ProjectRelay | null;
  /** Kept outside, because the first save replaces this form by that of the new relay. */
  isSaved: boolean;
  setIsSaved: (isSaved: boolean) => void;
}) {
  const { relay, isSaved, setIsSaved } = props;
  const client = useQueryClient();
  const form = useApiForm({
    initial: valuesOf(relay),
    submit: (values, idempotencyKey) =>
      relay === null
        ? api.post<ProjectRelay>("/relays", bodyOf(values), { idempotencyKey })
        : api.patch<ProjectRelay>(`/relays/${relay.id}`, bodyOf(values)),
    async onDone(stored) {
      setIsSaved(true);
      form.form.setValues(valuesOf(stored));
      form.form.setInitialValues(valuesOf(stored));
      form.form.resetDirty(valuesOf(stored));
      await client.invalidateQueries({ queryKey: RELAYS_KEY });
    },
  });
  const isChanged = form.form.isDirty();
  const unsaved = useUnsaved(isChanged);
  const { security, username } = form.values;
  return (
    <form
      onSubmit={(event) => {
        setIsSaved(false);
        form.onSubmit(event);
      }}
    >
      {unsaved}
      <Stack gap="lg">
        <div className="relay-server">
          <TextInput
            label="Server"
            placeholder="smtp.example.com"
            required
            withAsterisk={false}
            {...TEXT}
            {...form.field("host")}
          />
          <TextInput
            label="Port"
            inputMode="numeric"
            pattern="[0-9]*"
            placeholder={PORTS[security]}
            {...TEXT}
            {...form.field("port")}
          />
          <Select
            label="Encryption"
            data={SECURITIES}
            allowDeselect={false}
            {...form.field("security")}
          />
        </div>
        <div className="settings-pair">
          <TextInput label="User name" {...TEXT} {...form.field("username")} />
          <PasswordInput
            label="Password"
            placeholder={(relay?.username ?? null) === null ? "" : "Stored"}
            disabled={username.trim() === ""}
            {...TEXT}
            autoComplete="new-password"
            {...form.field("password")}
          />
        </div>
        <Select
          className="wide"
          label="DKIM signatures are made by"
          description="Some relays break the signatures of this server, and sign mail themselves."
          data={SIGNERS}
          allowDeselect={false}
          {...form.field("signedBy")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group gap="sm">
          <Button type="submit" loading={form.isBusy} disabled={!isChanged}>
            {relay === null ? "Use this relay" : "Save changes"}
          </Button>
          {isChanged && relay !== null && (
            <Button variant="default" onClick={() => form.form.reset()}>
              Discard
            </Button>
          )}
          {relay !== null && !isChanged && <RemoveRelay relay={relay} />}
          <span className="muted small" role="status">
            {relay !== null && isSaved && !isChanged ? "Saved." : ""}
          </span>
        </Group>
        <RelayTest relay={relay} values={form.values} isChanged={isChanged} />
      </Stack>
    </form>
  );
}

/** Tests what is filled in; the stored relay, with its password, if nothing was changed. */
function RelayTest(props: { relay: ProjectRelay | null; values: Values; isChanged: boolean }) {
  const { relay, values, isChanged } = props;
  const test = useMutation({
    mutationFn: () =>
      relay !== null && !isChanged
        ? api.post<ProjectRelayTest>(`/relays/${relay.id}/test`)
        : api.post<ProjectRelayTest>("/relays/test", bodyOf(values)),
  });
  const { data, error, isPending } = test;
  return (
    <div className="relay-test">
      <Group gap="sm">
        <Button
          variant="default"
          loading={isPending}
          disabled={values.host.trim() === ""}
          onClick={() => test.mutate()}
        >
          Test the connection
        </Button>
        <span className="muted small">Logs in, and sends no mail.</span>
      </Group>
      {error !== null && <Problem error={error} />}
      <div role="status">
        {data !== undefined && !isPending && (
          <>
            <p className="relay-verdict" data-tone={data.isWorking ? "good" : "failed"}>
              {resultText(data)}
            </p>
            {data.fix !== null && <p className="muted small">{sentence(data.fix)}</p>}
            <ConversationView conversation={data.conversation} />
          </>
        )}
      </div>
    </div>
  );
}

function resultText({ isWorking, isAuthenticated, reason }: ProjectRelayTest): string {
  if (!isWorking) return sentence(reason ?? "It failed");
  return isAuthenticated ? "The relay answers, and the login works." : "The relay answers.";
}

function RemoveRelay({ relay }: { relay: ProjectRelay }) {
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure(false);
  return (
    <>
      <Button variant="default" onClick={question.open}>
        Remove the relay
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Remove the relay?"
        text={`Mail of this project leaves as that of the installation again. The password for ${relay.host} is deleted here.`}
        action="Remove the relay"
        onConfirm={async () => {
          await api.delete(`/relays/${relay.id}`);
          await client.invalidateQueries({ queryKey: RELAYS_KEY });
        }}
      />
    </>
  );
}

function valuesOf(relay: ProjectRelay | null): Values {
  return {
    host: relay?.host ?? "",
    port: relay === null ? "" : String(relay.port),
    security: relay?.security ?? "STARTTLS",
    username: relay?.username ?? "",
    password: "",
    signedBy: relay?.signedBy ?? "AUTO",
  };
}

/** An empty password is left out: then the stored one stays, where it may. */
function bodyOf({ host, port, security, username, password, signedBy }: Values) {
  const user = username.trim();
  return {
    host: host.trim(),
    port: Number(port.trim() === "" ? PORTS[security] : port),
    security,
    username: user === "" ? null : user,
    ...(user === "" || password === "" ? {} : { password }),
    signedBy,
  };
}
