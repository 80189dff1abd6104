/** Describes the rows of the audit log in sentences. */

import type { AuditRecord } from "../../../modules/accounts/audit-model.ts";

/** Actions whose words do not follow from their name. */
const PHRASES: Readonly<Record<string, string>> = {
  runImport: "Imported contacts",
  setSetting: "Changed a setting of the server",
  resetSetting: "Reset a setting of the server",
  followUpCampaign: "Made a follow-up of a campaign",
  inviteMember: "Invited a person",
  updateMember: "Changed the role of a member",
  processReport: "Read a bounce report",
  rotateWebhookSecret: "Replaced the secret of a webhook",
  retryWebhookDelivery: "Sent a webhook delivery again",
  subscribe: "Subscribed a contact",
  unsubscribe: "Unsubscribed a contact",
  restoreTemplateVersion: "Restored a version of a template",
  testCampaign: "Sent a test of a campaign",
  testTemplate: "Sent a test of a template",
  testReportSource: "Tested the URL of a source of reports",
  testReportMailbox: "Tested the login of a mailbox",
  tryRelay: "Tried a relay",
  testRelay: "Tried the relay of a project",
  checkTrackingHost: "Checked a tracking host",
  testWebhook: "Sent a test to a webhook",
  suppressList: "Suppressed a list of addresses",
  unsuppressAddress: "Removed an address from the suppressions",
  upsertContact: "Added or changed a contact",
  setContactTopics: "Chose the topics of a contact",
  eraseContact: "Erased a contact",
  eraseAddress: "Erased the data of an address",
  confirmPreferenceRequest: "Confirmed a request of a recipient",
  submitForm: "Signed up with a form",
  confirmSubscription: "Confirmed a subscription",
  chooseAbWinner: "Chose the winner of an A/B test",
  cancelAllExecutions: "Cancelled all executions of a workflow",
  "session.create": "Signed in",
  "session.delete": "Ended a session",
  "member.create": "Accepted an invitation",
  "user.link": "Made a sign-in link for a user",
  "user.sign-out": "Ended all sessions of a user",
  "user.reset-second-factor": "Reset the second factor of a user",
  "totp.enable": "Turned an authenticator app on",
  "totp.disable": "Turned an authenticator app off",
  "recovery-codes.create": "Made new recovery codes",
  "recovery-code.use": "Used a recovery code",
  testAlerts: "Sent a test of the alerts",
  startBackup: "Started a backup",
  releaseQueue: "Released the queue",
  "user.password": "Set a new password",
  unscheduleCampaign: "Made a scheduled campaign a draft",
  retryFailedWebhookDeliveries: "Retried failed deliveries of a webhook",
};

const VERBS: Readonly<Record<string, string>> = {
  add: "Added",
  cancel: "Cancelled",
  change: "Changed",
  create: "Created",
  delete: "Deleted",
  disable: "Disabled",
  duplicate: "Duplicated",
  enable: "Enabled",
  import: "Imported",
  pause: "Paused",
  release: "Released",
  remove: "Removed",
  resume: "Resumed",
  revoke: "Revoked",
  send: "Sent",
  start: "Started",
  suppress: "Suppressed",
  update: "Changed",
  upload: "Uploaded",
  withdraw: "Withdrew",
};

/** `inboxe` is in rows of earlier versions. */
const NOUNS: Readonly<Record<string, string>> = {
  key: "API key",
  inboxe: "inbox",
  "inbound-route": "inbound route",
  "report-mailbox": "mailbox of reports",
  "report mailbox": "mailbox of reports",
  "report-source": "source of reports",
  "report source": "source of reports",
  view: "saved view",
};

/** `updateContact` and `contact.update` as "Changed a contact"; null for an unknown verb. */
export function actionWords(action: string): string | null {
  const phrase = PHRASES[action];
  if (phrase !== undefined) return phrase;
  const [noun = "", command] = action.split(".");
  const words = (command === undefined ? noun : `${command} ${noun}`)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .split(" ");
  const verb = VERBS[words[0] ?? ""];
  if (verb === undefined) return null;
  const object = words.slice(1).join(" ");
  return `${verb} ${withArticle(NOUNS[object] ?? object)}`;
}

function withArticle(words: string): string {
  if (words.endsWith("s")) return words;
  // A "user" does not begin with the sound of a vowel.
  return /^[aeio]/i.test(words) ? `an ${words}` : `a ${words}`;
}

/** The noun of the object that was changed. Members and invitations are both below `/team`. */
export function objectWords({ action, objectType }: AuditRecord): string {
  if (objectType !== "team") return NOUNS[objectType] ?? objectType;
  return action.endsWith("Invitation") || action === "inviteMember" ? "invitation" : "member";
}

