import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { TRACKING_CHOICES } from "./choices.ts";
import { detailsKey } from "./use-project-details.ts";

const PERIODS = [
  ["retainBodies", "Contents of mails", "Body, variables and attachments."],
  ["retainRaw", "Captured messages", "Mail that is stored instead of sent."],
  ["retainEvents", "Events", "With executions that have ended."],
  ["retainReceived", "Received mails", "Mails to the inbound routes."],
] as const;
type Period = (typeof PERIODS)[number][0];

type Values = { tracking: ProjectDetails["tracking"] } & Record<Period, string>;

/** The tracking of a project and the periods for which it keeps its data. */
export function PrivacyForm({ project }: { project: ProjectDetails }) {
  const client = useQueryClient();
  const [isSaved, setIsSaved] = useState(false);
  const form = useApiForm({
    initial: valuesOf(project),
    submit: (values) => api.patch<ProjectDetails>(`/projects/${project.id}`, bodyOf(values)),
    onDone: (saved) => {
      setIsSaved(true);
      form.form.setValues(valuesOf(saved));
      form.form.setInitialValues(valuesOf(saved));
      form.form.resetDirty(valuesOf(saved));
      client.setQueryData(detailsKey(project.id), saved);
    },
  });
  const isChanged = form.form.isDirty();
  const unsaved = useUnsaved(isChanged);
  return (
    <form
      className="narrow"
      onSubmit={(event) => {
        setIsSaved(false);
        form.onSubmit(event);
      }}
    >
      {unsaved}
      <section className="section" aria-labelledby="privacy-tracking">
        <h2 id="privacy-tracking">Tracking</h2>
        <Radio.Group
          label="Track opens and clicks in"
          description="A contact who refused is never tracked."
          {...form.field("tracking")}
        >
          <Stack gap="xs" mt={8}>
            {TRACKING_CHOICES.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
      </section>
      <section className="section" aria-labelledby="privacy-retention">
        <h2 id="privacy-retention">How long data is kept</h2>
        <p className="muted settings-note">
          In days. An empty field is the period of the server, which no project can exceed. Older
          data is deleted within a few hours and cannot be restored.
        </p>
        <Stack gap="lg">
          <div className="settings-pair">
            {PERIODS.map(([name, label, description]) => (
              <TextInput
                key={name}
                label={label}
                description={description}
                placeholder={serverPeriod(project.retentionLimits[name])}
                inputMode="numeric"
                maxLength={5}
                autoComplete="off"
                {...form.field(name)}
              />
            ))}
          </div>
          {form.error !== null && <Problem error={form.error} />}
          <Group gap="sm">
            <Button type="submit" loading={form.isBusy} disabled={!isChanged}>
              Save changes
            </Button>
            {isChanged && (
              <Button variant="default" onClick={() => form.form.reset()}>
                Discard
              </Button>
            )}
            <span className="muted small" role="status">
              {isSaved && !isChanged ? "Saved" : ""}
            </span>
          </Group>
        </Stack>
      </section>
    </form>
  );
}

const serverPeriod = (days: number | null): string =>
  days === null ? "For good" : `${days} ${days === 1 ? "day" : "days"}`;

function valuesOf(project: ProjectDetails): Values {
  const textOf = (name: Period) => project[name]?.toString() ?? "";
  return {
    tracking: project.tracking,
    retainBodies: textOf("retainBodies"),
    retainRaw: textOf("retainRaw"),
    retainEvents: textOf("retainEvents"),
    retainReceived: textOf("retainReceived"),
  };
}

/** The server refuses what is no number of days. */
function bodyOf({ tracking, ...periods }: Values) {
  const days = Object.entries(periods).map(([name, text]) => {
    const given = text.trim();
    return [name, given === "" ? null : /^\d+$/.test(given) ? Number(given) : given];
  });
  return { tracking, ...Object.fromEntries(days) };
}
