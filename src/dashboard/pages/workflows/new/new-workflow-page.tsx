/** Starts a workflow: an empty one with a chosen trigger, or one of the common series. */

import "../styles.ts";
import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Workflow } from "../../../../modules/workflows/model.ts";
import { api } from "../../../api.ts";
import { BackLabel, Page } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { RoleNeeded } from "../../../ui/role-needed.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import { ownZone } from "../../campaigns/editor/zone-time.ts";
import { cronOf, FIRST_PLAN } from "../editor/cron.ts";
import { SeriesList } from "./series-list.tsx";
import { EventName } from "../editor/forms/choices.tsx";

const route = getRouteApi("/user/p/$project/workflows/new");

export function NewWorkflowPage() {
  const { project } = route.useParams();
  return (
    <Page
      title="New workflow"
      back={
        <Link to="/p/$project/workflows" params={{ project }} className="page-back">
          <BackLabel>Workflows</BackLabel>
        </Link>
      }
      description="Nothing starts before you enable it. All of it can be changed later."
    >
      <RoleNeeded role="EDITOR">
        <Choices project={project} />
      </RoleNeeded>
    </Page>
  );
}

function Choices({ project }: { project: string }) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  async function open({ id }: Workflow): Promise<void> {
    await client.invalidateQueries({ queryKey: ["workflows"] });
    await navigate({
      to: "/p/$project/workflows/$workflow",
      params: { project, workflow: id },
      replace: true,
    });
  }
  return (
    <div className="new-workflow">
      <section aria-labelledby="new-blank">
        <h2 id="new-blank">Start empty</h2>
        <BlankForm project={project} onMade={open} />
      </section>
      <section aria-labelledby="new-series">
        <h2 id="new-series">Start from a series</h2>
        <SeriesList project={project} onStarted={open} />
      </section>
    </div>
  );
}

const KINDS = [
  { value: "EVENT", label: "An event of a contact" },
  { value: "SCHEDULE", label: "A schedule" },
  { value: "MANUAL", label: "By hand" },
] as const;

function BlankForm(props: { project: string; onMade: (workflow: Workflow) => Promise<void> }) {
  const { project, onMade } = props;
  const [kind, setKind] = useState("EVENT");
  const form = useApiForm({
    initial: { name: "", trigger: "" },
    submit: ({ name, trigger }, idempotencyKey) =>
      api.post<Workflow>(
        "/workflows",
        { name: name.trim(), trigger: triggerOf(kind, trigger) },
        { idempotencyKey },
      ),
    onDone: onMade,
  });
  const { values } = form;
  const isIncomplete =
    values.name.trim() === "" || (kind === "EVENT" && values.trigger.trim() === "");
  return (
    <form onSubmit={form.onSubmit} className="workflow-settings">
      <TextInput
        label="Name"
        placeholder="Welcome"
        required
        withAsterisk={false}
        maxLength={255}
        autoFocus
        {...form.field("name")}
      />
      <Radio.Group label="It starts with" value={kind} onChange={setKind}>
        <Stack gap="xs" mt={6}>
          {KINDS.map(({ value, label }) => (
            <Radio key={value} value={value} label={label} />
          ))}
        </Stack>
      </Radio.Group>
      {kind === "EVENT" && (
        <EventName
          project={project}
          description="Each contact of this event enters. You can type an event that has not happened yet."
          value={values.trigger}
          error={errorOf(form.form.errors["trigger"])}
          onChange={(name) => form.form.setFieldValue("trigger", name)}
        />
      )}
      {form.error !== null && <Problem error={form.error} />}
      <Group>
        <Button type="submit" loading={form.isBusy} disabled={isIncomplete}>
          Create the workflow
        </Button>
      </Group>
    </form>
  );
}

const errorOf = (error: unknown): string | undefined =>
  typeof error === "string" ? error : undefined;

function triggerOf(kind: string, eventName: string): object {
  if (kind === "MANUAL") return { type: "MANUAL" };
  if (kind === "EVENT") return { type: "EVENT", eventName: eventName.trim() };
  return { type: "SCHEDULE", cron: cronOf(FIRST_PLAN), timeZone: ownZone(), segmentId: null };
}
