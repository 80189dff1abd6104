import { Radio, Stack, TextInput } from "@mantine/core";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { TRACKING_CHOICES } from "./choices.ts";
import { SaveRow, useProjectForm } from "./project-form.tsx";
import { PageSection } from "../../ui/page-section.tsx";

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
  const form = useProjectForm(project, { valuesOf, bodyOf });
  return (
    <form className="narrow" onSubmit={form.onSubmit}>
      {form.unsaved}
      <PageSection id="privacy-tracking" title="Tracking">
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
      </PageSection>
      <PageSection id="privacy-retention" title="How long data is kept">
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
          <SaveRow form={form} onDiscard={() => form.form.reset()} />
        </Stack>
      </PageSection>
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

/** The server refuses a text that is no number of days. */
function bodyOf({ tracking, ...periods }: Values) {
  const days = Object.entries(periods).map(([name, text]) => {
    const given = text.trim();
    return [name, given === "" ? null : /^\d+$/.test(given) ? Number(given) : given];
  });
  return { tracking, ...Object.fromEntries(days) };
}
