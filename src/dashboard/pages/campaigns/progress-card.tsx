/** Shows how far the sending is, and the time that is left at the speed of the latest minute. */

import { Progress } from "@mantine/core";
import { useEffect, useState } from "react";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { countText } from "../overview/figures.ts";
import { durationText, secondsLeft, settledOf, percentText, withSample } from "./numbers.ts";

export function ProgressCard(props: {
  stats: CampaignStats;
  isPaused: boolean;
  /** Only the mails of an A/B test are written so far. */
  isTest?: boolean;
}) {
  const { stats, isPaused, isTest = false } = props;
  const { totalRecipients, queued } = stats;
  const done = settledOf(stats);
  const left = useTimeLeft(done, queued, isPaused);
  const share = totalRecipients === 0 ? 0 : (done / totalRecipients) * 100;
  return (
    <section className="card" aria-label="Progress">
      <div className="campaign-progress-line">
        <strong className="figures">{percentText(done, totalRecipients)}</strong>
        <span className="muted figures">
          {countText(done)} of {countText(totalRecipients)} mails {isTest && "of the test "}are done
          {left !== null && `, ${left} left`}
        </span>
      </div>
      <Progress
        size="md"
        value={share}
        color={isPaused ? "color-mix(in srgb, var(--held) 70%, var(--surface))" : "brand"}
        aria-label="Mails that are done"
      />
    </section>
  );
}

/** The remaining time in words; null while it is not known. */
function useTimeLeft(done: number, waiting: number, isPaused: boolean): string | null {
  const [samples, setSamples] = useState<ReturnType<typeof withSample>>([]);
  useEffect(() => {
    setSamples((before) => (isPaused ? [] : withSample(before, { atMs: Date.now(), done })));
  }, [done, isPaused]);
  if (isPaused || waiting === 0) return null;
  const seconds = secondsLeft(samples, waiting);
  return seconds === null ? null : durationText(seconds);
}
