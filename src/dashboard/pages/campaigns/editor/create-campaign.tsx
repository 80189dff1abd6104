/** Creates a campaign and opens it. */

import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import type { ProjectDetails } from "../../../../modules/project-model.ts";
import { api } from "../../../api.ts";
import { showFailure } from "../../../ui/undo.tsx";
import { blankLetter } from "../../templates/editor/blank-letter.ts";

const LONGEST_NAME = 255;
const today = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long" });

/** `to` is the segment that gets the campaign; a draft has no audience without it. */
export function useCreateCampaign(project: string, to?: { id: string; name: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    async mutationFn() {
      const { sender } = await api.get<ProjectDetails>(`/projects/${project}`);
      const from = sender === null ? {} : { from: sender.address, fromName: sender.name };
      const audience =
        to === undefined
          ? { name: `Campaign of ${today.format(new Date())}` }
          : { name: nameFor(to.name), audienceType: "SEGMENT", segmentId: to.id };
      const draft = { ...audience, ...(await blankLetter()) };
      try {
        return await api.post<Campaign>("/campaigns/drafts", { ...draft, ...from });
      } catch (error) {
        // The domain of the sender may not be verified any more.
        if (sender === null) throw error;
        return await api.post<Campaign>("/campaigns/drafts", draft);
      }
    },
    async onSuccess({ id }) {
      void client.invalidateQueries({ queryKey: ["campaign-summaries"] });
      await navigate({ to: "/p/$project/campaigns/$campaign", params: { project, campaign: id } });
    },
    onError: (error) => showFailure("The campaign was not created", error),
  });
  return {
    isBusy: create.isPending,
    create: () => {
      if (!create.isPending) create.mutate();
    },
  };
}

const nameFor = (segment: string): string =>
  `Campaign to ${segment}`.slice(0, LONGEST_NAME).toWellFormed();

export function CreateCampaign(props: ReturnType<typeof useCreateCampaign>) {
  const { isBusy, create } = props;
  return (
    <Button leftSection={<Plus size={16} aria-hidden />} loading={isBusy} onClick={create}>
      Create a campaign
    </Button>
  );
}
