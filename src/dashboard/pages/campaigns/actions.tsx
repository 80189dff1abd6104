/** The buttons that change the status of a campaign, for users who may use them. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Ban, CalendarX, Pause, Play } from "lucide-react";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { CampaignMenu } from "./editor/campaign-menu.tsx";
import { counted } from "./numbers.ts";
import { type Reason, reasonOf } from "./reason.ts";

const route = getRouteApi("/user/p/$project/campaigns/$campaign");

type Action = "pause" | "resume" | "cancel" | "unschedule";

const KEYS = ["campaign", "campaign-summaries", "campaigns"];
const ICON = { size: 15, "aria-hidden": true } as const;

type Planned = { scheduledFor: string } & Pick<Campaign, "timeZone" | "fallbackTimeZone">;

/** Runs an action and reads the changed data again. */
function useAction(id: string) {
  const client = useQueryClient();
  const path = `/campaigns/${encodeURIComponent(id)}`;
  async function refresh(): Promise<void> {
    await Promise.all(KEYS.map((key) => client.invalidateQueries({ queryKey: [key] })));
  }
  return {
    run: async (action: Action): Promise<void> => {
      await api.post(`${path}/${action}`);
      await refresh();
    },
    schedule: async (time: Planned): Promise<void> => {
      await api.post(`${path}/send`, time);
      await refresh();
    },
  };
}

export function CampaignActions(props: { campaign: Campaign; stats: CampaignStats | undefined }) {
  const { campaign, stats } = props;
  const { project } = route.useParams();
  const mayChange = useMay("EDITOR");
  const help = reasonOf(campaign)?.help;
  if (!mayChange) return help !== undefined && <HelpLink help={help} />;
  const { status } = campaign;
  const waiting = stats?.queued ?? 0;
  return (
    <>
      {help !== undefined && <HelpLink help={help} />}
      {status === "SENDING" && <PauseButton campaign={campaign} />}
      {status === "PAUSED" && (
        <ResumeButton campaign={campaign} waiting={waiting} isFirst={help === undefined} />
      )}
      {status === "SCHEDULED" && <UnscheduleButton campaign={campaign} />}
      {(status === "SENDING" || status === "PAUSED") && (
        <CancelButton campaign={campaign} waiting={waiting} />
      )}
      <CampaignMenu campaign={campaign} project={project} />
    </>
  );
}

/** An action with an inverse call runs at once and offers Undo. */
function useUndoable(
  act: () => Promise<void>,
  options: { text: string; undo: () => Promise<void> },
) {
  const undo = () =>
    void options.undo().catch((error: unknown) => showFailure("This could not be undone.", error));
  return useMutation({
    mutationFn: act,
    onSuccess: () => void showUndo({ text: options.text, onUndo: undo }),
    onError: (error) => showFailure("The campaign was not changed.", error),
  });
}

function PauseButton({ campaign }: { campaign: Campaign }) {
  const { run } = useAction(campaign.id);
  const pause = useUndoable(() => run("pause"), {
    text: `${campaign.name} is paused.`,
    undo: () => run("resume"),
  });
  return (
    <Button
      variant="default"
      leftSection={<Pause {...ICON} />}
      loading={pause.isPending}
      onClick={() => pause.mutate()}
    >
      Pause
    </Button>
  );
}

function UnscheduleButton({ campaign }: { campaign: Campaign }) {
  const { id, name, scheduledAt, timeZone, fallbackTimeZone } = campaign;
  const { run, schedule } = useAction(id);
  const unschedule = useUndoable(() => run("unschedule"), {
    text: `${name} is a draft again.`,
    undo: () =>
      scheduledAt === null
        ? Promise.resolve()
        : schedule({ scheduledFor: scheduledAt, timeZone, fallbackTimeZone }),
  });
  return (
    <Button
      variant="default"
      leftSection={<CalendarX {...ICON} />}
      loading={unschedule.isPending}
      onClick={() => unschedule.mutate()}
    >
      Back to draft
    </Button>
  );
}

/** Opens the page with the cause of a pause, which is mended before the campaign goes on. */
function HelpLink({ help }: { help: NonNullable<Reason["help"]> }) {
  const { project } = route.useParams();
  if (help === "DOMAINS") {
    return (
      <Button
        renderRoot={(rest) => <Link {...rest} to="/p/$project/domains" params={{ project }} />}
      >
        Show the domains
      </Button>
    );
  }
  const { show, label } = help;
  return (
    <Button
      renderRoot={(rest) => (
        <Link {...rest} to="." search={{ tab: "recipients", show }} activeProps={{}} />
      )}
    >
      {label}
    </Button>
  );
}

/** Resumes a campaign after a question, because this sends mail. */
function ResumeButton(props: { campaign: Campaign; waiting: number; isFirst: boolean }) {
  const { campaign, waiting, isFirst } = props;
  const [isAsking, question] = useDisclosure(false);
  const { run } = useAction(campaign.id);
  return (
    <>
      <Button
        variant={isFirst ? "filled" : "default"}
        leftSection={<Play {...ICON} />}
        onClick={question.open}
      >
        Resume
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        color="brand"
        title={`Resume ${campaign.name}?`}
        text={`${counted(waiting, "mail")} that ${waiting === 1 ? "waits is" : "wait are"} sent. Bounces and complaints are counted anew, so the campaign is paused again only if new ones exceed the limit.`}
        action={waiting === 0 ? "Resume" : `Send ${counted(waiting, "mail")}`}
        onConfirm={() => run("resume")}
      />
    </>
  );
}

function CancelButton({ campaign, waiting }: { campaign: Campaign; waiting: number }) {
  const [isAsking, question] = useDisclosure(false);
  const { run } = useAction(campaign.id);
  return (
    <>
      <Button variant="default" leftSection={<Ban {...ICON} />} onClick={question.open}>
        Cancel campaign
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title={`Cancel ${campaign.name}?`}
        text={`${counted(waiting, "mail")} that ${waiting === 1 ? "waits is" : "wait are"} never sent. Mails that a server has accepted cannot be called back, and a cancelled campaign cannot be resumed. To stop for a while, pause it.`}
        action="Cancel the campaign"
        refusal="Keep the campaign"
        onConfirm={() => run("cancel")}
      />
    </>
  );
}
