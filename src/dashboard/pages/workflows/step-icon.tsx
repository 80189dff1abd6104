import {
  CircleStop,
  Clock,
  GitBranch,
  Globe,
  type LucideIcon,
  Mail,
  Play,
  UserPen,
  CalendarClock,
  Hourglass,
  Split,
} from "lucide-react";
import type { Step } from "./step-texts.ts";

const ICONS: Readonly<Record<Step["type"], LucideIcon>> = {
  TRIGGER: Play,
  SEND_EMAIL: Mail,
  DELAY: Clock,
  WAIT_FOR_EVENT: Hourglass,
  CONDITION: GitBranch,
  TIME_WINDOW: CalendarClock,
  SPLIT: Split,
  WEBHOOK: Globe,
  UPDATE_CONTACT: UserPen,
  EXIT: CircleStop,
};

export function StepIcon({ type }: { type: Step["type"] }) {
  const Icon = ICONS[type];
  return (
    <span className="step-icon" data-type={type}>
      <Icon size={15} aria-hidden />
    </span>
  );
}
