/** The section for the sender of the campaign and the address for replies. */

import { Autocomplete, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ApiError } from "../../../api.ts";
import type { CampaignEditing } from "./campaign-source.ts";
import { Section } from "./section.tsx";
import type { SectionState } from "./sections.ts";
import { isAddress } from "./senders.ts";
import type { Senders } from "./use-senders.ts";

export function SenderSection(props: {
  project: string;
  editor: CampaignEditing;
  senders: Senders;
  state: SectionState;
}) {
  const { project, editor, senders, state } = props;
  const { value, change, error } = editor;
  const faults = error instanceof ApiError ? error.errors : [];
  const faultOf = (name: string) => {
    const message = faults.find(({ field }) => field === name)?.message;
    return message === undefined ? undefined : `This ${message}.`;
  };
  const text = (name: "fromName" | "replyTo") => ({
    value: value[name] ?? "",
    error: faultOf(name),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      change({ [name]: currentTarget.value === "" ? null : currentTarget.value }),
  });
  const own = senders.project;
  const takeProjectSender =
    own === null ? null : () => change({ from: own.address, fromName: own.name ?? null });
  return (
    <Section section="sender" state={state}>
      <div className="draft-fields">
        <FromField
          project={project}
          senders={senders}
          value={value.from}
          onChange={(from) => change({ from })}
          onProjectSender={takeProjectSender}
        />
        <TextInput
          label="Name"
          description="Shown in place of the address."
          maxLength={255}
          {...text("fromName")}
        />
        <ReplyField value={value.replyTo} onChange={(replyTo) => change({ replyTo })} />
      </div>
    </Section>
  );
}

/** An address is saved when it is whole and its domain may send. */
function FromField(props: {
  project: string;
  senders: Senders;
  value: string;
  onChange: (from: string) => void;
  onProjectSender: (() => void) | null;
}) {
  const { project, senders, value, onChange, onProjectSender } = props;
  const [typed, setTyped] = useState(value);
  const [isLeft, setIsLeft] = useState(true);
  // A template, or another person, has brought another one.
  useEffect(() => setTyped(value), [value]);
  const unverified = senders.unverifiedIn(typed);
  const isComplete = typed === "" || isAddress(typed);
  const address = senders.project?.address;

  function take(next: string): void {
    setTyped(next);
    const trimmed = next.trim();
    if (trimmed === address && onProjectSender !== null && value === "") onProjectSender();
    else if (trimmed === "" || (isAddress(trimmed) && senders.unverifiedIn(trimmed) === null)) {
      onChange(trimmed);
    }
  }

  return (
    <Autocomplete
      label="From"
      description={
        senders.isVerificationNeeded
          ? "At one of your verified domains."
          : "The address of the sender."
      }
      type="email"
      spellCheck={false}
      placeholder="news@example.com"
      data={senders.suggestionsFor(typed)}
      filter={({ options }) => options}
      value={typed}
      onChange={take}
      onFocus={() => setIsLeft(false)}
      onBlur={() => setIsLeft(true)}
      error={
        !isLeft ? undefined : !isComplete ? (
          "This is no complete address, so it is not saved."
        ) : unverified === null ? undefined : (
          <>
            {unverified} is not verified, so the address is not saved.{" "}
            <Link to="/p/$project/domains" params={{ project }}>
              Show the domains
            </Link>
          </>
        )
      }
    />
  );
}

/** An address is saved when it is whole. */
function ReplyField(props: { value: string | null; onChange: (replyTo: string | null) => void }) {
  const { value, onChange } = props;
  const [typed, setTyped] = useState(value ?? "");
  const [isLeft, setIsLeft] = useState(true);
  useEffect(() => setTyped(value ?? ""), [value]);
  const isFaulty = typed !== "" && !isAddress(typed);
  return (
    <TextInput
      label="Replies go to"
      description="If it is not the sender."
      type="email"
      spellCheck={false}
      value={typed}
      error={isLeft && isFaulty ? "This is no complete address, so it is not saved." : undefined}
      onFocus={() => setIsLeft(false)}
      onBlur={() => setIsLeft(true)}
      onChange={({ currentTarget }) => {
        const next = currentTarget.value;
        setTyped(next);
        if (next.trim() === "" || isAddress(next))
          onChange(next.trim() === "" ? null : next.trim());
      }}
    />
  );
}
