/** Says that a campaign is about to be sent, and undoes it. A closed page changes nothing. */

import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { api } from "../../../api.ts";
import { returnFocus } from "../../../keyboard-focus.ts";
import { exactServerNow } from "../../../server-clock.ts";
import { showDone, showFailure } from "../../../ui/undo.tsx";
import { campaignPath } from "./campaign-source.ts";
import { UNDO_SECONDS } from "./send-body.ts";
import { setUndone } from "./undone.ts";
import { refreshCampaigns } from "./use-sending.ts";

/** Later campaigns have the button "Back to draft" alone. */
const SOON_MS = (UNDO_SECONDS + 5) * 1000;
const TICK_MS = 250;
/**
 * The interval at which a campaign is read again after its time, until the server has started it.
 */
const LATE_MS = 1_500;

export function Countdown({ campaign }: { campaign: Campaign }) {
  const { scheduledAt } = campaign;
  const isSoon = scheduledAt !== null && Date.parse(scheduledAt) - exactServerNow() < SOON_MS;
  return isSoon ? <Counting campaign={campaign} atMs={Date.parse(scheduledAt)} /> : null;
}

function Counting({ campaign, atMs }: { campaign: Campaign; atMs: number }) {
  const { id, name } = campaign;
  const client = useQueryClient();
  const left = useSecondsUntil(atMs);
  const undo = useMutation({
    mutationFn: () => api.post(`${campaignPath(id)}/unschedule`),
    // A live message may show the draft before the answer is here.
    onMutate: () => setUndone(id),
    onSuccess: () => showDone(`${name} is a draft again. Nothing was sent.`),
    onError: (error) => {
      setUndone(null);
      showFailure("It could not be undone: sending has started.", error);
    },
    onSettled: () => refreshCampaigns(client),
  });
  const isOver = left === 0;
  // The button is gone when sending has started.
  useEffect(() => () => returnFocus(null), []);
  useEffect(() => {
    if (!isOver) return undefined;
    const timer = window.setInterval(() => void refreshCampaigns(client), LATE_MS);
    return () => window.clearInterval(timer);
  }, [isOver, client]);
  return (
    <section className="countdown" aria-label="Sending">
      <span role="status" className="page-read-title">
        {isOver ? "Sending starts." : `Sending starts in ${UNDO_SECONDS} seconds.`}
      </span>
      <span aria-hidden>{isOver ? "Sending starts…" : `Sending in ${left} s`}</span>
      <Button
        size="compact-md"
        autoFocus
        disabled={isOver}
        loading={undo.isPending}
        onClick={() => undo.mutate()}
      >
        Undo
      </Button>
    </section>
  );
}

function useSecondsUntil(atMs: number): number {
  const read = () => Math.max(0, Math.ceil((atMs - exactServerNow()) / 1000));
  const [left, setLeft] = useState(read);
  useEffect(() => {
    setLeft(read());
    const timer = window.setInterval(() => setLeft(read()), TICK_MS);
    return () => window.clearInterval(timer);
  }, [atMs]);
  return left;
}
