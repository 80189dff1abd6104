/** The failure rules of an inbox: what they do, how often they fired, and a form for a new one. */

import {
  ActionIcon,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import type { Rule } from "../../../modules/inboxes/rules/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { RefusedSessions } from "./refused-sessions.tsx";
import { inboxPath } from "./use-messages.ts";

export function RulesPanel(props: { isOpen: boolean; inbox: Inbox; onClose: () => void }) {
  const { isOpen, inbox, onClose } = props;
  return (
    <SideDrawer
      isOpen={isOpen}
      onClose={onClose}
      title={<h2>Failure rules</h2>}
      label={`Failure rules of the inbox ${inbox.name}`}
      size={620}
    >
      <p className="muted section-text">
        They make SMTP fail in a defined way, so that you can test how your program reacts. The
        first rule that matches acts.
      </p>
      <RuleList inbox={inbox} />
      <RefusedSessions inbox={inbox} />
      <section className="section">
        <h3>New rule</h3>
        <RuleForm inbox={inbox} />
      </section>
    </SideDrawer>
  );
}

function useRules(inbox: Inbox) {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  const queryKey = ["inbox-rules", project, inbox.id];
  const path = `${inboxPath(inbox.id)}/rules`;
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.get<Rule[]>(path, { signal }),
    staleTime: 0,
  });
  return {
    query,
    path,
    refresh: async () => {
      await Promise.all([
        client.invalidateQueries({ queryKey }),
        client.invalidateQueries({ queryKey: ["inboxes", project] }),
      ]);
    },
  };
}

