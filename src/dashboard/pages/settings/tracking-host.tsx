/** The host of the tracked links of a project: the form, the DNS record to publish, and its state. */

import { Button, Group, Skeleton, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { TrackingHost } from "../../../modules/delivery/tracking-model.ts";
import { api, type ListPage } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { withEnd } from "../../ui/sentence.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useDelayed } from "../../ui/use-delayed.ts";

const HOSTS_KEY = ["tracking-hosts"] as const;
/** Until the record is published, the page shows the checks of the server. */
const REFRESH_MS = 20_000;

export function TrackingSection() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: HOSTS_KEY,
    queryFn: ({ signal }) => api.get<ListPage<TrackingHost>>("/tracking-hosts", { signal }),
    refetchInterval: ({ state }) =>
      state.data?.items[0]?.status === "PENDING" ? REFRESH_MS : false,
  });
  const isSlow = useDelayed(isPending);
  const host = data?.items[0] ?? null;
  return (
    <section className="section">
      <h2>Tracking host</h2>
      <p className="muted settings-note">
        Tracked links and pixels in mail lead to this host of yours, instead of that of the
        installation.
      </p>
      {error !== null && data === undefined && (
        <Problem error={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && isSlow && <Skeleton height={80} aria-busy="true" />}
      {data !== undefined && (host === null ? <AddHost /> : <HostView host={host} />)}
    </section>
  );
}

function AddHost() {
  const client = useQueryClient();
  const form = useApiForm({
    initial: { host: "" },
    submit: ({ host }, idempotencyKey) =>
      api.post<TrackingHost>("/tracking-hosts", { host: host.trim() }, { idempotencyKey }),
    onDone: () => client.invalidateQueries({ queryKey: HOSTS_KEY }),
  });
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <TextInput
          className="wide"
          label="Host"
          description="A name in a verified domain of the project, which is used for nothing else."
          placeholder="links.shop.example"
          required
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          {...form.field("host")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group>
          <Button type="submit" loading={form.isBusy}>
            Add the host
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function HostView({ host }: { host: TrackingHost }) {
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure(false);
  const refresh = () => client.invalidateQueries({ queryKey: HOSTS_KEY });
  const check = useMutation({
    mutationFn: () => api.post<TrackingHost>(`/tracking-hosts/${host.id}/check`),
    onSettled: refresh,
  });
  const { record, problem, status, checkedAt } = host;
  const isActive = status === "ACTIVE";
  return (
    <Stack gap="md">
      <Fields>
        <Field label="State">
          <Status tone={isActive ? "good" : "waiting"}>
            {isActive ? "In use" : "Waits for its record"}
          </Status>
          {problem !== null && <div className="small tracking-problem">{withEnd(problem)}</div>}
          {checkedAt !== null && (
            <div className="muted small">
              Checked <Time at={checkedAt} />
            </div>
          )}
        </Field>
        <Field label="Links begin with">
          <code>{host.url}</code>
        </Field>
        <Field label="Record type">
          <code>{record.type}</code>
        </Field>
        <Field label="Record host">
          <CopyText value={record.host} label={`Copy the host ${record.host}`} />
          {record.host !== record.name && <div className="muted small">{record.name}</div>}
        </Field>
        <Field label="Record value">
          <CopyText value={record.value} label={`Copy the value of ${record.name}`} />
        </Field>
      </Fields>
      {check.error !== null && <Problem error={check.error} />}
      <Group gap="sm">
        <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
          Check now
        </Button>
        <Button variant="default" onClick={question.open}>
          Remove the host
        </Button>
      </Group>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Remove the host?"
        text={`New links lead to the host of the installation. Leave the DNS record of ${host.host} where it is: links in mails that were sent need it.`}
        action="Remove the host"
        onConfirm={async () => {
          await api.delete(`/tracking-hosts/${host.id}`);
          await refresh();
        }}
      />
    </Stack>
  );
}
