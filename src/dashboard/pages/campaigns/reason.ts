/** Says why a campaign is in its status, and what the reader can do. */

import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";

type Facts = Pick<CampaignSummary, "status" | "statusReason">;

export type Reason = {
  title: string;
  text: string;
  /** A page that helps: the recipients with this value of `show`, or the domains. */
  help?: { show: string; label: string } | "DOMAINS";
};

const DOMAIN_LOST = "The sender's domain is not verified any more.";

/** The explanation of a status; null if it needs none. */
export function reasonOf({ status, statusReason }: Facts): Reason | null {
  if (status === "PAUSED") return pauseReason(statusReason);
  if (status === "CANCELLED") {
    return {
      title: "This campaign was cancelled",
      text: `${statusReason === null ? "Somebody cancelled it." : sentence(statusReason)} The mails that waited were not sent. It cannot be resumed.`,
    };
  }
  if (status === "SENT" && statusReason !== null) {
    return {
      title: "Nothing was sent",
      text: `${sentence(statusReason)} Only subscribed contacts get campaigns: check the audience before you send a copy.`,
    };
  }
  return null;
}

function pauseReason(reason: string | null): Reason {
  if (reason === null) {
    return {
      title: "Somebody paused this campaign",
      text: "The mails that are left wait until you resume it.",
    };
  }
  if (reason === DOMAIN_LOST) {
    return {
      title: "Paused: the domain of the sender is not verified",
      text: "A required DNS record is gone, so receivers would not trust this mail. Publish the record again: the campaign continues by itself as soon as the domain is verified. Pause it to keep it waiting.",
      help: "DOMAINS",
    };
  }
  if (/ bounced, more than /.test(reason)) {
    return {
      title: `Paused: ${reason}`,
      text: "Many bounces make mailbox providers distrust your domain, so that later mail lands in spam. Look at the reasons of the bounces, and remove addresses that do not exist from the audience. Then resume: the rate is counted anew, and bounced addresses get no mail again.",
      help: { show: "bounced", label: "Show the bounces" },
    };
  }
  if (/^the first \d+ mails all failed alike/.test(reason)) {
    return {
      title: "Paused: the first mails all failed alike",
      text: `${sentence(reason)} The rest of the audience would fail in the same way. Mend the cause, which is in the message, the sender or the account, then resume.`,
      help: { show: "bounced", label: "Show the bounces" },
    };
  }
  if (/ complained, more than /.test(reason)) {
    return {
      title: `Paused: ${reason}`,
      text: "Recipients reported this mail as spam, which harms your domain more than bounces do. Check that everybody in the audience asked for it, and that the link to unsubscribe is easy to find. Those who complained get no mail again.",
      help: { show: "complained", label: "Show the complaints" },
    };
  }
  return {
    title: "This campaign was paused by the server",
    text: `${sentence(reason)} Solve that first, then resume.`,
  };
}

/** The text with a capital letter and a full stop. */
function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