function RuleList({ inbox }: { inbox: Inbox }) {
  const { query, path, refresh } = useRules(inbox);
  function remove({ id, stage, match, action, probability, remaining }: Rule): void {
    // A rule that is used up comes back so that it fires once more.
    const times = remaining === null ? {} : { times: Math.max(remaining, 1) };
    const input = { stage, match, action, ...times };
    const restore = async () => {
      await api.post(path, probability === undefined ? input : { ...input, probability });
      await refresh();
    };
    api
      .delete(`${path}/${id}`)
      .then(() => showUndo({ text: "Deleted the rule.", onUndo: () => void restore() }))
      .then(refresh)
      .catch((error: unknown) => showFailure("The rule was not deleted", error));
  }
  return (
    <Loaded query={query} height={80}>
      {(rules) => (
        <ul className="rules" aria-label="Rules">
          {rules.length === 0 && <li className="muted">There are no rules: SMTP works.</li>}
          {rules.map((rule) => (
            <li key={rule.id}>
              <span className="rule-text">
                <strong>{actionText(rule.action)}</strong>
                <span className="muted">
                  {STAGE_TEXTS[rule.stage]}
                  {matchText(rule.match)}
                  {rule.probability === undefined || rule.probability === 1
                    ? ""
                    : `, in ${Math.round(rule.probability * 100)} % of the cases`}
                </span>
              </span>
              <span className="rule-count figures">
                Fired {rule.fired} {rule.fired === 1 ? "time" : "times"}
                {rule.remaining !== null && (
                  <span className="muted">
                    {rule.remaining === 0 ? "used up" : `${rule.remaining} left`}
                  </span>
                )}
              </span>
              <ActionIcon
                aria-label={`Delete the rule: ${actionText(rule.action)}`}
                onClick={() => remove(rule)}
              >
                <Trash2 size={15} />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

const STAGE_TEXTS: Readonly<Record<Rule["stage"], string>> = {
  connect: "when a client connects",
  auth: "at AUTH",
  mail: "at MAIL FROM",
  rcpt: "at RCPT TO",
  data: "at DATA",
  dot: "after the message",
};

const MATCH_TEXTS: Readonly<Record<string, string>> = {
  from: "Sender",
  to: "Recipient",
  subject: "Subject",
  user: "SMTP user",
  ip: "Client address",
};

function actionText({ reply, delayMs }: Rule["action"]): string {
  if (reply !== undefined) return `Replies ${reply}`;
  return delayMs === undefined ? "Closes the connection" : `Waits ${delayMs / 1_000} s`;
}

function matchText(match: Rule["match"]): string {
  const terms = Object.entries(match).map(
    ([name, value]) => `${(MATCH_TEXTS[name] ?? name).toLowerCase()} ${value}`,
  );
  return terms.length === 0 ? "" : `, if ${terms.join(" and ")}`;
}

const STAGES = [
  { value: "rcpt", label: "RCPT TO: a recipient is named" },
  { value: "mail", label: "MAIL FROM: the sender is named" },
  { value: "data", label: "DATA: the message begins" },
  { value: "dot", label: "After the message" },
  { value: "auth", label: "AUTH: a user signs in" },
  { value: "connect", label: "A client connects" },
];
const REPLIES = [
  "451 4.7.1 Try again later",
  "452 4.2.2 Mailbox full",
  "421 4.3.2 Service not available",
  "550 5.1.1 No such user",
  "552 5.3.4 Message too large",
  "554 5.7.1 Message refused",
];

type RuleFields = {
  stage: string;
  field: string;
  match: string;
  kind: string;
  action: string;
  seconds: number | string;
  times: number | string;
};

function RuleForm({ inbox }: { inbox: Inbox }) {
  const { path, refresh } = useRules(inbox);
  const form = useApiForm<RuleFields, Rule>({
    initial: {
      stage: "rcpt",
      field: "to",
      match: "",
      kind: "reply",
      action: REPLIES[0] ?? "",
      seconds: 5,
      times: "",
    },
    submit: (fields, idempotencyKey) => api.post<Rule>(path, inputOf(fields), { idempotencyKey }),
    onDone: async () => {
      form.form.setFieldValue("match", "");
      await refresh();
    },
  });
  const { kind } = form.values;
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <Select label="Stage" data={STAGES} allowDeselect={false} {...form.field("stage")} />
        <Group gap="xs" align="flex-start" grow preventGrowOverflow={false}>
          <Select
            label="Only if"
            data={Object.entries(MATCH_TEXTS).map(([value, label]) => ({ value, label }))}
            allowDeselect={false}
            {...form.field("field")}
          />
          <TextInput
            label="is"
            placeholder="*@slow.example"
            description="* stands for any characters; empty for all"
            inputWrapperOrder={["label", "input", "description", "error"]}
            autoComplete="off"
            {...form.field("match")}
          />
        </Group>
        <SegmentedControl
          aria-label="What the rule does"
          size="sm"
          data={[
            { value: "reply", label: "Reply" },
            { value: "delay", label: "Wait" },
            { value: "disconnect", label: "Disconnect" },
          ]}
          {...form.field("kind")}
        />
        {kind === "reply" && (
          <>
            <TextInput label="Reply" autoComplete="off" {...form.field("action")} />
            <div className="reply-presets">
              {REPLIES.map((reply) => (
                <button
                  key={reply}
                  type="button"
                  onClick={() => form.form.setFieldValue("action", reply)}
                >
                  {reply}
                </button>
              ))}
            </div>
          </>
        )}
        {kind === "delay" && (
          <NumberInput
            label="Seconds"
            min={0.1}
            max={120}
            {...form.field("seconds")}
            error={form.form.errors["action"]}
          />
        )}
        <NumberInput
          label="How often"
          description="Empty for always"
          placeholder="Always"
          min={1}
          max={1_000_000}
          {...form.field("times")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={form.isBusy}>
            Create the rule
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function inputOf({ stage, field, match, kind, action, seconds, times }: RuleFields): object {
  const value = match.trim();
  return {
    stage,
    ...(value === "" ? {} : { match: { [field]: value } }),
    action:
      kind === "reply"
        ? { reply: action.trim() }
        : kind === "delay"
          ? { delayMs: Math.round(Number(seconds) * 1_000) }
          : { disconnect: true },
    ...(times === "" ? {} : { times: Number(times) }),
  };
}
