/** The form of the relay of a project, with a test of its values. */

import { Button, Group, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProjectRelay, ProjectRelayTest } from "../../../modules/delivery/relay-model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ConversationView } from "../../ui/message/conversation.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RelayFields, RelayResult } from "../../ui/relay-fields.tsx";
import { EMPTY_RELAY, type RelayValues } from "../../ui/relay-values.ts";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

export const RELAYS_KEY = ["relays"] as const;

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
  return (
    <form
      onSubmit={(event) => {
        setIsSaved(false);
        form.onSubmit(event);
      }}
    >
      {unsaved}
      <Stack gap="lg">
        <RelayFields {...{ form }} keepsPassword={keepsPassword(relay, form.values)} />
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

/** Tests the values of the form; or the stored relay, with its password, if nothing was changed. */
function RelayTest(props: { relay: ProjectRelay | null; values: RelayValues; isChanged: boolean }) {
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
      <div role="status">{data !== undefined && !isPending && <Result result={data} />}</div>
    </div>
  );
}

function Result({ result }: { result: ProjectRelayTest }) {
  const { isWorking, isAuthenticated, reason, fix, conversation } = result;
  return (
    <RelayResult
      problem={isWorking ? null : { reason: reason ?? "The reason is not known", fix }}
      tls={conversation.tls?.version ?? null}
      isAuthenticated={isAuthenticated}
    >
      <ConversationView conversation={conversation} />
    </RelayResult>
  );
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

function valuesOf(relay: ProjectRelay | null): RelayValues {
  if (relay === null) return EMPTY_RELAY;
  const { host, port, security, username, signedBy } = relay;
  return { host, port: String(port), security, username: username ?? "", password: "", signedBy };
}

/** An empty password is left out: then the stored one stays, where it may. */
function bodyOf({ host, port, security, username, password, signedBy }: RelayValues) {
  const user = username.trim();
  return {
    host: host.trim(),
    port: Number(port),
    security,
    username: user === "" ? null : user,
    ...(user === "" || password === "" ? {} : { password }),
    signedBy,
  };
}

/** The stored password is sent to no other server or user, and by no other connection. */
function keepsPassword(relay: ProjectRelay | null, values: RelayValues): boolean {
  if (relay === null || relay.username === null) return false;
  const { host, port, security, username } = valuesOf(relay);
  const isSameServer = values.host.trim() === host && values.port === port;
  return isSameServer && values.security === security && values.username.trim() === username;
}
