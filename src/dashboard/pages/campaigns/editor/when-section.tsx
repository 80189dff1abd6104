/** The section for the sending: the time, the speed, marks in the links, and the public page. */

import { Checkbox, NumberInput, Radio, Select, Stack, Switch, TextInput } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { serverNow } from "../../../server-clock.ts";
import { Copy } from "../../../ui/copy.tsx";
import type { CampaignEditing } from "./campaign-source.ts";
import { Section } from "./section.tsx";
import type { SectionState } from "./sections.ts";
import type { useWhen } from "./use-when.ts";
import { plannedMs, type When } from "./when.ts";
import { isZoneFound, ownZone, type WallTime, wallTimeOf, zonedText, zones } from "./zone-time.ts";

export function WhenSection(props: {
  campaign: Campaign;
  editor: CampaignEditing;
  when: ReturnType<typeof useWhen>;
  state: SectionState;
}) {
  const { campaign, editor, when, state } = props;
  return (
    <Section section="when" state={state}>
      <Time when={when.when} onChange={when.change} />
      <div className="draft-options">
        <Speed editor={editor} />
        <Utm editor={editor} />
        <Archive editor={editor} url={campaign.archiveUrl} />
      </div>
    </Section>
  );
}

const HOUR_MS = 3_600_000;

function Time({ when, onChange }: { when: When; onChange: (next: Partial<When>) => void }) {
  const { kind, wall, zone } = when;
  const choices = useMemo(zones, []);
  const at = plannedMs(when);
  const own = ownZone();

  function choose(next: string): void {
    const chosen = next === "AT" || next === "LOCAL" ? next : "NOW";
    if (chosen === "NOW" || wall !== "") onChange({ kind: chosen });
    else onChange({ kind: chosen, wall: firstTime(chosen, zone) });
  }

  return (
    <>
      <Radio.Group aria-label="When it is sent" value={kind} onChange={choose}>
        <Stack gap="xs">
          <Radio
            value="NOW"
            label="As soon as you send it"
            description="You have 15 seconds to undo it."
          />
          <Radio value="AT" label="At a time" />
          <Radio
            value="LOCAL"
            label="At a time on each contact's own clock"
            description="By the time zone in its data. The first contacts get it up to 14 hours before UTC, the last ones up to 12 hours after."
          />
        </Stack>
      </Radio.Group>
      {kind !== "NOW" && (
        <div className="draft-time">
          <TextInput
            type="datetime-local"
            label="Time"
            value={wall}
            onChange={({ currentTarget }) => onChange({ wall: currentTarget.value })}
          />
          <Select
            label={kind === "AT" ? "Zone" : "Zone of contacts without one"}
            searchable
            filter={({ options, search }) =>
              options.filter((option) => "value" in option && isZoneFound(option.value, search))
            }
            allowDeselect={false}
            data={choices}
            value={zone}
            onChange={(next) => next !== null && onChange({ zone: next })}
          />
          {kind === "AT" && at !== null && zone !== own && (
            <p className="muted small draft-own-time">For you: {zonedText(at, own)}</p>
          )}
        </div>
      )}
    </>
  );
}

/** The next hour but one; for clocks all over the world, nine o'clock in two days. */
function firstTime(kind: "AT" | "LOCAL", zone: string): WallTime {
  const now = serverNow();
  if (kind === "AT") return wallTimeOf(nextHour(now + HOUR_MS), zone);
  return `${wallTimeOf(now + 48 * HOUR_MS, zone).slice(0, 10)}T09:00`;
}

const nextHour = (ms: number): number => Math.ceil(ms / HOUR_MS) * HOUR_MS;

/** Asks for mails in a minute, because few people think in mails in a second. */
function Speed({ editor }: { editor: CampaignEditing }) {
  const { rate } = editor.value;
  const perMinute = rate === null ? "" : Math.round(rate * 60);
  return (
    <div className="draft-option">
      <NumberInput
        label="Mails per minute, at most"
        description="Empty: as fast as the server may."
        min={1}
        max={1_000_000}
        allowDecimal={false}
        value={perMinute}
        onChange={(value) =>
          editor.change({ rate: typeof value === "number" && value >= 1 ? value / 60 : null })
        }
      />
    </div>
  );
}

const UTM_FIELDS = [
  { name: "source", label: "utm_source" },
  { name: "medium", label: "utm_medium" },
  { name: "campaign", label: "utm_campaign" },
  { name: "term", label: "utm_term" },
  { name: "content", label: "utm_content" },
] as const;

function Utm({ editor }: { editor: CampaignEditing }) {
  const { value, change } = editor;
  const { utm, name } = value;
  const [isOpen, setIsOpen] = useState(utm !== null);
  useEffect(() => {
    if (utm !== null) setIsOpen(true);
  }, [utm]);

  function set(field: string, text: string): void {
    const { [field]: _, ...others } = utm ?? {};
    const next = text === "" ? others : { ...others, [field]: text };
    change({ utm: Object.keys(next).length === 0 ? null : next });
  }
  function switchTo(isOn: boolean): void {
    setIsOpen(isOn);
    change({ utm: isOn ? { source: "newsletter", medium: "email", campaign: slug(name) } : null });
  }

  return (
    <div className="draft-option">
      <Switch
        label="UTM parameters in the links"
        description="Tools such as Matomo and Google Analytics name the campaign by them."
        checked={isOpen}
        onChange={({ currentTarget }) => switchTo(currentTarget.checked)}
      />
      {isOpen && (
        <div className="draft-utm">
          {UTM_FIELDS.map(({ name: field, label }) => (
            <TextInput
              key={field}
              label={label}
              maxLength={255}
              value={utm?.[field] ?? ""}
              onChange={({ currentTarget }) => set(field, currentTarget.value)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** The name of a campaign as a value of a parameter. */
export const slug = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 100);

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

function Archive({ editor, url }: { editor: CampaignEditing; url: string | null }) {
  const { value, change } = editor;
  const [typed, setTyped] = useState(value.archiveSlug ?? "");
  useEffect(() => setTyped(value.archiveSlug ?? ""), [value.archiveSlug]);
  const isFaulty = typed !== "" && !SLUG.test(typed);
  return (
    <div className="draft-option">
      <Checkbox
        label="Public page"
        description="Everybody who has its address may read the campaign, without the data of a contact."
        checked={value.archived}
        onChange={({ currentTarget }) => change({ archived: currentTarget.checked })}
      />
      {value.archived && (
        <>
          <TextInput
            label="Last part of its address"
            placeholder="Made from the name"
            maxLength={100}
            value={typed}
            error={isFaulty ? "Use lower-case letters, digits and single hyphens." : undefined}
            onChange={({ currentTarget }) => {
              const next = currentTarget.value;
              setTyped(next);
              if (SLUG.test(next)) change({ archiveSlug: next });
            }}
          />
          {url !== null && (
            <p className="draft-url small">
              <span className="cut">{url}</span> <Copy value={url} label="Copy the address" />
            </p>
          )}
        </>
      )}
    </div>
  );
}
