/** The further actions of a campaign: a copy, and deletion where the server allows it. */

import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ExternalLink, Globe, GlobeLock, MailQuestion, MousePointerClick } from "lucide-react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { api } from "../../../api.ts";
import { useDeletion } from "../../../ui/deletion.ts";
import { ObjectMenu } from "../../../ui/object-menu.tsx";
import { showDone, showFailure } from "../../../ui/undo.tsx";
import { campaignPath } from "./campaign-source.ts";
import { refreshCampaigns } from "./use-sending.ts";

const DELETABLE = new Set(["DRAFT", "CANCELLED"]);

export function CampaignMenu(props: {
  campaign: Campaign;
  project: string;
  /** Saves what the page has not saved yet. */
  beforeCopy?: () => Promise<unknown>;
}) {
  const { campaign, project, beforeCopy } = props;
  const { id, status, startedAt, imported } = campaign;
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useDeletion({
    path: campaignPath(id),
    queryKey: ["campaign", project, id],
    listKey: ["campaign-summaries"],
    leave: () => navigate({ to: "/p/$project/campaigns", params: { project } }),
  });

  /** Opens the draft that an action makes of this campaign. */
  async function open(action: "duplicate" | "follow-up", body?: object): Promise<void> {
    try {
      await beforeCopy?.();
      const copy = await api.post<Campaign>(`${campaignPath(id)}/${action}`, body);
      void client.invalidateQueries({ queryKey: ["campaign-summaries"] });
      const params = { project, campaign: copy.id };
      await navigate({ to: "/p/$project/campaigns/$campaign", params });
    } catch (error) {
      showFailure("The campaign was not created", error);
    }
  }

  return (
    <ObjectMenu
      noun="campaign"
      width={290}
      onDuplicate={() => open("duplicate")}
      deletion={
        DELETABLE.has(status) || imported !== null
          ? {
              text:
                imported !== null
                  ? "The record of the campaign is deleted. A repeated import brings it back."
                  : status === "DRAFT"
                    ? "The draft is deleted with all that was written."
                    : "The campaign and its report are deleted. The mails that were sent stay in the list of emails.",
              run: remove,
            }
          : null
      }
    >
      {startedAt !== null && (
        <>
          <Menu.Item
            leftSection={<MailQuestion size={15} aria-hidden />}
            onClick={() => void open("follow-up", { audience: "NOT_OPENED" })}
          >
            Send to those who did not open
          </Menu.Item>
          <Menu.Item
            leftSection={<MousePointerClick size={15} aria-hidden />}
            onClick={() => void open("follow-up", { audience: "NOT_CLICKED" })}
          >
            Send to those who did not click
          </Menu.Item>
          <PageItems campaign={campaign} />
        </>
      )}
    </ObjectMenu>
  );
}

/** The public page of a campaign that was sent. */
function PageItems({ campaign }: { campaign: Campaign }) {
  const { id, archived, archiveUrl } = campaign;
  const client = useQueryClient();
  async function show(isArchived: boolean): Promise<void> {
    try {
      await api.patch(campaignPath(id), { archived: isArchived });
      showDone(isArchived ? "The campaign has a public page now." : "The public page is gone.");
    } catch (error) {
      showFailure("The public page was not changed", error);
    } finally {
      await refreshCampaigns(client);
    }
  }
  return (
    <>
      {archiveUrl !== null && (
        <Menu.Item
          component="a"
          className="menu-link"
          href={archiveUrl}
          target="_blank"
          rel="noreferrer"
          leftSection={<ExternalLink size={15} aria-hidden />}
        >
          Open the public page
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={
          archived ? <GlobeLock size={15} aria-hidden /> : <Globe size={15} aria-hidden />
        }
        onClick={() => void show(!archived)}
      >
        {archived ? "Hide the public page" : "Show on a public page"}
      </Menu.Item>
      <Menu.Divider />
    </>
  );
}