/** `name: News → Spring news` for each changed field; `password changed` for one whose values are not kept. */
export function changeTexts({ changes, fields }: AuditRecord): string[] {
  const known = new Set(changes.map(({ field }) => field));
  return [
    ...changes.map(
      ({ field, before, after }) =>
        `${fieldWords(field)}: ${changedValueText(before)} → ${changedValueText(after)}`,
    ),
    ...fields.filter((field) => !known.has(field)).map((field) => `${fieldWords(field)} changed`),
  ];
}

/** Fields whose name in the interface is not their name on the pages. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  from: "sender",
  fromName: "name of the sender",
  replyTo: "reply address",
  isEnabled: "enabled",
  isDisabled: "disabled",
  isOwner: "owner",
  isShared: "shared",
  ipRanges: "IP ranges",
  utm: "UTM parameters",
};

/** `trackMembership` as "track membership". */
export const fieldWords = (field: string): string =>
  FIELD_WORDS[field] ?? field.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A sentence about a change without its subject: the verb, the name of the object, and the values. */
export type AuditSentence = { did: string; values: string };

/**
 * "changed sender of template" and "a → b", around the name of the object; with several fields
 * "changed template" and "sender: a → b, name: c → d".
 */
export function auditSentence(record: AuditRecord): AuditSentence {
  const did = didWords(record);
  const texts = changeTexts(record);
  const [only] = texts;
  const field = record.changes[0]?.field ?? record.fields[0];
  const [change] = record.changes;
  const isPlain = did === `changed ${objectWords(record)}`;
  // "changed enabled of webhook" is no sentence.
  const isFlag = /^(?:true|false)$/.test(change?.after ?? "");
  const isSingle = texts.length === 1 && field !== undefined && isPlain && !isFlag;
  if (!isSingle) return { did, values: saysAll(did) ? "" : texts.join(", ") };
  return {
    did: did.replace("changed ", `changed ${fieldWords(field)} of `),
    values: change === undefined ? "" : (only ?? "").slice(fieldWords(field).length + 2),
  };
}

/** Entries that an object was made, removed, enabled or disabled need no list of fields. */
const saysAll = (did: string): boolean => !/^(?:added or )?changed /.test(did);

/** "changed template" before the name of the object, "changed a template" without one. */
function didWords(record: AuditRecord): string {
  const { action, objectName } = record;
  const words = actionWords(action);
  if (words === null) return action;
  const did = words.charAt(0).toLowerCase() + words.slice(1);
  const noun = objectWords(record);
  const end = ` ${withArticle(noun)}`;
  if (objectName === null || objectName === "") return did;
  return did.endsWith(end) ? `${did.slice(0, -end.length)} ${noun}` : `${did}:`;
}

/** A value of a field, also one that is none or has no visible text. */
export function changedValueText(value: string | null): string {
  if (value === null) return "none";
  return value.trim() === "" ? "empty" : value;
}

const WITHOUT_LABEL = { CLI: "Command line", SYSTEM: "Mailstead" } as const;

export function actorWords({ kind, label, name }: AuditRecord["actor"]): string {
  if (kind === "CLI" || kind === "SYSTEM") return WITHOUT_LABEL[kind];
  return kind === "KEY" ? `Key ${label}` : (name ?? label);
}

/** The types of objects that the search field suggests. */
export const SUGGESTED_TYPES = [
  "campaign",
  "contact",
  "domain",
  "inbound-route",
  "key",
  "layout",
  "passkey",
  "project",
  "report-mailbox",
  "segment",
  "session",
  "team",
  "template",
  "user",
  "view",
  "webhook",
  "workflow",
] as const;

export const typeWords = (type: string): string => NOUNS[type] ?? type;

/** The actions that the search field suggests. */
export const SUGGESTED_ACTIONS = [
  "createKey",
  "revokeKey",
  "inviteMember",
  "withdrawInvitation",
  "updateMember",
  "removeMember",
  "updateProject",
  "createSavedView",
  "updateSavedView",
  "deleteSavedView",
  "addDomain",
  "removeDomain",
  "createWebhook",
  "updateWebhook",
  "deleteWebhook",
  "createTemplate",
  "updateTemplate",
  "deleteTemplate",
  "createCampaign",
  "updateCampaign",
  "sendCampaign",
  "cancelCampaign",
  "createWorkflow",
  "updateWorkflow",
  "deleteWorkflow",
  "createSegment",
  "updateSegment",
  "deleteSegment",
  "upsertContact",
  "updateContact",
  "deleteContact",
  "importContacts",
  "importSuppressions",
  "suppressAddress",
  "suppressList",
  "unsuppressAddress",
  "deleteReceivedMail",
] as const;
