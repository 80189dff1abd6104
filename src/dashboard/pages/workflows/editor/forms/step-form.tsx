/** The form for the settings of a step, by its kind. */

import type { ReactNode } from "react";
import type { StepKind } from "../draft.ts";
import { ConditionForm } from "./condition-form.tsx";
import { ExitForm } from "./exit-form.tsx";
import type { FormProps } from "./form-props.ts";
import { SendForm } from "./send-form.tsx";
import { SplitForm } from "./split-form.tsx";
import { TriggerForm } from "./trigger-form.tsx";
import { UpdateForm } from "./update-form.tsx";
import { DelayForm, TimeWindowForm, WaitForEventForm } from "./wait-forms.tsx";
import { WebhookForm } from "./webhook-form.tsx";

export const STEP_FORMS: Readonly<Record<StepKind, (props: FormProps) => ReactNode>> = {
  TRIGGER: TriggerForm,
  SEND_EMAIL: SendForm,
  DELAY: DelayForm,
  TIME_WINDOW: TimeWindowForm,
  WAIT_FOR_EVENT: WaitForEventForm,
  CONDITION: ConditionForm,
  SPLIT: SplitForm,
  WEBHOOK: WebhookForm,
  UPDATE_CONTACT: UpdateForm,
  EXIT: ExitForm,
};
