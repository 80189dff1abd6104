/** The fields of a webhook, in the dialog that creates one and in its settings. */

import { Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import { matchText, patternsOf } from "./patterns.ts";

export type WebhookValues = {
  url: string;
  /** One pattern in each line. */
  events: string;
  description: string;
};

type FieldProps = object;

/** The most used names; a project has few more. */
const MAX_NAMES = 100;

export function WebhookFields(props: {
  field: (name: keyof WebhookValues) => FieldProps;
  values: WebhookValues;
  isReadOnly?: boolean;
  isFirstFocused?: boolean;
}) {
  const { field, values, isReadOnly = false, isFirstFocused = false } = props;
  const names = useEventNames();
  return (
    <>
      <TextInput
        label="Address"
        description="The URL of your server that gets a POST request for each event."
        placeholder="https://shop.example/hooks"
        type="url"
        inputMode="url"
        required
        withAsterisk={false}
        maxLength={2048}
        readOnly={isReadOnly}
        autoComplete="off"
        spellCheck={false}
        {...(isFirstFocused ? { "data-autofocus": true } : {})}
        {...field("url")}
      />
      <div>
        <Textarea
          label="Events"
          description="Names of events, one in each line. email.* means all names that begin with email."
          placeholder={"email.*\norder.paid"}
          autosize
          minRows={2}
          maxRows={8}
          required
          withAsterisk={false}
          readOnly={isReadOnly}
          spellCheck={false}
          {...field("events")}
        />
        {names !== undefined && (
          <p className="muted small webhook-matches" aria-live="polite">
            {matchText(patternsOf(values.events), names)}
          </p>
        )}
      </div>
      <TextInput
        label="Note"
        description="What the receiver does, for your colleagues."
        maxLength={1000}
        readOnly={isReadOnly}
        autoComplete="off"
        {...field("description")}
      />
    </>
  );
}

function useEventNames(): readonly string[] | undefined {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["event-names", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<string>>("/events/names", { query: { limit: MAX_NAMES }, signal }),
  });
  return data?.items;
}

export const webhookBody = ({ url, events, description }: WebhookValues) => ({
  url: url.trim(),
  events: patternsOf(events),
  description: description.trim() === "" ? null : description.trim(),
});
