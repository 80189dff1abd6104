import {
  CalendarClock,
  CircleStop,
  Clock,
  GitBranch,
  Globe,
  type LucideIcon,
  Mail,
  Play,
  Split,
  UserPen,
  Hourglass,
} from "lucide-react";
import type { StepKind } from "./editor/draft.ts";

const ICONS: Readonly<Record<StepKind, LucideIcon>> = {
  TRIGGER: Play,
  SEND_EMAIL: Mail,
  DELAY: Clock,
  TIME_WINDOW: CalendarClock,
  WAIT_FOR_EVENT: Hourglass,
  CONDITION: GitBranch,
  SPLIT: Split,
  WEBHOOK: Globe,
  UPDATE_CONTACT: UserPen,
  EXIT: CircleStop,
};

export function StepIcon({ type }: { type: StepKind }) {
  const Icon = ICONS[type];
  return (
    <span className="step-icon" data-type={type}>
      <Icon size={15} aria-hidden />
    </span>
  );
}
