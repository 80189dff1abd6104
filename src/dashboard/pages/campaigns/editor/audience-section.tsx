/** The section for the audience: all contacts, a segment, or the contacts that meet conditions. */

import { Button, SegmentedControl, Select, Switch } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Segment } from "../../../../modules/segments/model.ts";
import { api, type ListPage } from "../../../api.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { NameForm } from "../../../ui/name-form.tsx";
import { showDone } from "../../../ui/undo.tsx";
import { useMay } from "../../../state.ts";
import { countText } from "../../overview/figures.ts";
import { ConditionEditor } from "../../segments/builder/condition-editor.tsx";
import { useFields } from "../../segments/builder/use-fields.ts";
import { TopicSelect } from "../../topics/topic-select.tsx";
import { AudienceFunnel } from "./audience-funnel.tsx";
import type { CampaignEditing } from "./campaign-source.ts";
import { Section } from "./section.tsx";
import type { SectionState } from "./sections.ts";
import type { AudienceChoice, AudienceCount, AudienceType } from "./use-audience.ts";

const TYPES: readonly { value: AudienceType; label: string }[] = [
  { value: "ALL", label: "Everybody" },
  { value: "SEGMENT", label: "A segment" },
  { value: "FILTERED", label: "By conditions" },
];

export function AudienceSection(props: {
  project: string;
  editor: CampaignEditing;
  choice: AudienceChoice;
  count: AudienceCount;
  state: SectionState;
}) {
  const { project, editor, choice, count, state } = props;
  const { value, change } = editor;
  const { type, setType } = choice;
  const isNotice = value.category === "TRANSACTIONAL";
  return (
    <Section section="audience" state={state}>
      <div className="draft-columns">
        <div className="draft-main">
          <SegmentedControl
            aria-label="Who gets it"
            value={choice.isUnset ? "" : type}
            data={[...TYPES]}
            onChange={(next) => setType(TYPES.find((each) => each.value === next)?.value ?? "ALL")}
          />
          {type === "ALL" && (
            <p className="muted">
              {isNotice
                ? "All contacts, except suppressed addresses."
                : `All subscribed contacts${value.topicId === null ? "" : " who are in the topic"}.`}
            </p>
          )}
          {type === "SEGMENT" && !choice.isUnset && (
            <SegmentChoice
              project={project}
              segmentId={value.audienceType === "SEGMENT" ? value.segmentId : null}
              onChoose={choice.setSegment}
            />
          )}
          {type === "FILTERED" && <Conditions project={project} choice={choice} />}
          {!isNotice && (
            <TopicSelect
              project={project}
              topicId={value.topicId}
              onChange={(topicId) => change({ topicId })}
            />
          )}
          <Switch
            label="A notice, not marketing"
            description="Such as changed terms: it also goes to people who have unsubscribed."
            checked={isNotice}
            onChange={({ currentTarget }) =>
              // A notice has no topic.
              change(
                currentTarget.checked
                  ? { category: "TRANSACTIONAL", topicId: null }
                  : { category: "MARKETING" },
              )
            }
          />
          {isNotice && <NoticeRules />}
        </div>
        <AudienceFunnel project={project} editor={editor} count={count} state={state} />
      </div>
    </Section>
  );
}

function NoticeRules() {
  const maySend = useMay("ADMIN");
  return (
    <p className="draft-note" role="note">
      It has no link to unsubscribe. The law of most countries allows this only for facts that
      people must know, and without any advertising.{" "}
      {maySend
        ? "Only admins can send it."
        : "Only an admin can send it: ask one when it is ready."}
    </p>
  );
}

const MOST_SEGMENTS = 100;

function SegmentChoice(props: {
  project: string;
  segmentId: string | null;
  onChoose: (id: string) => void;
}) {
  const { project, segmentId, onChoose } = props;
  const segments = useQuery({
    queryKey: ["segment-choices", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<Segment>>("/segments", { query: { limit: MOST_SEGMENTS }, signal }),
  });
  const items = segments.data?.items ?? [];
  const data = items.map(({ id, name, memberCount }) => ({
    value: id,
    label: `${name} (${countText(memberCount)})`,
  }));
  const isKnown = segmentId === null || items.some(({ id }) => id === segmentId);
  if (segments.data !== undefined && items.length === 0) {
    return (
      <p className="muted">
        This project has no segments yet.{" "}
        <Link to="/p/$project/segments/new" params={{ project }}>
          Create a segment
        </Link>
      </p>
    );
  }
  return (
    <Select
      label="Segment"
      placeholder="Choose a segment"
      searchable
      allowDeselect={false}
      nothingFoundMessage="No segment has this name"
      data={isKnown ? data : [...data, { value: segmentId, label: "…" }]}
      value={segmentId}
      error={segments.error === null ? undefined : "The segments cannot be read."}
      onChange={(id) => id !== null && onChoose(id)}
    />
  );
}

function Conditions({ project, choice }: { project: string; choice: AudienceChoice }) {
  const { condition, isOutside } = choice;
  const client = useQueryClient();
  const fields = useFields(project);
  const [isNaming, dialog] = useDisclosure(false);
  const text = JSON.stringify(condition.condition);
  useEffect(() => choice.takeCondition(condition.condition), [text]);
  useEffect(() => {
    if (isOutside) choice.showStored();
  }, [isOutside]);
  return (
    <div className="draft-conditions">
      <ConditionEditor editor={condition} fields={fields} />
      <Button
        size="compact-sm"
        variant="default"
        disabled={condition.condition === null}
        onClick={dialog.open}
      >
        Save as a segment
      </Button>
      <Dialog opened={isNaming} onClose={dialog.close} title="Save as a segment" size="sm">
        <NameForm
          action="Create the segment"
          create={(name, idempotencyKey) =>
            api.post<Segment>(
              "/segments",
              { name, type: "DYNAMIC", condition: condition.condition },
              { idempotencyKey },
            )
          }
          onDone={async ({ id, name }) => {
            await client.invalidateQueries({ queryKey: ["segment-choices", project] });
            void client.invalidateQueries({ queryKey: ["segments"] });
            choice.setSegment(id);
            showDone(`The segment ${name} was created. The campaign goes to it.`);
            dialog.close();
          }}
          onCancel={dialog.close}
        />
      </Dialog>
    </div>
  );
}
