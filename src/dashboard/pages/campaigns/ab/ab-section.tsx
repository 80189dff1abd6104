/** The section for the A/B test of a draft: its variants, its groups, and how the winner is chosen. */

import "./styles.ts";
import { Autocomplete, Button, NumberInput, Select, Slider } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { FlaskConical, Plus } from "lucide-react";
import { useState } from "react";
import type { AbTest } from "../../../../modules/campaigns/ab-tests/ab-model.ts";
import { api, type ListPage } from "../../../api.ts";
import { showUndo } from "../../../ui/undo.tsx";
import type { CampaignEditing } from "../editor/campaign-source.ts";
import { Section } from "../editor/section.tsx";
import type { SectionState } from "../editor/sections.ts";
import type { Senders } from "../editor/use-senders.ts";
import { serverFault } from "./ab-fault.ts";
import { GroupsBar } from "./ab-groups-bar.tsx";
import {
  AFTER_CHOICES,
  afterText,
  MOST_VARIANTS,
  newAbTest,
  type Winner,
  withShare,
  withVariant,
} from "./ab-plan.ts";
import { VariantCard } from "./ab-variant.tsx";

type Props = {
  id: string;
  project: string;
  editor: CampaignEditing;
  senders: Senders;
  recipients: number | undefined;
  state: SectionState;
};

export function AbSection(props: Props) {
  const { editor, state } = props;
  const { abTest } = editor.value;
  return (
    <Section section="ab" state={state}>
      {abTest === null ? (
        <div className="ab-none">
          <p className="muted">
            Send different subjects, senders or bodies to a part of the audience, and the better one
            to the rest.
          </p>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<FlaskConical size={14} aria-hidden />}
            onClick={() => editor.change({ abTest: newAbTest() })}
          >
            Add an A/B test
          </Button>
        </div>
      ) : (
        <Test {...props} test={abTest} />
      )}
    </Section>
  );
}

function Test({ id, project, editor, senders, recipients, test }: Props & { test: AbTest }) {
  const setTest = (abTest: AbTest | null) => editor.change({ abTest });
  function remove(): void {
    setTest(null);
    showUndo({ text: "The A/B test was removed.", onUndo: () => setTest(test) });
  }
  return (
    <>
      <div className="ab-variants">
        {test.variants.map((variant) => (
          <VariantCard key={variant.id} {...{ id, project, editor, senders, test, variant }} />
        ))}
      </div>
      <div className="ab-tools">
        <Button
          variant="default"
          leftSection={<Plus size={15} aria-hidden />}
          disabled={test.variants.length === MOST_VARIANTS}
          onClick={() => setTest(withVariant(test))}
        >
          Add a variant
        </Button>
        <Button variant="subtle" color="gray" onClick={remove}>
          Remove the A/B test
        </Button>
      </div>
      <Shares test={test} onChange={setTest} />
      <GroupsBar test={test} recipients={recipients} />
      <WinnerFields
        project={project}
        winner={test.winner}
        error={serverFault(editor, "abTest.winner.eventName")}
        onChange={(winner) => setTest({ ...test, winner })}
      />
    </>
  );
}

function Shares({ test, onChange }: { test: AbTest; onChange: (test: AbTest) => void }) {
  return (
    <div className="ab-shares">
      <div>
        <span className="ab-label" id="ab-share">
          In the test
        </span>
        <p className="muted small">
          The percent of the recipients that gets the variants, in equal parts.
        </p>
        <Slider
          className="ab-slider"
          min={1}
          max={100}
          label={(share) => `${share} %`}
          thumbProps={{ "aria-labelledby": "ab-share" }}
          marks={[
            { value: 20, label: "20 %" },
            { value: 50, label: "50 %" },
            { value: 100, label: "100 %" },
          ]}
          value={test.share}
          onChange={(share) => onChange(withShare(test, share))}
        />
      </div>
      <NumberInput
        label="Held out"
        description="The percent that gets nothing, to measure the effect."
        min={0}
        max={Math.min(50, 100 - test.share)}
        clampBehavior="strict"
        allowDecimal={false}
        suffix=" %"
        value={test.holdOut}
        onChange={(next) => onChange({ ...test, holdOut: typeof next === "number" ? next : 0 })}
      />
    </div>
  );
}

const RULES: readonly { value: Winner["by"]; label: string }[] = [
  { value: "OPENS", label: "Most opens" },
  { value: "CLICKS", label: "Most clicks" },
  { value: "EVENT", label: "An event of the contact" },
  { value: "MANUAL", label: "I choose it myself" },
];

/** A rule by an event is saved when the event is named. */
function WinnerFields(props: {
  project: string;
  winner: Winner;
  error: string | undefined;
  onChange: (winner: Winner) => void;
}) {
  const { project, winner, error, onChange } = props;
  const [chosen, setChosen] = useState<Winner["by"] | null>(null);
  const by = chosen ?? winner.by;
  const names = useQuery({
    queryKey: ["events", project, "names"],
    queryFn: ({ signal }) =>
      api.get<ListPage<string>>("/events/names", { query: { limit: 100 }, signal }),
    enabled: by === "EVENT",
  });

  function choose(next: string | null): void {
    const rule = RULES.find(({ value }) => value === next)?.value;
    if (rule === undefined) return;
    if (rule === "EVENT") return setChosen(rule);
    setChosen(null);
    onChange({ ...winner, by: rule, eventName: null });
  }

  function name(text: string): void {
    const isNamed = text.trim() !== "";
    setChosen("EVENT");
    if (isNamed) onChange({ ...winner, by: "EVENT", eventName: text });
  }

  const minutes = String(winner.afterMinutes);
  const times = AFTER_CHOICES.some(({ value }) => value === minutes)
    ? AFTER_CHOICES
    : [...AFTER_CHOICES, { value: minutes, label: afterText(winner.afterMinutes) }];
  return (
    <div className="ab-winner">
      <Select
        label="The winner has"
        allowDeselect={false}
        data={[...RULES]}
        value={by}
        onChange={choose}
      />
      {by === "EVENT" && (
        <Autocomplete
          label="Name of the event"
          placeholder="order_placed"
          data={names.data?.items ?? []}
          defaultValue={winner.eventName ?? ""}
          error={
            winner.by === "EVENT" ? error : "Name the event. Until then, the rule before is kept."
          }
          onChange={name}
        />
      )}
      {by !== "MANUAL" && (
        <Select
          label="Chosen after"
          allowDeselect={false}
          data={times}
          value={minutes}
          onChange={(next) => onChange({ ...winner, afterMinutes: Number(next) })}
        />
      )}
      <p className="muted small ab-rule">
        {by === "MANUAL"
          ? "The rest of the audience waits until you choose the winner on this page."
          : "The time counts from the last mail of the test. You can choose the winner earlier on this page. Opens and clicks by programs do not count."}
      </p>
    </div>
  );
}
