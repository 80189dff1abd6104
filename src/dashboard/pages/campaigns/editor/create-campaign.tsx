/** Creates a campaign and opens it. */

import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import type { ProjectDetails } from "../../../../modules/projects.ts";
import { api } from "../../../api.ts";
import { showFailure } from "../../../ui/undo.tsx";
import { blankLetter } from "../../templates/editor/blank-letter.ts";

const today = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long" });

export function useCreateCampaign(project: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    async mutationFn() {
      const { sender } = await api.get<ProjectDetails>(`/projects/${project}`);
      const name = `Campaign of ${today.format(new Date())}`;
      const from = sender === null ? {} : { from: sender.address, fromName: sender.name };
      const letter = await blankLetter();
      try {
        return await api.post<Campaign>("/campaigns/drafts", { name, ...letter, ...from });
      } catch (error) {
        // The domain of the sender may not be verified any more.
        if (sender === null) throw error;
        return await api.post<Campaign>("/campaigns/drafts", { name, ...letter });
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

export function CreateCampaign(props: ReturnType<typeof useCreateCampaign>) {
  const { isBusy, create } = props;
  return (
    <Button leftSection={<Plus size={16} aria-hidden />} loading={isBusy} onClick={create}>
      Create a campaign
    </Button>
  );
}
