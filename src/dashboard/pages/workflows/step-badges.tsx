import { Check, type LucideIcon, SkipForward, UserRound, X } from "lucide-react";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";

type StepCounts = WorkflowCounts["steps"][number];

const compact = new Intl.NumberFormat(undefined, { notation: "compact" });
const number = new Intl.NumberFormat();

/** The number of executions that are at a step, completed it or failed at it. */
export function StepBadges({ counts }: { counts: StepCounts | undefined }) {
  if (counts === undefined) return null;
  const { active, completed, skipped, failed } = counts;
  const all: { tone: string; count: number; word: string; icon: LucideIcon }[] = [
    { tone: "waiting", count: active, word: "here now", icon: UserRound },
    { tone: "good", count: completed, word: "completed", icon: Check },
    { tone: "held", count: skipped, word: "skipped", icon: SkipForward },
    { tone: "failed", count: failed, word: "failed", icon: X },
  ];
  const badges = all.filter(({ count }) => count > 0);
  return (
    <span className="step-badges">
      {badges.map(({ tone, count, word, icon: Icon }) => (
        <span
          key={word}
          className="step-badge figures"
          data-tone={tone}
          title={`${number.format(count)} ${word}`}
        >
          <Icon size={11} aria-hidden />
          <span aria-hidden>{compact.format(count)}</span>
          <span className="visually-hidden">
            {number.format(count)} {word}
          </span>
        </span>
      ))}
    </span>
  );
}
